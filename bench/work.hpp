#pragma once
// Pieces of work with fixed sizes and numbers, whose instructions the speed gate counts.

#include <functional>
#include <string>
#include <vector>

namespace diarist::bench {

struct Work {
  std::string name;
  /// Makes weights, inputs and buffers, and returns what is counted: it can be called any number of
  /// times and does the same each time, on the calling thread alone.
  /// \param target instruction set of the kernels.
  std::function<std::function<void()>(const std::string& target)> prepare;
};

/// Blocks and front ends of the networks, as the CPU backend runs them.
std::vector<Work> block_work();

/// Everything else on the way from a file to the turns.
std::vector<Work> host_work();

}  // namespace diarist::bench
