#include "model/graph.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "model/shapes.hpp"

namespace diarist::model {
namespace {

struct BlockName {
  const char* operator()(const LogMel&) const { return "LogMel"; }
  const char* operator()(const SincConvolution&) const { return "SincConvolution"; }
  const char* operator()(const SincPool&) const { return "SincPool"; }
  const char* operator()(const Conv1d&) const { return "Conv1d"; }
  const char* operator()(const Stem&) const { return "Stem"; }
  const char* operator()(const Conv2d&) const { return "Conv2d"; }
  const char* operator()(const MapToRows&) const { return "MapToRows"; }
  const char* operator()(const BiLstm&) const { return "BiLstm"; }
  const char* operator()(const Dense&) const { return "Dense"; }
  const char* operator()(const LogSoftmax&) const { return "LogSoftmax"; }
  const char* operator()(const PowersetDecision&) const { return "PowersetDecision"; }
  const char* operator()(const EmbeddingMasks&) const { return "EmbeddingMasks"; }
  const char* operator()(const DenseTdnnBlock&) const { return "DenseTdnnBlock"; }
  const char* operator()(const GatherRows&) const { return "GatherRows"; }
  const char* operator()(const MaskedStatsHead&) const { return "MaskedStatsHead"; }
  const char* operator()(const StatsHead&) const { return "StatsHead"; }
};

/// A value whose time axis every item brings along.
bool is_ragged(const Value& value) {
  return !value.shared && std::ranges::find(value.shape, -1) != value.shape.end();
}

}  // namespace

const char* block_name(const Block& block) noexcept { return std::visit(BlockName{}, block); }

ValueId Graph::value(const std::string& value_name) const {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].name == value_name) return static_cast<ValueId>(i);
  }
  base::fail(ErrorCode::kInternal, "graph {} has no value named {}", name, value_name);
}

Graph Graph::with_outputs(const std::vector<std::string>& names) const {
  Graph copy = *this;
  copy.outputs.clear();
  for (const std::string& each : names) copy.outputs.push_back(value(each));
  return copy;
}

std::vector<std::int64_t> ragged_lengths(const Graph& graph, std::int64_t input_length) {
  std::vector<std::int64_t> lengths(graph.values.size(), 0);
  for (const ValueId id : graph.inputs) {
    if (is_ragged(graph.values[id])) lengths[id] = input_length;
  }
  for (const Node& node : graph.nodes) {
    if (!is_ragged(graph.values[node.output])) continue;
    for (const ValueId id : node.inputs) {
      if (!is_ragged(graph.values[id])) continue;
      lengths[node.output] = time_length(node.block, lengths[id]);
      break;
    }
  }
  return lengths;
}

}  // namespace diarist::model
