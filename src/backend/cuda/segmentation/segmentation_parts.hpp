#pragma once
// The segmentation network as its parts, found in a graph by blocks and shapes.

#include <optional>
#include <vector>

#include "model/graph.hpp"

namespace diarist::backend::cuda {

/// Values of the network by id, -1 where the graph has none.
struct SegmentationValues {
  int sinc[3] = {-1, -1, -1};
  std::vector<int> states;  // output of every LSTM layer
  int hidden[2] = {-1, -1};
  int logits = -1, log_probabilities = -1, classes = -1, masks = -1;
};

/// Blocks: pointers into a graph, which must outlive them.
struct SegmentationParts {
  const model::SincPool* pool = nullptr;
  const model::Conv1d* conv[2] = {nullptr, nullptr};
  std::vector<const model::BiLstm*> lstm;
  const model::Dense* linear[2] = {nullptr, nullptr};
  const model::Dense* classifier = nullptr;
  SegmentationValues values;
};

/// Nothing for a graph of other blocks, another order or other shapes than those of models.md (b).
/// The number of LSTM layers is free.
std::optional<SegmentationParts> find_segmentation(const model::Graph& graph);

}  // namespace diarist::backend::cuda
