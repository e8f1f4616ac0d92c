#pragma once
// Powerset classes, local activity and masks (pipeline.md 5, 6).
// Activity is one byte per (window, frame): bit s is set when local speaker s speaks.

#include <cstdint>
#include <span>
#include <vector>

namespace diarist::timeline {

/// Activity bits of the seven powerset classes.
inline constexpr std::uint8_t kPowersetBits[7] = {0, 1, 2, 4, 3, 5, 6};

/// classes [n] -> activity [n].
void decode_classes(std::span<const std::uint8_t> classes, std::span<std::uint8_t> activity);

/// True when local speaker `speaker` is set in any of the window's 589 frames.
bool is_active(std::span<const std::uint8_t> window, int speaker) noexcept;

/// Frames in which only this speaker is set.
int clean_frames(std::span<const std::uint8_t> window, int speaker) noexcept;

/// Mask of one (window, speaker) for the embedding: the clean frames when there are more than two,
/// all frames of the speaker otherwise. mask: 589 values 0 or 1.
void embedding_mask(std::span<const std::uint8_t> window, int speaker, std::span<float> mask);

}  // namespace diarist::timeline
