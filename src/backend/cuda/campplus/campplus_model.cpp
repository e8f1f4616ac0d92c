#include "backend/cuda/campplus/campplus_model.hpp"

#include <cstdint>
#include <cstring>

#include "backend/cuda/kernels/conv.hpp"
#include "backend/cuda/kernels/stem_mma.hpp"
#include "model/topology.hpp"

namespace diarist::backend::cuda::campplus {
namespace {

using Bits = std::vector<std::uint16_t>;

std::span<const std::uint16_t> view(const Bits& bits) { return bits; }

float scale_of(std::span<const float> weight) {
  return conv_weight_scale(weight.data(), weight.size());
}

std::vector<float> transposed(const base::TensorF& matrix) {
  const auto rows = static_cast<std::size_t>(matrix.dim(0));
  const auto columns = static_cast<std::size_t>(matrix.dim(1));
  std::vector<float> out(rows * columns);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) out[c * rows + r] = matrix.values()[r * columns + c];
  return out;
}

/// Columns in the order in which the head's map lies in memory: taps, frequencies, channels.
std::vector<float> tdnn_columns(const base::TensorF& weight) {
  constexpr std::size_t kTaps = 5, kRows = 10, kChannels = 32;
  const auto outputs = static_cast<std::size_t>(weight.dim(0));
  std::vector<float> out;
  out.reserve(weight.values().size());
  for (std::size_t o = 0; o < outputs; ++o)
    for (std::size_t tap = 0; tap < kTaps; ++tap)
      for (std::size_t f = 0; f < kRows; ++f)
        for (std::size_t c = 0; c < kChannels; ++c)
          out.push_back(weight.values()[(o * kRows * kChannels + c * kRows + f) * kTaps + tap]);
  return out;
}

}  // namespace

void WeightStore::add_bytes(void* field, std::span<const std::byte> bytes) {
  constexpr std::size_t kAlign = 256;
  staged_.resize((staged_.size() + kAlign - 1) / kAlign * kAlign);
  places_.push_back({field, staged_.size()});
  staged_.insert(staged_.end(), bytes.begin(), bytes.end());
}

void WeightStore::finish(int device) {
  staged_.resize((staged_.size() + 3) / 4 * 4);
  memory_ = to_device<float>(
      device, {reinterpret_cast<const float*>(staged_.data()), staged_.size() / sizeof(float)},
      "CAM++ weights");
  for (const Place& place : places_) {
    const void* address = memory_.as<std::byte>() + place.offset;
    std::memcpy(place.field, &address, sizeof(address));
  }
  staged_ = {};
  places_ = {};
}

CampplusModel::CampplusModel(int device, const CampplusParts& parts, bool exact)
    : device_(device), exact_(exact), kind_(parts.kind) {
  if (parts.has_trunk()) {
    add_head(parts);
    add_dense(parts);
  }
  if (parts.statistics != nullptr) add_statistics(*parts.statistics);
  store_.finish(device);
}

void CampplusModel::add_convolution(PackedProduct& product, const model::Conv2d& block) {
  const float scale = scale_of(block.weight.values());
  const int taps = static_cast<int>(block.weight.dim(2) * block.weight.dim(3));
  product.unscale = 1 / scale;
  store_.add(product.weights, view(pack_map_conv(block.weight.data(), taps, exact_, scale)));
  store_.add(product.bias, block.bias.values());
}

void CampplusModel::add_head(const CampplusParts& parts) {
  const float scale = scale_of(parts.stem->weight.values());
  stem.unscale = 1 / scale;
  store_.add(stem.weights, view(pack_stem_mma(parts.stem->weight.data(), exact_, scale)));
  store_.add(stem.bias, parts.stem->bias.values());
  for (std::size_t i = 0; i < parts.head.size(); ++i) {
    add_convolution(convolutions[i], *parts.head[i].convolution);
    if (parts.head[i].shortcut != nullptr) add_convolution(shortcuts[i], *parts.head[i].shortcut);
  }
  const std::vector<float> columns = tdnn_columns(parts.tdnn->weight);
  const float tdnn_scale = scale_of(columns);
  tdnn.unscale = 1 / tdnn_scale;
  store_.add(tdnn.weights, view(pack_row_product(columns.data(), kHidden,
                                                 static_cast<int>(columns.size()) / kHidden, exact_,
                                                 true, tdnn_scale)));
  store_.add(tdnn.bias, parts.tdnn->bias.values());
}

void CampplusModel::add_dense(const CampplusParts& parts) {
  // Puts relu(scale*x + offset) and the product behind it where the kernels want them.
  const auto add_product = [&](Affine& affine, PackedProduct& product, const base::TensorF& scale,
                               const base::TensorF& offset, const base::TensorF& weight,
                               const base::TensorF& bias, bool grouped) {
    const int outputs = static_cast<int>(weight.dim(0)), inputs = static_cast<int>(weight.dim(1));
    std::vector<float> columns(weight.values().begin(), weight.values().end());
    if (exact_) {
      const std::vector<float> entries = pack_affine(scale.data(), offset.data(), inputs);
      store_.add(affine, std::span<const float>(entries));
    } else {
      const FoldedAffine folded = fold_affine(scale.data(), offset.data(), inputs);
      store_.add(affine, view(folded.pairs));
      for (std::size_t i = 0; i < columns.size(); ++i)
        columns[i] *= folded.factors[i % static_cast<std::size_t>(inputs)];
    }
    const float power = scale_of(columns);
    product.unscale = 1 / power;
    store_.add(product.weights,
               view(pack_row_product(columns.data(), outputs, inputs, exact_, grouped, power)));
    store_.add(product.bias, bias.values());
  };
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    blocks[b].resize(parts.blocks[b]->layers.size());
    for (std::size_t i = 0; i < blocks[b].size(); ++i) {
      const model::DenseTdnnLayer& layer = parts.blocks[b]->layers[i];
      DenseLayerWeights& packed = blocks[b][i];
      add_product(packed.affine, packed.reduce, layer.pre_scale, layer.pre_offset,
                  layer.reduce_weight, layer.reduce_bias, false);
      const float scale = scale_of(layer.local_weight.values());
      packed.local_unscale = 1 / scale;
      store_.add(packed.local, view(pack_local(layer.local_weight.data(), exact_, scale)));
      store_.add(packed.gates.first, std::span<const float>(transposed(layer.gate1_weight)));
      store_.add(packed.gates.first_bias, layer.gate1_bias.values());
      store_.add(packed.gates.second, std::span<const float>(transposed(layer.gate2_weight)));
      store_.add(packed.gates.second_bias, layer.gate2_bias.values());
    }
    const model::Dense& transit = *parts.transits[b];
    transits[b].columns = static_cast<int>(transit.weight.dim(1));
    transits[b].outputs = static_cast<int>(transit.weight.dim(0));
    add_product(transits[b].affine, transits[b].product, transit.pre_scale, transit.pre_offset,
                transit.weight, transit.bias, true);
  }
}

void CampplusModel::add_statistics(const model::StatsHead& head) {
  last_outputs = static_cast<int>(head.weight.dim(0));
  last_columns = static_cast<int>(head.weight.dim(1)) / 2;
  store_.add(last_weight, std::span<const float>(transposed(head.weight)));
  store_.add(last_bias, head.bias.values());
}

}  // namespace diarist::backend::cuda::campplus
