#include "pipeline/random_resnet.hpp"

#include <cmath>
#include <cstdint>
#include <string>

#include "diarist/embedder.hpp"
#include "model/topology.hpp"

namespace diarist::pipeline {
namespace {

// SplitMix64 from the FNV-1a hash of a name: the same numbers on every machine.
class Noise {
 public:
  explicit Noise(const std::string& name) {
    for (const char c : name) {
      state_ ^= static_cast<std::uint8_t>(c);
      state_ *= 0x100000001B3ULL;
    }
  }

  /// In [-1, 1).
  double next() {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    z ^= z >> 31;
    return static_cast<double>(z >> 11) * 0x1.0p-52 - 1;
  }

 private:
  std::uint64_t state_ = 0xCBF29CE484222325ULL;
};

// Uniform noise of a deviation; deviation of [-1, 1) is 1 / sqrt(3).
base::TensorF noise(const std::string& name, const base::Shape& shape, double deviation) {
  Noise source(name);
  std::vector<float> values(static_cast<std::size_t>(base::element_count(shape)));
  for (float& value : values)
    value = static_cast<float>(source.next() * deviation * std::sqrt(3.0));
  return {shape, std::move(values)};
}

// `gain` times the deviation that keeps the mean square through a ReLU.
void add_convolution(model::Weights& weights, const model::MapConvolution& layer, double gain) {
  const double inputs = 1.0 * layer.in * layer.kernel * layer.kernel;
  weights[layer.name + ".weight"] =
      noise(layer.name + ".weight", {layer.out, layer.in, layer.kernel, layer.kernel},
            gain * std::sqrt(2.0 / inputs));
  weights[layer.name + ".weight_bias"] = noise(layer.name + ".weight_bias", {layer.out}, 0.05);
}

}  // namespace

model::Weights random_resnet34() {
  model::Weights weights;
  add_convolution(weights, model::resnet34_stem(), 1.0);
  for (const model::BasicBlock& block : model::resnet34_blocks()) {
    add_convolution(weights, block.first, 1.0);
    add_convolution(weights, block.second, 0.5);
    for (const model::MapConvolution& shortcut : block.shortcut)
      add_convolution(weights, shortcut, std::sqrt(0.5));
  }
  constexpr std::int64_t kStatistics =
      std::int64_t{2} * model::kResnet34Channels * model::kResnet34Bands;
  weights["resnet.seg_1.weight"] = noise("resnet.seg_1.weight", {model::kResnet34Size, kStatistics},
                                         std::sqrt(1.0 / static_cast<double>(kStatistics)));
  weights["resnet.seg_1.bias"] = noise("resnet.seg_1.bias", {model::kResnet34Size}, 0.05);
  return weights;
}

std::vector<float> random_features(int chunk) {
  Noise source("features " + std::to_string(chunk));
  std::vector<float> rows(std::size_t{Embedder::kRows} * Embedder::kBands);
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] =
        static_cast<float>(4 * source.next() + 0.05 * static_cast<double>(i % Embedder::kBands));
  return rows;
}

std::vector<float> example_masks(int chunk) {
  constexpr int kFrames = Embedder::kMaskFrames;
  std::vector<float> masks(std::size_t{Embedder::kSpeakers} * kFrames, 0.0F);
  const int start = 40 * (chunk % 4);
  for (int frame = 0; frame < kFrames; ++frame) {
    const auto at = static_cast<std::size_t>(frame);
    masks[at] = frame >= start && frame < start + 250 ? 1.0F : 0.0F;
    masks[kFrames + at] = frame % 7 == 0 ? 1.0F : 0.0F;
    masks[2 * std::size_t{kFrames} + at] = 1.0F;
  }
  return masks;
}

}  // namespace diarist::pipeline
