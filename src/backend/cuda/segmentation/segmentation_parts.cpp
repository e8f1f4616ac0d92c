#include "backend/cuda/segmentation/segmentation_parts.hpp"

namespace diarist::backend::cuda {
namespace {

using base::Shape;
using model::Node;

constexpr std::int64_t kSamples = 160000, kRawRows = 15975, kFilters = 80, kChannels = 60;
constexpr std::int64_t kUnits = 128, kClasses = 7;

bool is_stage(const model::Conv1d& conv, std::int64_t in) {
  return conv.weight.shape() == Shape{kChannels, in, 5} && conv.stride == 1 && conv.dilation == 1 &&
         conv.padding == 0 && conv.pool3 && conv.norm.has_value() &&
         conv.activation == model::Activation::kLeakyRelu;
}

bool is_layer(const model::BiLstm& lstm, std::int64_t in) {
  for (int direction = 0; direction < 2; ++direction)
    if (lstm.input_weight[direction].shape() != Shape{4 * kUnits, in} ||
        lstm.recurrent_weight[direction].shape() != Shape{4 * kUnits, kUnits})
      return false;
  return true;
}

bool is_dense(const model::Dense& dense, std::int64_t in, std::int64_t out,
              model::Activation activation) {
  return dense.weight.shape() == Shape{out, in} && dense.pre_scale.empty() &&
         dense.activation == activation;
}

/// Reads the nodes of a graph one after the other.
class Reader {
 public:
  explicit Reader(const model::Graph& graph) : graph_(graph) {}

  /// The next node's block if it is of this type and reads these values.
  template <typename T>
  const T* take(const std::vector<int>& inputs, int* output) {
    if (at_ >= graph_.nodes.size()) return nullptr;
    const Node& node = graph_.nodes[at_];
    const T* const block = std::get_if<T>(&node.block);
    if (block == nullptr || node.inputs != inputs) return nullptr;
    ++at_;
    *output = node.output;
    return block;
  }
  bool done() const { return at_ == graph_.nodes.size(); }

 private:
  const model::Graph& graph_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<SegmentationParts> find_segmentation(const model::Graph& graph) {
  if (graph.inputs.size() != 2) return std::nullopt;
  const auto shape_of = [&](int value) -> const Shape& {
    return graph.values[static_cast<std::size_t>(value)].shape;
  };
  if (shape_of(graph.inputs[0]) != Shape{kSamples} ||
      shape_of(graph.inputs[1]) != Shape{kRawRows, kFilters})
    return std::nullopt;
  SegmentationParts parts;
  SegmentationValues& values = parts.values;
  Reader reader(graph);
  parts.pool = reader.take<model::SincPool>(graph.inputs, &values.sinc[0]);
  if (parts.pool == nullptr) return std::nullopt;
  for (int i = 0; i < 2; ++i) {
    parts.conv[i] = reader.take<model::Conv1d>({values.sinc[i]}, &values.sinc[i + 1]);
    if (parts.conv[i] == nullptr || !is_stage(*parts.conv[i], i == 0 ? kFilters : kChannels))
      return std::nullopt;
  }
  int last = values.sinc[2];
  while (const auto* lstm = reader.take<model::BiLstm>({last}, &last)) {
    if (!is_layer(*lstm, parts.lstm.empty() ? kChannels : 2 * kUnits)) return std::nullopt;
    parts.lstm.push_back(lstm);
    values.states.push_back(last);
  }
  if (parts.lstm.empty()) return std::nullopt;
  for (int i = 0; i < 2; ++i) {
    parts.linear[i] = reader.take<model::Dense>({last}, &values.hidden[i]);
    last = values.hidden[i];
    if (parts.linear[i] == nullptr || !is_dense(*parts.linear[i], i == 0 ? 2 * kUnits : kUnits,
                                                kUnits, model::Activation::kLeakyRelu))
      return std::nullopt;
  }
  parts.classifier = reader.take<model::Dense>({last}, &values.logits);
  if (parts.classifier == nullptr ||
      !is_dense(*parts.classifier, kUnits, kClasses, model::Activation::kNone))
    return std::nullopt;
  reader.take<model::LogSoftmax>({values.logits}, &values.log_probabilities);
  if (reader.take<model::PowersetDecision>({values.logits}, &values.classes) != nullptr)
    reader.take<model::EmbeddingMasks>({values.classes}, &values.masks);
  if (!reader.done()) return std::nullopt;
  return parts;
}

}  // namespace diarist::backend::cuda
