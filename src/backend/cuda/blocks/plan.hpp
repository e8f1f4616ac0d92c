#pragma once
// Which nodes of a graph run, and where its values lie meanwhile.

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/cuda/blocks/step.hpp"

namespace diarist::backend::cuda::blocks {

enum class Home {
  kNone,       // nobody needs it
  kShared,     // one array for all items, in the caller's buffer
  kInput,      // in the caller's input buffer, used where it is
  kOutput,     // in the caller's output buffer, made there
  kWorkspace,  // in the program's memory, a place for every item that runs at the same time
};

/// A value of the graph, or an array that a step needs for itself.
struct ArrayPlan {
  Home home = Home::kNone;
  int view = -1;            // kShared, kInput, kOutput: position in the graph's list
  std::size_t offset = 0;   // kWorkspace: bytes
  std::int64_t stride = 0;  // kWorkspace: elements of the longest item
};

struct NodePlan {
  int node = 0;  // of the graph
  std::unique_ptr<Step> step;
  std::vector<Hidden> hidden;
  std::size_t first_hidden = 0;  // its arrays: this one and the following
};

/// An output that is also an input, or stands in the list twice.
struct OutputCopy {
  bool from_input = false;
  std::size_t from = 0, to = 0;  // positions in the graph's lists
};

struct Plan {
  std::vector<NodePlan> nodes;    // those that an output needs, in order
  std::vector<ArrayPlan> arrays;  // by value, then those of the steps
  std::vector<OutputCopy> copies;
  int items = 1;          // of the longest kind that run at the same time
  std::size_t bytes = 0;  // of the workspace
};

/// Of a launch, so that items fit the grid's smaller axes.
inline constexpr int kMostItems = 32768;

/// Time axis of a value of a fixed shape: the last of a map, else the first.
std::int64_t fixed_time(const model::Value& value);
/// True for a value whose time axis every item brings along.
bool is_ragged(const model::Value& value);
std::int64_t element_bytes(model::ElementType type);
/// Elements of a value when its ragged axis is `time` long.
std::int64_t elements(const model::Value& value, std::int64_t time);

/// Makes the steps too. \param longest of all values, as ragged_lengths() gives it.
/// \param budget bytes of workspace to stay below, by running fewer items at the same time.
Plan make_plan(const model::Graph& graph, const std::vector<std::int64_t>& longest, int max_items,
               std::size_t budget, const DeviceTraits& device);

}  // namespace diarist::backend::cuda::blocks
