#pragma once
// Loops that run on the caller's threads when there are any.

#include <cstddef>
#include <cstdint>
#include <stop_token>

#include "base/run_control.hpp"
#include "base/task_pool.hpp"

namespace diarist::cluster {

/// Calls body(item) for every item in [0, count), in any order when there is a pool.
template <typename Body>
void parallel_for(base::TaskPool* pool, std::size_t count, const Body& body) {
  if (pool == nullptr || pool->threads() == 1 || count < 2) {
    for (std::size_t item = 0; item < count; ++item) body(item);
    return;
  }
  pool->parallel_for(static_cast<std::int64_t>(count),
                     [&body](std::int64_t item, int) { body(static_cast<std::size_t>(item)); });
}

/// The same, looking at `stop` before every item. \throws Error kCancelled.
template <typename Body>
void parallel_for(base::TaskPool* pool, std::size_t count, const std::stop_token& stop,
                  const Body& body) {
  parallel_for(pool, count, [&](std::size_t item) {
    base::check_stop(stop);
    body(item);
  });
}

}  // namespace diarist::cluster
