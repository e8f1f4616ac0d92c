#include "cluster/training.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "cluster/parallel.hpp"
#include "cluster/rows.hpp"

namespace diarist::cluster {
namespace {

constexpr double kLeastShare = 0.2;
constexpr std::size_t kBlockChunks = 64;  // windows per task

// What training makes of a pair.
enum class Use : std::uint8_t { kTooShort, kMissing, kUnusable, kTraining };

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

Use use_of(const Input& input, int chunk, int speaker) {
  const std::span<const std::uint8_t> window = window_of(input, chunk);
  const auto alone = std::count(window.begin(), window.end(), bit_of(speaker));
  if (static_cast<double>(alone) < kLeastShare * kFrames) return Use::kTooShort;
  if (!has_vector(input, chunk, speaker)) return Use::kMissing;
  const float square = sum_of_squares(vector_of(input, chunk, speaker));
  return std::isfinite(square) && square != 0.0F ? Use::kTraining : Use::kUnusable;
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

Training training_pairs(const Input& input, base::TaskPool* pool, const std::stop_token& stop) {
  const std::size_t chunks = static_cast<std::size_t>(input.chunks);
  std::vector<Use> uses(chunks * kLocalSpeakers);
  parallel_for(pool, (chunks + kBlockChunks - 1) / kBlockChunks, stop, [&](std::size_t block) {
    const std::size_t last = std::min(uses.size(), (block + 1) * kBlockChunks * kLocalSpeakers);
    for (std::size_t i = block * kBlockChunks * kLocalSpeakers; i < last; ++i)
      uses[i] =
          use_of(input, static_cast<int>(i / kLocalSpeakers), static_cast<int>(i % kLocalSpeakers));
  });
  Training training;
  training.missing = static_cast<int>(std::count(uses.begin(), uses.end(), Use::kMissing));
  training.unusable = static_cast<int>(std::count(uses.begin(), uses.end(), Use::kUnusable));
  training.rows.reserve(
      static_cast<std::size_t>(std::count(uses.begin(), uses.end(), Use::kTraining)) *
      static_cast<std::size_t>(input.dim));
  in_parts(uses.size(), stop, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      if (uses[i] != Use::kTraining) continue;
      const int chunk = static_cast<int>(i / kLocalSpeakers);
      const int speaker = static_cast<int>(i % kLocalSpeakers);
      const std::span<const float> vector = vector_of(input, chunk, speaker);
      training.chunk.push_back(chunk);
      training.speaker.push_back(speaker);
      training.rows.insert(training.rows.end(), vector.begin(), vector.end());
    }
  });
  return training;
}

std::vector<bool> active_pairs(const Input& input, const std::stop_token& stop) {
  std::vector<bool> active;
  in_parts(
      static_cast<std::size_t>(input.chunks) * kLocalSpeakers, stop,
      [&](std::size_t first, std::size_t last) {
        for (int pair = static_cast<int>(first); pair < static_cast<int>(last); ++pair)
          active.push_back(pair_is_active(input, pair / kLocalSpeakers, pair % kLocalSpeakers));
      });
  return active;
}

}  // namespace diarist::cluster
