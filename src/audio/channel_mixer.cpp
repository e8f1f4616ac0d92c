#include "audio/channel_mixer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "audio/downmix.hpp"

namespace diarist::audio {
namespace {

constexpr double kEnter = -0.8;  // correlation of the sides
constexpr double kLeave = -0.4;
constexpr double kCancelled = 0.25;   // power of the mean over that of the half difference
constexpr double kSilence = 1e-8;     // mean square
constexpr double kLouder = 1.258925;  // 1 dB
constexpr int kFadesPerSecond = 100;

}  // namespace

void ChannelMixer::push(std::span<const float> samples, int channels, int sample_rate,
                        std::vector<float>& mono) {
  const auto width = static_cast<std::size_t>(channels);
  if (options_.channel > 0) {
    const auto wanted = static_cast<std::size_t>(options_.channel - 1);
    for (std::size_t i = wanted; i < samples.size(); i += width) mono.push_back(samples[i]);
    return;
  }
  if (channels != 2) {
    downmix(samples, channels, held_);
    mono.insert(mono.end(), held_.begin(), held_.end());
    held_.clear();
    return;
  }
  rate_ = sample_rate;
  held_.insert(held_.end(), samples.begin(), samples.end());
  const std::size_t stretch = 2 * static_cast<std::size_t>(sample_rate);
  std::size_t done = 0;
  for (; held_.size() - done >= stretch; done += stretch) {
    release(std::span<const float>(held_).subspan(done, stretch), mono);
  }
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(done));
}

void ChannelMixer::finish(std::vector<float>& mono) {
  if (!held_.empty()) release(held_, mono);
  held_.clear();
}

void ChannelMixer::judge(std::span<const float> stretch) {
  double left = 0;
  double right = 0;
  double both = 0;
  for (std::size_t i = 0; i + 1 < stretch.size(); i += 2) {
    const double l = static_cast<double>(stretch[i]);
    const double r = static_cast<double>(stretch[i + 1]);
    left += l * l;
    right += r * r;
    both += l * r;
  }
  const std::size_t whole = stretch.size() / 2;
  const auto frames = static_cast<double>(whole);
  seconds_ += frames / rate_;
  // Comparisons with NaN are false: such a stretch changes nothing either.
  if (left + right > 2 * kSilence * frames && std::isfinite(left + right)) {
    const double scale = std::sqrt(left * right);
    const double correlation = scale > 0 ? both / scale : 0;
    const bool cancels =
        left + right + 2 * both < kCancelled * (left + right - 2 * both) && correlation < kEnter;
    if (cancels && !side_known_) {
      side_known_ = true;
      use_right_ = right > kLouder * left;
    }
    inverted_ = cancels || (inverted_ && correlation <= kLeave);
  }
  if (inverted_) inverted_seconds_ += frames / rate_;
}

void ChannelMixer::release(std::span<const float> stretch, std::vector<float>& mono) {
  judge(stretch);
  Weights wanted;
  if (inverted_ && options_.avoid_cancelling) {
    wanted = use_right_ ? Weights{0, 1} : Weights{1, 0};
  }
  const std::size_t start = mono.size();
  const std::size_t frames = stretch.size() / 2;
  std::size_t done = 0;
  if (wanted != weights_ && seconds_ * rate_ > static_cast<double>(frames)) {
    const std::size_t fade =
        std::min(frames, static_cast<std::size_t>(std::max(1, rate_ / kFadesPerSecond)));
    for (; done < fade; ++done) {
      const float part = static_cast<float>(done + 1) / static_cast<float>(fade);
      mono.push_back(stretch[2 * done] * (weights_.left + part * (wanted.left - weights_.left)) +
                     stretch[2 * done + 1] *
                         (weights_.right + part * (wanted.right - weights_.right)));
    }
  }
  weights_ = wanted;
  mono.resize(start + frames);
  float* const out = mono.data() + start;
  if (wanted == Weights{}) {
    for (; done < frames; ++done) out[done] = (stretch[2 * done] + stretch[2 * done + 1]) / 2.0F;
  } else {
    const std::size_t side = use_right_ ? 1 : 0;
    for (; done < frames; ++done) out[done] = stretch[2 * done + side];
  }
}

std::string ChannelMixer::warning() const {
  if (inverted_seconds_ <= 0) return {};
  const std::string what = fmt::format(
      "left and right are phase-inverted copies of each other in {:.1f} of {:.1f} s and cancel "
      "each other in a mix",
      inverted_seconds_, seconds_);
  if (!options_.avoid_cancelling) return what + "; the reference mixes them all the same";
  return fmt::format("{}; the {} side alone is used there", what, use_right_ ? "right" : "left");
}

}  // namespace diarist::audio
