#include "cluster/training.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "cluster/rows.hpp"

namespace diarist::cluster {
namespace {

constexpr double kLeastShare = 0.2;

std::span<const std::uint8_t> window_of(const Input& input, int chunk) {
  return input.activity.subspan(static_cast<std::size_t>(chunk) * kFrames, kFrames);
}

std::span<const float> vector_of(const Input& input, int chunk, int speaker) {
  const std::size_t dim = static_cast<std::size_t>(input.dim);
  return input.embeddings.subspan(static_cast<std::size_t>(chunk * kLocalSpeakers + speaker) * dim,
                                  dim);
}

std::uint8_t bit_of(int speaker) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(speaker));
}

}  // namespace

bool pair_is_active(const Input& input, int chunk, int speaker) {
  const std::span<const std::uint8_t> window = window_of(input, chunk);
  return std::any_of(window.begin(), window.end(),
                     [bit = bit_of(speaker)](std::uint8_t bits) { return (bits & bit) != 0; });
}

bool has_vector(const Input& input, int chunk, int speaker) {
  const std::span<const float> vector = vector_of(input, chunk, speaker);
  return std::none_of(vector.begin(), vector.end(), [](float x) { return std::isnan(x); });
}

Training training_pairs(const Input& input) {
  Training training;
  for (int chunk = 0; chunk < input.chunks; ++chunk) {
    const std::span<const std::uint8_t> window = window_of(input, chunk);
    for (int speaker = 0; speaker < kLocalSpeakers; ++speaker) {
      const auto alone = std::count(window.begin(), window.end(), bit_of(speaker));
      if (static_cast<double>(alone) < kLeastShare * kFrames) continue;
      if (!has_vector(input, chunk, speaker)) {
        ++training.missing;
        continue;
      }
      const std::span<const float> vector = vector_of(input, chunk, speaker);
      const float square = sum_of_squares(vector);
      if (!std::isfinite(square) || square == 0.0F) {
        ++training.unusable;
        continue;
      }
      training.chunk.push_back(chunk);
      training.speaker.push_back(speaker);
      training.rows.insert(training.rows.end(), vector.begin(), vector.end());
    }
  }
  return training;
}

}  // namespace diarist::cluster
