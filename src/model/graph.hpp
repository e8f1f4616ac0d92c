#pragma once
// A model is a list of blocks in the order they run. Graphs hold their weights (shared, immutable).

#include <cstdint>
#include <string>
#include <vector>

#include "model/blocks.hpp"

namespace diarist::model {

using ValueId = int;

enum class ElementType { kF32, kU8, kI32 };

/// Something that flows between blocks. Shape per batch item; -1: the item's own length.
struct Value {
  std::string name;  // unique in the graph, e.g. "layer3.2" or "lstm0"
  ElementType type = ElementType::kF32;
  base::Shape shape;
  bool shared = false;  // one array for all items of a batch (the tape a gather reads from)
};

struct Node {
  std::string name;  // of the weights, e.g. "resnet.layer1.0.conv1"
  Block block;
  std::vector<ValueId> inputs;
  ValueId output = -1;
};

/// Built by the functions in networks.hpp; checked there, so a backend may trust shapes.
struct Graph {
  std::string name;  // "segmentation", "resnet34", ...
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;

  /// Id of a value by name. \throws Error kInternal.
  ValueId value(const std::string& value_name) const;

  /// A copy whose outputs are the named values: how tests tap intermediate results.
  Graph with_outputs(const std::vector<std::string>& names) const;
};

/// Length of the ragged axis of every value, given the length of the ragged input.
/// Fixed values get 0. Uses each block's own arithmetic (strides, pools, frames).
std::vector<std::int64_t> ragged_lengths(const Graph& graph, std::int64_t input_length);

}  // namespace diarist::model
