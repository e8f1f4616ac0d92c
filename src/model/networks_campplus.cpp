// CAM++ (campplus.md (b)).

#include "model/graph_builder.hpp"
#include "model/map_blocks.hpp"
#include "model/networks.hpp"

namespace diarist::model {
namespace {

TensorSource source_of(const Weights& weights) { return {weights, "campplus weights"}; }

DenseTdnnLayer layer_of(const TensorSource& source, const std::string& path, std::int64_t columns) {
  DenseTdnnLayer layer;
  layer.pre_scale = source.get(path + "nonlinear1.batchnorm.scale", {columns});
  layer.pre_offset = source.get(path + "nonlinear1.batchnorm.offset", {columns});
  layer.reduce_weight = source.matrix(path + "linear1.weight", kCampplusBottleneck, columns);
  layer.reduce_bias = source.get(path + "linear1.weight_bias", {kCampplusBottleneck});
  const std::string cam = path + "cam_layer.";
  layer.local_weight =
      source.get(cam + "linear_local.weight", {kCampplusGrowth, kCampplusBottleneck, 3});
  layer.gate1_weight = source.matrix(cam + "linear1.weight", kCampplusGate, kCampplusBottleneck);
  layer.gate1_bias = source.get(cam + "linear1.bias", {kCampplusGate});
  layer.gate2_weight = source.matrix(cam + "linear2.weight", kCampplusGrowth, kCampplusGate);
  layer.gate2_bias = source.get(cam + "linear2.bias", {kCampplusGrowth});
  return layer;
}

/// The last transit is followed by a norm (folded in, hence a bias) and a ReLU.
Dense transit_of(const TensorSource& source, const DenseStage& stage) {
  const std::string path = "xvector.transit" + std::to_string(stage.number) + ".";
  const bool last = stage.number == 3;
  Dense block;
  block.weight = source.matrix(path + "linear.weight", stage.out, stage.grown());
  block.bias = last ? source.get(path + "linear.weight_bias", {stage.out})
                    : TensorF({stage.out}, std::vector<float>(stage.out, 0.0F));
  block.pre_scale = source.get(path + "nonlinear.batchnorm.scale", {stage.grown()});
  block.pre_offset = source.get(path + "nonlinear.batchnorm.offset", {stage.grown()});
  block.activation = last ? Activation::kRelu : Activation::kNone;
  return block;
}

/// Appends everything from the gathered rows to "frames".
ValueId add_trunk(GraphBuilder& graph, const TensorSource& source) {
  const ValueId features = graph.input("features", {-1, 80}, ElementType::kF32, true);
  const ValueId indices = graph.input("indices", {-1}, ElementType::kI32);
  ValueId x = graph.add("gather", GatherRows{}, {features, indices}, "rows");
  x = graph.add("head.conv1", stem_of(source, campplus_stem()), {x}, "stem");
  for (const BasicBlock& block : campplus_blocks()) {
    x = add_basic_block(graph, source, block, Strides::kFrequency, "head.", x);
  }
  const MapConvolution last = campplus_last_convolution();
  x = graph.add(last.name, conv2d_of(source, last, Strides::kFrequency, true), {x}, "head.map");
  x = graph.add("head", MapToRows{}, {x}, "head");

  Conv1d tdnn;
  tdnn.weight =
      source.get("xvector.tdnn.linear.weight", {kCampplusStemColumns, kCampplusHeadColumns, 5});
  tdnn.bias = source.get("xvector.tdnn.linear.weight_bias", {kCampplusStemColumns});
  tdnn.stride = 2;
  tdnn.padding = 2;
  tdnn.activation = Activation::kRelu;
  x = graph.add("xvector.tdnn.linear", std::move(tdnn), {x}, "tdnn");

  for (const DenseStage& stage : kCampplusStages) {
    const std::string number = std::to_string(stage.number);
    DenseTdnnBlock block;
    block.dilation = stage.dilation;
    for (int i = 0; i < stage.layers; ++i) {
      const std::string path = "xvector.block" + number + ".tdnnd" + std::to_string(i + 1) + ".";
      block.layers.push_back(layer_of(source, path, stage.in + kCampplusGrowth * i));
    }
    x = graph.add("xvector.block" + number, std::move(block), {x}, "block" + number);
    x = graph.add("xvector.transit" + number, transit_of(source, stage), {x},
                  stage.number == 3 ? "frames" : "transit" + number);
  }
  return x;
}

ValueId add_head(GraphBuilder& graph, const TensorSource& source, ValueId frames) {
  StatsHead head;
  head.weight = source.matrix("xvector.dense.linear.weight", kCampplusSize, 2 * kCampplusFrames);
  head.bias = source.get("xvector.dense.linear.weight_bias", {kCampplusSize});
  return graph.add("xvector.dense.linear", std::move(head), {frames}, "embedding");
}

}  // namespace

Graph campplus_network(const Weights& weights) {
  const TensorSource source = source_of(weights);
  GraphBuilder graph("campplus");
  const ValueId frames = add_trunk(graph, source);
  return graph.finish({add_head(graph, source, frames)});
}

Graph campplus_trunk(const Weights& weights) {
  const TensorSource source = source_of(weights);
  GraphBuilder graph("campplus_trunk");
  return graph.finish({add_trunk(graph, source)});
}

Graph campplus_head(const Weights& weights) {
  const TensorSource source = source_of(weights);
  GraphBuilder graph("campplus_head");
  const ValueId frames = graph.input("frames", {-1, kCampplusFrames});
  return graph.finish({add_head(graph, source, frames)});
}

Graph campplus_gathered_head(const Weights& weights) {
  const TensorSource source = source_of(weights);
  GraphBuilder graph("campplus_gathered_head");
  const ValueId frames = graph.input("frames", {-1, kCampplusFrames}, ElementType::kF32, true);
  const ValueId indices = graph.input("indices", {-1}, ElementType::kI32);
  const ValueId rows = graph.add("gather", GatherRows{}, {frames, indices}, "rows");
  return graph.finish({add_head(graph, source, rows)});
}

}  // namespace diarist::model
