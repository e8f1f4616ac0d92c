#include "pipeline/stream_store.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/error.hpp"
#include "timeline/grid.hpp"

namespace diarist::pipeline {
namespace {

using timeline::kChunkSamples;
using timeline::kFramesPerChunk;

// Of one part: half a second of work, and a snapshot or a stop waits no longer for it.
constexpr std::int64_t kMostWindows = 32;

std::int64_t bad_in(std::span<const float> samples) {
  return std::count_if(samples.begin(), samples.end(),
                       [](float sample) { return !std::isfinite(sample); });
}

void add_peaks(std::span<const float> samples, WaveformPeaks& peaks) {
  std::vector<float> clean(samples.begin(), samples.end());
  std::replace_if(
      clean.begin(), clean.end(), [](float sample) { return !std::isfinite(sample); }, 0.0F);
  peaks.add(clean);
}

// The first windows of `from`, which begin with sample `first` of `to`.
void add_windows(const NetworkResult& from, int windows, std::int64_t first, NetworkResult& to) {
  const std::size_t count = static_cast<std::size_t>(windows);
  const std::size_t vectors = from.embeddings.size() / static_cast<std::size_t>(from.chunks);
  const auto append = [](const auto& values, std::size_t part, auto& target) {
    target.insert(target.end(), values.begin(), values.begin() + static_cast<std::ptrdiff_t>(part));
  };
  append(from.activity, count * kFramesPerChunk, to.activity);
  append(from.embeddings, count * vectors, to.embeddings);
  to.chunks += windows;
  if (from.log_mel.rows() > 0)  // the preset checks turns
    to.log_mel.append_from(from.log_mel, to.log_mel.rows() - first / kSecond * kMelPerSecond);
}

}  // namespace

StreamStore::StreamStore(int step_seconds, int block_seconds, bool keep_waveform)
    : step_(step_seconds * kSecond),
      block_windows_(block_seconds / step_seconds),
      keep_waveform_(keep_waveform) {}

void StreamStore::append(std::span<const float> samples) {
  held_.insert(held_.end(), samples.begin(), samples.end());
}

std::int64_t StreamStore::seen() const noexcept {
  if (first_ == 0) return 0;
  return std::min(heard(), first_ + kChunkSamples - (block_windows_ > 0 ? 0 : step_));
}

StreamPart StreamStore::next(std::int64_t heard) const noexcept {
  if (heard - first_ < kChunkSamples) return {};
  const std::int64_t whole = std::min((heard - first_ - kChunkSamples) / step_ + 1, kMostWindows);
  const std::int64_t settled =
      block_windows_ > 0 ? (whole - 1) / block_windows_ * block_windows_ : whole;
  if (settled == 0) return {};
  const std::int64_t windows = block_windows_ > 0 ? settled + 1 : settled;
  return {.first = first_,
          .count = (windows - 1) * step_ + kChunkSamples,
          .settled = static_cast<int>(settled)};
}

std::span<const float> StreamStore::samples(const StreamPart& part) const {
  return std::span(held_).subspan(static_cast<std::size_t>(part.first - first_),
                                  static_cast<std::size_t>(part.count));
}

void StreamStore::settle(const StreamPart& part, const Recording& heard) {
  add_windows(heard.result, part.settled, part.first, result_);
  timings_ += heard.timings;
  const auto done = static_cast<std::size_t>(part.settled * step_);
  const auto passed = std::span<const float>(held_).first(done);
  bad_ += bad_in(passed);
  if (keep_waveform_) add_peaks(passed, peaks_);
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(done));
  first_ += static_cast<std::int64_t>(done);
}

StreamView StreamStore::view(std::int64_t end) const {
  end = std::max(end, seen());
  StreamView view;
  view.settled_rows = result_.log_mel.rows();
  Recording& recording = view.recording;
  recording.result = result_;
  recording.timings = timings_;
  recording.result.samples = end;
  const auto rest = std::span(held_).first(static_cast<std::size_t>(end - first_));
  recording.result.bad_samples = bad_ + bad_in(rest);
  if (keep_waveform_) {
    WaveformPeaks peaks = peaks_;
    add_peaks(rest, peaks);
    recording.result.waveform = std::make_shared<const Waveform>(peaks.finish());
  }
  if (timeline::Grid(end, static_cast<int>(step_)).chunks() > result_.chunks)
    view.tail.assign(rest.begin(), rest.end());
  return view;
}

void StreamStore::clear() {
  first_ = heard();
  held_ = {};
  result_ = {};
  peaks_ = {};
}

void add_tail(const Recording& tail, Recording& whole) {
  const std::int64_t first = whole.result.samples - tail.result.samples;
  add_windows(tail.result, tail.result.chunks, first, whole.result);
  whole.timings += tail.timings;
}

}  // namespace diarist::pipeline
