#pragma once
/// \file
/// The first network as an object of its own: audio in, who speaks in every frame of a window out.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "diarist/audio.hpp"
#include "diarist/export.hpp"
#include "diarist/run_control.hpp"

namespace diarist {

/// What a Segmenter is made of. The members are those of DiarizerOptions.
struct SegmenterOptions {
  std::string preset;  ///< its segmentation network; empty: that of the best installed preset
  std::filesystem::path models;
  std::string device = "cpu";  ///< "cpu", "reference", "cuda" (the first GPU) or "cuda:N"
  int threads = 0;
  int batch = 0;       ///< windows per batch; 0: chosen by the backend. Never changes a result
  std::string target;  ///< force a CPU instruction set by name; empty: the best
  bool allow_unknown_weights = false;
};

/// How a recording is cut into windows.
struct SegmentOptions {
  int step_seconds = 1;     ///< seconds between windows: 1, 2 or 5
  bool reference = false;   ///< resample as RunOptions::reference does; bad windows are silent
  AudioOptions audio = {};  ///< which part of the recording, and how it is read; no split_channels
};

/// Who speaks in windows of 10 s. Speakers are local: number 0 of one window need not be number 0
/// of the next.
struct Segmentation {
  static constexpr int kFrames = 589;  ///< of a window
  static constexpr int kSpeakers = 3;  ///< at most two of them at a time
  static constexpr int kWindowSeconds = 10;

  int windows = 0;                     ///< C
  int step_seconds = 1;                ///< window c starts at c * step_seconds
  double duration = 0;                 ///< seconds of audio; the last window is padded with silence
  std::vector<std::uint8_t> activity;  ///< [C, 589]; bit s is set where local speaker s speaks
  std::vector<std::string> warnings;

  /// Middle of a window's frame, in seconds from the first sample that was read.
  DIARIST_API double time_of(int window, int frame) const noexcept;
  bool speaks(int window, int frame, int speaker) const noexcept {
    const auto at = static_cast<std::size_t>(window) * kFrames + static_cast<std::size_t>(frame);
    return ((activity[at] >> speaker) & 1) != 0;
  }
};

/// The segmentation network on one device, immutable. Safe to use from many threads. Its numbers
/// are those of Diarizer::run() with the same options, byte for byte (StageResults::activity).
///
///     diarist::Segmenter segmenter({.preset = "open"});
///     diarist::Segmentation windows = segmenter.run("meeting.wav");
class DIARIST_API Segmenter {
 public:
  /// Loads and checks the models. \throws Error kBadModel, kNotFound, kInvalidArgument, ...
  explicit Segmenter(const SegmenterOptions& options);
  ~Segmenter();
  Segmenter(Segmenter&&) noexcept;
  Segmenter& operator=(Segmenter&&) noexcept;

  /// \throws Error kNotFound, kBadFile, kInvalidArgument, kCancelled, ...
  Segmentation run(const std::filesystem::path& file, const SegmentOptions& options = {},
                   const RunControl& control = {}) const;
  /// Audio in memory. No samples at all give no windows.
  Segmentation run(const AudioView& audio, const SegmentOptions& options = {},
                   const RunControl& control = {}) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace diarist
