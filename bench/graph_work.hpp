#pragma once
// A graph on the CPU backend with one thread and buffers of its own.

#include <cstdint>
#include <functional>
#include <string>

#include "model/graph.hpp"

namespace diarist::bench {

/// A call that runs the graph once over `items` items of random numbers.
/// \param length of the ragged axis, where there is one.
std::function<void()> graph_run(const std::string& target, const model::Graph& graph, int items,
                                std::int64_t length);

}  // namespace diarist::bench
