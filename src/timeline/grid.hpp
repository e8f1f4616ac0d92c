#pragma once
// The only code that converts between samples, frames, windows and seconds (pipeline.md 3, 4).

#include <cstdint>

namespace diarist::timeline {

inline constexpr int kSampleRate = 16000;
inline constexpr int kChunkSamples = 160000;
inline constexpr int kFramesPerChunk = 589;
inline constexpr int kLocalSpeakers = 3;
inline constexpr double kFrameStep = 270.0 / 16000.0;
inline constexpr double kFrameDuration = 991.0 / 16000.0;

/// Windows and output frames of one recording. A value.
class Grid {
 public:
  /// \param step_samples distance of windows; 16000 is the reference.
  explicit Grid(std::int64_t samples, int step_samples = kSampleRate);
  /// A grid for a known number of windows (captured stages).
  static Grid of_chunks(int chunks, int step_samples = kSampleRate);

  int chunks() const noexcept { return chunks_; }  // 0 only for 0 samples
  int step_samples() const noexcept { return step_samples_; }
  std::int64_t first_sample(int chunk) const noexcept;  // of a window
  int first_frame(int chunk) const noexcept;            // output frame of its local frame 0
  int frames() const noexcept;                          // N
  /// Middle of an output frame in seconds, in the f64 order of pipeline.md 4.
  static double middle(int frame) noexcept;

 private:
  Grid() = default;
  int chunks_ = 0;
  int step_samples_ = kSampleRate;
};

}  // namespace diarist::timeline
