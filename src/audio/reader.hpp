#pragma once
// What every decoder looks like from outside: blocks of interleaved samples at the file's own rate.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "audio/bytes.hpp"
#include "diarist/audio.hpp"

namespace diarist::audio {

/// Sampling rates that are taken for real, in Hz; others come from damaged headers.
constexpr int kMinSampleRate = 1000;
constexpr int kMaxSampleRate = 1'536'000;
constexpr int kMaxChannels = 1024;

/// Frames of interleaved samples, valid until the reader is asked again. No samples: the end.
struct Block {
  std::span<const float> samples;  // frames * channels
  int channels = 1;
  int sample_rate = 16000;
};

/// Decodes one recording from start to end. Rate and channels may change between blocks (some
/// broadcast streams do). Not thread-safe.
class Reader {
 public:
  virtual ~Reader() = default;
  /// \throws Error kBadFile.
  virtual Block next() = 0;
  /// Before the first next(): passes over so many frames without decoding them. Returns how many:
  /// fewer, even none, where decoding is the only way, and at the end.
  virtual std::int64_t skip(std::int64_t frames) {
    static_cast<void>(frames);
    return 0;
  }
  /// Frames the header announces and their rate in Hz; 0 when unknown.
  virtual std::int64_t expected_frames() const noexcept = 0;
  virtual int expected_rate() const noexcept = 0;
  const std::vector<std::string>& warnings() const noexcept { return warnings_; }

 protected:
  std::vector<std::string> warnings_;
};

/// Frames per block, so that a block has at most 2^16 samples.
constexpr std::size_t block_frames(int channels) {
  return channels < 65536 ? 65536u / static_cast<unsigned>(channels) : 1u;
}

/// Tries the readers in the order WAV, libsndfile, FFmpeg; raw samples, track and clock are taken
/// from the options. The bytes must outlive the reader. \throws Error kBadFile (also for a track
/// that is not there), kUnsupported.
std::unique_ptr<Reader> open_reader(Bytes& bytes, const AudioOptions& options = {});

/// Whether a pipe with these bytes must become a file before a reader of this build can take it.
bool needs_seeking(Bytes& bytes);

/// Rate and channels that no real recording has end here. \throws Error kBadFile.
void check_format(const Bytes& bytes, std::int64_t sample_rate, std::int64_t channels);

}  // namespace diarist::audio
