#include "audio/intake.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "base/error.hpp"

namespace diarist::audio {

std::int64_t frames_in(double seconds, int rate) {
  constexpr double kMost = 1e15;
  return std::llround(std::min(seconds * rate, kMost));
}

Intake::Intake(IntakeOptions options)
    : options_(std::move(options)),
      mixer_({.channel = options_.audio.channel, .avoid_cancelling = !options_.reference}) {}

// Frames to be passed over and to be read, once the rate is known.
std::int64_t Intake::begin_at(int rate) {
  begun_ = true;
  stretch_rate_ = rate;
  skip_ = frames_in(options_.audio.from, rate);
  if (options_.audio.to) left_ = frames_in(*options_.audio.to, rate) - skip_;
  return skip_;
}

void Intake::push(const Block& block, std::vector<float>& ready) {
  if (resampler_ != nullptr && (block.sample_rate != rate_ || block.channels != channels_))
    finish_part(ready);
  if (resampler_ == nullptr) {
    check_channels(block.channels);
    rate_ = block.sample_rate;
    channels_ = block.channels;
    resampler_ = make_resampler(rate_, options_.reference);
  }
  const Block part = cut(block);
  if (part.samples.empty()) return;
  mono_.clear();
  mixer_.push(part.samples, part.channels, part.sample_rate, mono_);
  resampler_->push(mono_, ready);
}

void Intake::finish(std::vector<float>& ready) {
  if (resampler_ != nullptr) finish_part(ready);
  const std::string sides = mixer_.warning();
  if (!sides.empty()) warnings_.push_back(fmt::format("{}: {}", options_.name, sides));
  if (skip_ > 0 || (options_.audio.from > 0 && rate_ == 0)) {
    warnings_.push_back(fmt::format("{}: ends before {:.3f} s, where the stretch asked for begins",
                                    options_.name, options_.audio.from));
  }
}

void Intake::check_channels(int channels) const {
  const AudioOptions& audio = options_.audio;
  if (audio.split_channels && channels != 2) {
    base::fail(options_.wrong_channels,
               "{}: has {} channel{}; splitting channels needs two, with one speaker or group on "
               "each",
               options_.name, channels, channels == 1 ? "" : "s");
  }
  if (audio.channel > channels) {
    base::fail(options_.wrong_channels, "{}: has {} channel{}, no number {}", options_.name,
               channels, channels == 1 ? "" : "s", audio.channel);
  }
}

// The part of a block that lies in the stretch asked for.
Block Intake::cut(Block block) {
  if (!begun_) begin_at(block.sample_rate);
  if (block.sample_rate != stretch_rate_) {  // what is left of the stretch, in other frames
    const auto convert = [&](std::int64_t frames) {
      return frames_in(static_cast<double>(frames) / stretch_rate_, block.sample_rate);
    };
    skip_ = convert(skip_);
    if (left_ != kNoLimit) left_ = convert(left_);
    stretch_rate_ = block.sample_rate;
  }
  const auto width = static_cast<std::size_t>(block.channels);
  const auto frames = static_cast<std::int64_t>(block.samples.size() / width);
  const std::int64_t passed = std::min(skip_, frames);
  const std::int64_t count = std::min(frames - passed, left_);
  skip_ -= passed;
  if (left_ != kNoLimit) left_ -= count;
  block.samples = block.samples.subspan(static_cast<std::size_t>(passed) * width,
                                        static_cast<std::size_t>(count) * width);
  return block;
}

// Before another rate or number of channels, and at the end.
void Intake::finish_part(std::vector<float>& ready) {
  mono_.clear();
  mixer_.finish(mono_);
  resampler_->push(mono_, ready);
  resampler_->finish(ready);
  resampler_.reset();
}

}  // namespace diarist::audio
