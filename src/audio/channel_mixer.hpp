#pragma once
// From a recording's channels to one, with an eye on sides that cancel each other.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace diarist::audio {

struct MixerOptions {
  int channel = 0;  ///< only this one, from 1; 0: the mean of all
  /// Where the two sides of a stereo recording are inverted copies of each other, use one of them.
  /// Otherwise they are mixed all the same, and only reported.
  bool avoid_cancelling = true;
};

/// Mixes a stream of one rate and number of channels. Stereo is judged in stretches of one second,
/// so up to that much is held back until finish().
///
/// A stretch is inverted when the correlation of its sides is under -0.8 and their mean has less
/// than a quarter of the power of their half difference; that state ends with the first stretch
/// whose correlation is over -0.4. Stretches under -80 dB say nothing. The side used is the left
/// one, or the right one when it is more than 1 dB louder where inversion is first met. Changes
/// between side and mean are faded over 10 ms.
class ChannelMixer {
 public:
  explicit ChannelMixer(const MixerOptions& options) : options_(options) {}

  /// Appends what is ready to `mono`. \pre channels >= options.channel.
  void push(std::span<const float> samples, int channels, int sample_rate,
            std::vector<float>& mono);
  /// Appends what was held back; before the rate or the number of channels changes, and at the end.
  void finish(std::vector<float>& mono);

  /// What a user should know of the sides, or an empty text.
  std::string warning() const;

 private:
  struct Weights {
    float left = 0.5F;
    float right = 0.5F;
    bool operator==(const Weights&) const = default;
  };

  void release(std::span<const float> stretch, std::vector<float>& mono);
  void judge(std::span<const float> stretch);

  MixerOptions options_;
  std::vector<float> held_;  // interleaved stereo; scratch for other numbers of channels
  int rate_ = 0;             // of held_
  bool inverted_ = false;
  bool side_known_ = false;
  bool use_right_ = false;
  Weights weights_;     // at the end of what was given out
  double seconds_ = 0;  // judged
  double inverted_seconds_ = 0;
};

}  // namespace diarist::audio
