#pragma once
/// \file
/// Audio handed over in memory, and how a recording is to be read.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "diarist/export.hpp"

namespace diarist {

/// Samples that stay the caller's; nothing is copied before the down-mix. They are given in one of
/// `samples` and `pcm16`, not in both.
struct AudioView {
  /// frames * channels values in [-1, 1]; larger ones are not clipped.
  std::span<const float> samples;
  int sample_rate = 16000;  ///< in Hz
  int channels = 1;         ///< mixed to mono by their arithmetic mean
  /// Or frames * channels 16-bit samples, each of which counts as value / 32768.
  std::span<const std::int16_t> pcm16 = {};
  /// Channel after channel, as arrays of shape [channels, frames] are; false: frame after frame.
  bool planar = false;
};

/// How samples without a header are encoded.
enum class SampleFormat { kS16Le, kS16Be, kU8, kS24Le, kS32Le, kF32Le, kF64Le, kMuLaw, kALaw };

/// Samples without a header, interleaved.
struct RawFormat {
  SampleFormat format = SampleFormat::kS16Le;
  int sample_rate = 16000;  ///< in Hz
  int channels = 1;
};

/// "f32le:16000:1": one of s16le, s16be, u8, s24le, s32le, f32le, f64le, mulaw, alaw, then the
/// rate in Hz (1000 to 1536000) and the number of channels (1 to 1024).
/// \throws Error kInvalidArgument that tells what may stand there.
DIARIST_API RawFormat parse_raw_format(std::string_view text);

/// How recordings are read (docs/audio.md). Times are seconds from the start of the recording.
struct AudioOptions {
  /// The bytes are samples without a header; unset: the format is told by the content.
  std::optional<RawFormat> raw = {};
  int track = 0;    ///< sound track of a container, from 1; 0: the one FFmpeg thinks is the main
  int channel = 0;  ///< use this channel only, from 1; 0: the mean of all
  /// Diarize left and right apart, leave out what leaks from one side to the other, and name the
  /// speakers LEFT_00, RIGHT_00, ... Recordings of other than two channels are an error.
  bool split_channels = false;
  double from = 0;                ///< where to begin; turn times stay those of the whole recording
  std::optional<double> to = {};  ///< where to end; unset: at the end
  /// Place sound where the container's time stamps say, with silence before a late start and in
  /// gaps. Otherwise decoded samples are counted.
  bool container_clock = false;
};

}  // namespace diarist
