// The dense block of CAM++ (campplus.md (b)).

#include <algorithm>
#include <cmath>

#include "backend/reference/layers.hpp"

namespace diarist::backend::reference {
namespace {

constexpr std::int64_t kSegment = 100;  // frames that share a local context

/// Mean over all frames plus mean over the frame's segment: one row per segment.
Array contexts_of(const Array& hidden) {
  const std::int64_t frames = hidden.dim(0);
  const std::int64_t columns = hidden.dim(1);
  Array context;
  context.reset({(frames + kSegment - 1) / kSegment, columns});
  std::vector<double> whole(columns, 0.0);
  for (std::int64_t s = 0; s < context.dim(0); ++s) {
    const std::int64_t begin = s * kSegment;
    const std::int64_t end = std::min(begin + kSegment, frames);
    double* sum = context.at(s * columns);
    for (std::int64_t t = begin; t < end; ++t) {
      for (std::int64_t c = 0; c < columns; ++c) sum[c] += *hidden.at(t * columns + c);
    }
    for (std::int64_t c = 0; c < columns; ++c) {
      whole[c] += sum[c];
      sum[c] /= static_cast<double>(end - begin);
    }
  }
  for (std::int64_t s = 0; s < context.dim(0); ++s) {
    for (std::int64_t c = 0; c < columns; ++c) {
      *context.at(s * columns + c) += whole[c] / static_cast<double>(frames);
    }
  }
  return context;
}

/// Gates [segments, growth] between 0 and 1.
Array gates_of(const model::DenseTdnnLayer& layer, const Array& hidden) {
  const Array context = contexts_of(hidden);
  model::Dense first;
  first.weight = layer.gate1_weight;
  first.bias = layer.gate1_bias;
  first.activation = model::Activation::kRelu;
  model::Dense second;
  second.weight = layer.gate2_weight;
  second.bias = layer.gate2_bias;
  Array middle, gates;
  middle.reset({context.dim(0), first.weight.dim(0)});
  run_dense(first, context, middle);
  gates.reset({context.dim(0), second.weight.dim(0)});
  run_dense(second, middle, gates);
  for (double& x : gates.values) x = 1.0 / (1.0 + std::exp(-x));
  return gates;
}

}  // namespace

void run_dense_tdnn_block(const model::DenseTdnnBlock& block, const Array& rows, Array& out) {
  const std::int64_t frames = rows.dim(0);
  const std::int64_t width = out.dim(1);
  for (std::int64_t t = 0; t < frames; ++t) {
    std::copy_n(rows.at(t * rows.dim(1)), rows.dim(1), out.at(t * width));
  }
  std::int64_t columns = rows.dim(1);
  Array input, hidden, local;
  for (const model::DenseTdnnLayer& layer : block.layers) {
    input.reset({frames, columns});
    for (std::int64_t t = 0; t < frames; ++t) {
      std::copy_n(out.at(t * width), columns, input.at(t * columns));
    }
    model::Dense reduce;
    reduce.weight = layer.reduce_weight;
    reduce.bias = layer.reduce_bias;
    reduce.pre_scale = layer.pre_scale;
    reduce.pre_offset = layer.pre_offset;
    reduce.activation = model::Activation::kRelu;
    hidden.reset({frames, reduce.weight.dim(0)});
    run_dense(reduce, input, hidden);

    const std::int64_t growth = layer.local_weight.dim(0);
    model::Conv1d convolution;
    convolution.weight = layer.local_weight;
    convolution.bias = model::TensorF({growth}, std::vector<float>(growth, 0.0F));
    convolution.dilation = block.dilation;
    convolution.padding = block.dilation;
    local.reset({frames, growth});
    run_conv1d(convolution, hidden, local);

    const Array gates = gates_of(layer, hidden);
    for (std::int64_t t = 0; t < frames; ++t) {
      for (std::int64_t g = 0; g < growth; ++g) {
        *out.at(t * width + columns + g) =
            *local.at(t * growth + g) * *gates.at(t / kSegment * growth + g);
      }
    }
    columns += growth;
  }
}

}  // namespace diarist::backend::reference
