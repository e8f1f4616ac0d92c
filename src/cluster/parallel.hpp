#pragma once
// Loops that run on the caller's threads when there are any.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

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

/// Calls body(first, last) for parts of 0 .. count-1, one after the other, with a look at `stop`
/// before each. \throws Error kCancelled.
template <typename Body>
void in_parts(std::size_t count, const std::stop_token& stop, const Body& body) {
  constexpr std::size_t kPart = 4096;
  for (std::size_t first = 0; first < count; first += kPart) {
    base::check_stop(stop);
    body(first, std::min(count, first + kPart));
  }
}

/// values.resize(count), with looks at `stop`: first use of hundreds of megabytes takes a while.
/// \throws Error kCancelled.
template <typename T>
void resize_in_parts(std::vector<T>& values, std::size_t count, const std::stop_token& stop) {
  constexpr std::size_t kPart = std::size_t{1} << 20;
  values.reserve(count);
  while (values.size() < count) {
    base::check_stop(stop);
    values.resize(std::min(count, values.size() + kPart));
  }
  values.resize(count);
}

}  // namespace diarist::cluster
