#include "backend/cuda/campplus/campplus_parts.hpp"

#include <initializer_list>

#include "backend/cuda/kernels/campplus/frames.hpp"
#include "model/topology.hpp"

namespace diarist::backend::cuda::campplus {
namespace {

using model::ValueId;

constexpr int kChannels = 32;

/// Walks the nodes in their order, and gives up at the first one that is not what is expected.
class Reader {
 public:
  explicit Reader(const model::Graph& graph) : graph_(&graph) {}

  /// The next node's block, if it has this type and these inputs; its output is in `output` then.
  template <typename Block>
  const Block* next(std::initializer_list<ValueId> inputs, ValueId& output) {
    if (at_ >= graph_->nodes.size()) return nullptr;
    const model::Node& node = graph_->nodes[at_];
    const Block* block = std::get_if<Block>(&node.block);
    if (block == nullptr || node.inputs != std::vector<ValueId>(inputs)) return nullptr;
    ++at_;
    output = node.output;
    return block;
  }
  bool done(ValueId output) const {
    return at_ == graph_->nodes.size() && graph_->outputs == std::vector<ValueId>{output};
  }

 private:
  const model::Graph* graph_;
  std::size_t at_ = 0;
};

bool has_shape(const base::TensorF& tensor, std::initializer_list<std::int64_t> shape) {
  return tensor.shape() == base::Shape(shape);
}

bool is_convolution(const model::Conv2d* block, int kernel, int stride, bool relu) {
  return block != nullptr && has_shape(block->weight, {kChannels, kChannels, kernel, kernel}) &&
         block->stride_frequency == stride && block->stride_time == 1 && block->relu == relu;
}

bool read_basic_block(Reader& reader, bool shortcut, ValueId& value, HeadConvolution& first,
                      HeadConvolution& second) {
  ValueId hidden = -1, residual = value, out = -1;
  first.convolution = reader.next<model::Conv2d>({value}, hidden);
  if (!is_convolution(first.convolution, 3, shortcut ? 2 : 1, true)) return false;
  if (shortcut) {
    first.shortcut = reader.next<model::Conv2d>({value}, residual);
    if (!is_convolution(first.shortcut, 1, 2, false)) return false;
  }
  second.convolution = reader.next<model::Conv2d>({hidden, residual}, out);
  value = out;
  return is_convolution(second.convolution, 3, 1, true);
}

bool is_dense_block(const model::DenseTdnnBlock* block, const model::DenseStage& stage) {
  if (block == nullptr || block->dilation != stage.dilation ||
      static_cast<int>(block->layers.size()) != stage.layers)
    return false;
  std::int64_t columns = stage.in;
  for (const model::DenseTdnnLayer& layer : block->layers) {
    if (!has_shape(layer.reduce_weight, {kHidden, columns}) ||
        !has_shape(layer.local_weight, {kGrowth, kHidden, 3}) ||
        !has_shape(layer.gate1_weight, {kGateHidden, kHidden}) ||
        !has_shape(layer.gate2_weight, {kGrowth, kGateHidden}))
      return false;
    columns += kGrowth;
  }
  return true;
}

bool read_trunk(const model::Graph& graph, Reader& reader, CampplusParts& parts, ValueId& value) {
  if (graph.inputs.size() != 2) return false;
  const model::Value& features = graph.values[static_cast<std::size_t>(graph.inputs[0])];
  if (!features.shared || features.shape.size() != 2 || features.shape[1] != kBands) return false;
  if (reader.next<model::GatherRows>({graph.inputs[0], graph.inputs[1]}, value) == nullptr)
    return false;
  parts.stem = reader.next<model::Stem>({value}, value);
  if (parts.stem == nullptr || !has_shape(parts.stem->weight, {kChannels, 1, 3, 3}) ||
      !parts.stem->remove_mean)
    return false;
  for (int block = 0; block < 4; ++block)
    if (!read_basic_block(reader, block % 2 == 0, value, parts.head[2 * block],
                          parts.head[2 * block + 1]))
      return false;
  parts.head[8].convolution = reader.next<model::Conv2d>({value}, value);
  if (!is_convolution(parts.head[8].convolution, 3, 2, true) ||
      reader.next<model::MapToRows>({value}, value) == nullptr)
    return false;
  const model::Conv1d* tdnn = parts.tdnn = reader.next<model::Conv1d>({value}, value);
  if (tdnn == nullptr ||
      !has_shape(tdnn->weight, {model::kCampplusStemColumns, model::kCampplusHeadColumns, 5}) ||
      tdnn->stride != 2 || tdnn->dilation != 1 || tdnn->padding != 2 || tdnn->pool3 || tdnn->norm ||
      tdnn->activation != model::Activation::kRelu)
    return false;
  for (std::size_t i = 0; i < 3; ++i) {
    const model::DenseStage& stage = model::kCampplusStages[i];
    parts.blocks[i] = reader.next<model::DenseTdnnBlock>({value}, value);
    if (!is_dense_block(parts.blocks[i], stage)) return false;
    const model::Dense* transit = parts.transits[i] = reader.next<model::Dense>({value}, value);
    const model::Activation wanted =
        stage.number == 3 ? model::Activation::kRelu : model::Activation::kNone;
    if (transit == nullptr || !has_shape(transit->weight, {stage.out, stage.grown()}) ||
        !has_shape(transit->pre_scale, {stage.grown()}) || transit->activation != wanted)
      return false;
  }
  return true;
}

}  // namespace

bool find_parts(const model::Graph& graph, CampplusParts& parts) {
  parts = {};
  Reader reader(graph);
  ValueId value = -1;
  if (read_trunk(graph, reader, parts, value)) {
    parts.kind = GraphKind::kTrunk;
    if (reader.done(value)) return true;
    parts.kind = GraphKind::kNetwork;
    parts.statistics = reader.next<model::StatsHead>({value}, value);
    return parts.statistics != nullptr && reader.done(value);
  }
  parts = {};
  reader = Reader(graph);
  if (graph.inputs.size() == 2 && graph.values[static_cast<std::size_t>(graph.inputs[0])].shared) {
    parts.kind = GraphKind::kPooled;
    if (reader.next<model::GatherRows>({graph.inputs[0], graph.inputs[1]}, value) == nullptr)
      return false;
  } else if (graph.inputs.size() == 1 &&
             !graph.values[static_cast<std::size_t>(graph.inputs[0])].shared) {
    parts.kind = GraphKind::kHead;
    value = graph.inputs[0];
  } else {
    return false;
  }
  parts.statistics = reader.next<model::StatsHead>({value}, value);
  return parts.statistics != nullptr && reader.done(value);
}

}  // namespace diarist::backend::cuda::campplus
