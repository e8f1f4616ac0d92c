#pragma once
// Where 16 kHz mono samples come from: sequential, in blocks, memory constant in the length.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "diarist/audio.hpp"

namespace diarist::audio {

class Bytes;

struct SourceOptions {
  /// Resample like torchaudio's default windowed sinc (pipeline.md 2 and last section) instead of
  /// the high-quality resampler.
  bool reference = false;
  /// Track, channel, stretch and clock. With split_channels `channel` is the side, 1 or 2, and
  /// other than two channels are an error.
  AudioOptions audio = {};
  /// Reading ends with Error kCancelled soon after a request, also while the part of a recording
  /// before the stretch is passed over.
  std::stop_token stop = {};
};

/// \throws Error kInvalidArgument for options that contradict each other or lie outside.
void check_audio_options(const AudioOptions& options);

/// A recording read once from start to end. Not thread-safe.
class Source {
 public:
  virtual ~Source() = default;
  /// Fills `out` with the next samples; returns how many, 0 at the end. Short reads happen only at
  /// the end. NaN and infinite samples are passed on. \throws Error kBadFile.
  virtual std::size_t read(std::span<float> out) = 0;
  /// Length in 16 kHz samples as announced by the header, or 0 when unknown. A hint only.
  virtual std::int64_t expected_samples() const noexcept = 0;
  /// What a user should know: truncated data, odd headers, sides that cancel each other. Complete
  /// at the end.
  virtual const std::vector<std::string>& warnings() const noexcept = 0;
};

/// Opens a file, a pipe or, for "-", standard input: WAV and raw samples ourselves, others through
/// libsndfile, or FFmpeg for what it doesn't know. \throws Error kNotFound, kBadFile, kUnsupported.
std::unique_ptr<Source> open_file(const std::filesystem::path& file,
                                  const SourceOptions& options = {});

/// Decodes from bytes already at hand, as open_file() does. \throws Error kBadFile, kUnsupported.
std::unique_ptr<Source> open_encoded(std::unique_ptr<Bytes> bytes,
                                     const SourceOptions& options = {});

/// One recording for several sources. A pipe is copied to a temporary file first. Sources may be
/// opened from many threads and outlive the object.
class SharedFile {
 public:
  /// \throws what open_file() throws.
  explicit SharedFile(const std::filesystem::path& file, const std::stop_token& stop = {});
  ~SharedFile();
  std::unique_ptr<Source> open(const SourceOptions& options) const;

 private:
  std::unique_ptr<Bytes> bytes_;
};

/// "f32le:16000:1".
std::string raw_text(const RawFormat& raw);

/// What samples without a file can be. \throws Error kInvalidArgument.
void check_samples(int sample_rate, int channels, const AudioOptions& options);

/// Reads from memory; the samples must outlive the source.
std::unique_ptr<Source> open_memory(const AudioView& audio, const SourceOptions& options = {});

/// "libsndfile 1.2.0", "FFmpeg 59.37.100"; what this build can read with.
std::vector<std::string> reader_names();

}  // namespace diarist::audio
