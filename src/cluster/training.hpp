#pragma once
// Which (window, speaker) pairs the clustering learns from (pipeline.md 6).

#include <cstdint>
#include <vector>

#include "cluster/speakers.hpp"

namespace diarist::cluster {

inline constexpr int kFrames = 589;
inline constexpr int kLocalSpeakers = 3;

/// True when the local speaker is set in any frame of the window.
bool pair_is_active(const Input& input, int chunk, int speaker);

/// True when the pair's embedding has no NaN.
bool has_vector(const Input& input, int chunk, int speaker);

/// Pairs with at least a fifth of the window's frames to themselves and a usable embedding, by
/// window, then speaker.
struct Training {
  std::vector<std::int32_t> chunk, speaker;  // [T]
  std::vector<float> rows;                   // [T, D]
  int unusable = 0;                          // long enough, but the embedding is zero or infinite
  int missing = 0;                           // long enough, but the embedding has a NaN
  std::size_t count() const noexcept { return chunk.size(); }
};
/// \throws Error kCancelled.
Training training_pairs(const Input& input, base::TaskPool* pool = nullptr,
                        const std::stop_token& stop = {});

/// pair_is_active() of every pair, by window, then speaker. \throws Error kCancelled.
std::vector<bool> active_pairs(const Input& input, const std::stop_token& stop = {});

}  // namespace diarist::cluster
