#pragma once
// Parts that the two networks on frequency x time maps have in common.

#include <string>

#include "model/graph_builder.hpp"
#include "model/tensor_source.hpp"
#include "model/topology.hpp"

namespace diarist::model {

/// Axes that a convolution's stride acts on.
enum class Strides { kBoth, kFrequency };

Stem stem_of(const TensorSource& source, const MapConvolution& layer);
Conv2d conv2d_of(const TensorSource& source, const MapConvolution& layer, Strides strides,
                 bool relu);

/// Appends <prefix><block>.hidden, <prefix><block>.shortcut (if there is one) and <prefix><block>.
/// Returns the last.
ValueId add_basic_block(GraphBuilder& graph, const TensorSource& source, const BasicBlock& block,
                        Strides strides, const std::string& prefix, ValueId input);

}  // namespace diarist::model
