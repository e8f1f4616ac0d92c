#pragma once
// Chunks with features and masks that differ from each other.

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "diarist/embedder.hpp"

namespace diarist::test {

inline constexpr std::size_t kFeatureValues = std::size_t{Embedder::kRows} * Embedder::kBands;
inline constexpr std::size_t kMaskValues = std::size_t{Embedder::kSpeakers} * Embedder::kMaskFrames;
inline constexpr std::size_t kVectorValues = std::size_t{Embedder::kSpeakers} * 256;

struct Chunks {
  std::vector<float> features, masks;
  std::vector<float> embeddings() const {
    return std::vector<float>(features.size() / kFeatureValues * kVectorValues, -1.0F);
  }
};

/// The chunks with these numbers: features are smooth waves around zero, the first mask covers a
/// stretch, the second every third frame, the third nothing.
inline Chunks chunks_of(const std::vector<int>& numbers) {
  Chunks chunks;
  for (const int number : numbers) {
    for (int t = 0; t < Embedder::kRows; ++t)
      for (int b = 0; b < Embedder::kBands; ++b)
        chunks.features.push_back(
            static_cast<float>(3 * std::sin(0.05 * (number + 1) * t + 0.3 * b) +
                               2 * std::cos(0.011 * t * (b + 2 * number))));
    for (int s = 0; s < Embedder::kSpeakers; ++s)
      for (int f = 0; f < Embedder::kMaskFrames; ++f) {
        const bool on = s == 0 ? f >= 20 * number && f < 200 + 30 * number : s == 1 && f % 3 == 0;
        chunks.masks.push_back(on ? 1.0F : 0.0F);
      }
  }
  return chunks;
}

inline std::vector<float> forward(const Embedder& embedder, const Chunks& chunks) {
  std::vector<float> embeddings = chunks.embeddings();
  embedder.forward(chunks.features, chunks.masks, embeddings);
  return embeddings;
}

/// The rows of one chunk.
inline std::vector<float> rows_of(const std::vector<float>& embeddings, std::size_t chunk) {
  const auto first = embeddings.begin() + static_cast<std::ptrdiff_t>(chunk * kVectorValues);
  return {first, first + static_cast<std::ptrdiff_t>(kVectorValues)};
}

}  // namespace diarist::test
