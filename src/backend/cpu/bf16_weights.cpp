#include "backend/cpu/bf16_weights.hpp"

#include <bit>

namespace diarist::backend::cpu {

Bf16 to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<Bf16>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
}

namespace {

/// What rounding leaves.
float rest(float value) {
  return value - std::bit_cast<float>(static_cast<std::uint32_t>(to_bf16(value)) << 16);
}

}  // namespace

Bf16Weights::Bf16Weights(int columns, int taps, int depth, bool split,
                         const std::function<float(int, int, int)>& weight,
                         const std::function<float(int)>& bias)
    : columns_(columns),
      split_(split),
      taps_(split ? kBf16Parts * taps : taps),
      depth_(static_cast<int>(bf16_columns(depth))) {
  const int padded = (columns + kBf16Block - 1) / kBf16Block * kBf16Block;
  weights_ = allocate_bf16(static_cast<std::int64_t>(padded) * taps_ * depth_);
  bias_ = allocate_floats(padded);
  for (int c = 0; c < padded; ++c) bias_[static_cast<std::size_t>(c)] = c < columns ? bias(c) : 0;
  constexpr int kHalf = kBf16Block / 2;
  Bf16* to = weights_.get();
  for (int first = 0; first < padded; first += kBf16Block) {
    for (int tap = 0; tap < taps_; ++tap) {
      for (int chunk = 0; chunk < depth_; chunk += kBf16Chunk) {
        for (int half = first; half < first + kBf16Block; half += kHalf) {
          for (int pair = chunk; pair < chunk + kBf16Chunk; pair += 2) {
            for (int c = half; c < half + kHalf; ++c) {
              for (int k = pair; k < pair + 2; ++k) {
                const bool exists = c < columns && k < depth;
                const float w = exists ? weight(c, split ? tap / kBf16Parts : tap, k) : 0.0F;
                *to++ = to_bf16(split && tap % kBf16Parts == 2 ? rest(w) : w);
              }
            }
          }
        }
      }
    }
  }
}

Bf16Product Bf16Weights::product() const {
  Bf16Product product;
  product.weights = weights_.get();
  product.bias = bias_.get();
  product.columns = columns_;
  product.depth = depth_;
  product.all_taps = taps_;
  product.taps = taps_;
  return product;
}

}  // namespace diarist::backend::cpu
