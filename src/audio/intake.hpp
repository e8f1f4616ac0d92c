#pragma once
// From decoded blocks of any rate and number of channels to 16 kHz mono: what readers that are
// asked and callers who push have in common.

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "audio/channel_mixer.hpp"
#include "audio/reader.hpp"
#include "audio/resampler.hpp"
#include "diarist/audio.hpp"
#include "diarist/error.hpp"

namespace diarist::audio {

struct IntakeOptions {
  std::string name;  ///< of the recording, in messages
  /// Of errors for a recording that has not the channels asked for.
  ErrorCode wrong_channels = ErrorCode::kBadFile;
  bool reference = false;  ///< as in SourceOptions
  AudioOptions audio = {};
};

/// One recording's blocks, in order. The cut into blocks does not change what comes out. Not
/// thread-safe.
class Intake {
 public:
  explicit Intake(IntakeOptions options);

  /// \throws Error for options that ask for channels that are not there.
  void check_channels(int channels) const;
  /// Says the rate before the first block is there. Returns the frames in front of the stretch
  /// asked for: a reader that passes over some of them says so with passed().
  std::int64_t begin_at(int rate);
  void passed(std::int64_t frames) { skip_ -= frames; }

  /// True when nothing behind the last block is of interest.
  bool full() const noexcept { return left_ == 0; }
  /// Takes the next block and appends what is ready at 16 kHz. \throws Error for channels that are
  /// not there.
  void push(const Block& block, std::vector<float>& ready);
  /// Appends the rest. Nothing may be pushed afterwards.
  void finish(std::vector<float>& ready);
  /// After finish(): sides that cancel each other, a stretch that was not reached.
  const std::vector<std::string>& warnings() const noexcept { return warnings_; }

 private:
  Block cut(Block block);
  void finish_part(std::vector<float>& ready);

  static constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

  IntakeOptions options_;
  ChannelMixer mixer_;
  std::unique_ptr<Resampler> resampler_;  // for rate_ and channels_
  int rate_ = 0;
  int channels_ = 0;
  bool begun_ = false;            // the next three are set
  int stretch_rate_ = 0;          // of the frames they count
  std::int64_t skip_ = 0;         // frames still to be passed over
  std::int64_t left_ = kNoLimit;  // frames still to be read
  std::vector<std::string> warnings_;
  std::vector<float> mono_;  // a block at its own rate
};

/// Seconds as frames; numbers that fit into no recording become the largest.
std::int64_t frames_in(double seconds, int rate);

}  // namespace diarist::audio
