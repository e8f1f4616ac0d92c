#include "model/map_blocks.hpp"

namespace diarist::model {

Stem stem_of(const TensorSource& source, const MapConvolution& layer) {
  return {source.get(layer.name + ".weight", {layer.out, layer.in, layer.kernel, layer.kernel}),
          source.get(layer.name + ".weight_bias", {layer.out})};
}

Conv2d conv2d_of(const TensorSource& source, const MapConvolution& layer, Strides strides,
                 bool relu) {
  Conv2d block;
  block.weight =
      source.get(layer.name + ".weight", {layer.out, layer.in, layer.kernel, layer.kernel});
  block.bias = source.get(layer.name + ".weight_bias", {layer.out});
  block.stride_frequency = layer.stride;
  block.stride_time = strides == Strides::kBoth ? layer.stride : 1;
  block.relu = relu;
  return block;
}

ValueId add_basic_block(GraphBuilder& graph, const TensorSource& source, const BasicBlock& block,
                        Strides strides, const std::string& prefix, ValueId input) {
  const std::string name = prefix + block.name;
  const ValueId hidden = graph.add(block.first.name, conv2d_of(source, block.first, strides, true),
                                   {input}, name + ".hidden");
  ValueId residual = input;
  for (const MapConvolution& shortcut : block.shortcut) {
    residual = graph.add(shortcut.name, conv2d_of(source, shortcut, strides, false), {input},
                         name + ".shortcut");
  }
  return graph.add(block.second.name, conv2d_of(source, block.second, strides, true),
                   {hidden, residual}, name);
}

}  // namespace diarist::model
