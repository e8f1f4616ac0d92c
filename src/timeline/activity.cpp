#include "timeline/activity.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "timeline/grid.hpp"

namespace diarist::timeline {
namespace {

// A mask with at most this many clean frames is replaced by all frames of the speaker:
// ceil(589 * 400 / 160000), the frames of the shortest input the log-mel front end accepts.
constexpr int kLeastCleanFrames = 2;

std::uint8_t bit_of(int speaker) { return static_cast<std::uint8_t>(1u << speaker); }

}  // namespace

void decode_classes(std::span<const std::uint8_t> classes, std::span<std::uint8_t> activity) {
  if (classes.size() != activity.size())
    base::fail(ErrorCode::kInvalidArgument, "{} powerset classes for {} activity values",
               classes.size(), activity.size());
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i] >= std::size(kPowersetBits))
      base::fail(ErrorCode::kInvalidArgument, "powerset class {} at frame {}; there are 7",
                 classes[i], i);
    activity[i] = kPowersetBits[classes[i]];
  }
}

bool is_active(std::span<const std::uint8_t> window, int speaker) noexcept {
  const std::uint8_t bit = bit_of(speaker);
  return std::any_of(window.begin(), window.end(),
                     [bit](std::uint8_t bits) { return (bits & bit) != 0; });
}

int clean_frames(std::span<const std::uint8_t> window, int speaker) noexcept {
  return static_cast<int>(std::count(window.begin(), window.end(), bit_of(speaker)));
}

void embedding_mask(std::span<const std::uint8_t> window, int speaker, std::span<float> mask) {
  if (window.size() != mask.size())
    base::fail(ErrorCode::kInvalidArgument, "a mask of {} values for a window of {} frames",
               mask.size(), window.size());
  const std::uint8_t bit = bit_of(speaker);
  const bool clean = clean_frames(window, speaker) > kLeastCleanFrames;
  for (std::size_t i = 0; i < window.size(); ++i)
    mask[i] = (clean ? window[i] == bit : (window[i] & bit) != 0) ? 1.0f : 0.0f;
}

}  // namespace diarist::timeline
