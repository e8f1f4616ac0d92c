#include "timeline/grid.hpp"

#include <cmath>
#include <limits>

#include "base/error.hpp"

namespace diarist::timeline {
namespace {

// Index of the frame whose middle is nearest to a time in seconds, halves to even. The grid starts
// at 0, so the term for its start is left out (it would not change a bit).
int nearest_frame(double seconds) {
  return static_cast<int>(std::nearbyint((seconds - 0.5 * kFrameDuration) / kFrameStep));
}

void check_step(int step_samples) {
  if (step_samples < 1 || step_samples > kChunkSamples)
    base::fail(ErrorCode::kInvalidArgument,
               "window step of {} samples; it must lie between 1 and {}", step_samples,
               kChunkSamples);
}

void check_chunks(std::int64_t chunks, int step_samples) {
  // Frame numbers stay below 2^31 (more than a year of audio).
  const double last = 10.0 + static_cast<double>(chunks) * step_samples / kSampleRate;
  if (chunks < 0 || last / kFrameStep > std::numeric_limits<int>::max() - 1000.0)
    base::fail(ErrorCode::kInvalidArgument, "{} windows; the recording is too long: cut it",
               chunks);
}

}  // namespace

Grid::Grid(std::int64_t samples, int step_samples) : step_samples_(step_samples) {
  check_step(step_samples);
  if (samples < 0) base::fail(ErrorCode::kInvalidArgument, "{} samples of audio", samples);
  std::int64_t chunks = samples == 0 ? 0 : 1;
  if (samples > kChunkSamples) {
    const std::int64_t rest = samples - kChunkSamples;
    chunks += rest / step_samples + (rest % step_samples != 0 ? 1 : 0);
  }
  check_chunks(chunks, step_samples);
  chunks_ = static_cast<int>(chunks);
}

Grid Grid::of_chunks(int chunks, int step_samples) {
  check_step(step_samples);
  check_chunks(chunks, step_samples);
  Grid grid;
  grid.chunks_ = chunks;
  grid.step_samples_ = step_samples;
  return grid;
}

std::int64_t Grid::first_sample(int chunk) const noexcept {
  return static_cast<std::int64_t>(chunk) * step_samples_;
}

int Grid::first_frame(int chunk) const noexcept {
  const double step = static_cast<double>(step_samples_) / kSampleRate;
  return nearest_frame(chunk * step + 0.5 * kFrameDuration);
}

int Grid::frames() const noexcept {
  if (chunks_ == 0) return 0;
  const double step = static_cast<double>(step_samples_) / kSampleRate;
  const double length = static_cast<double>(kChunkSamples) / kSampleRate;
  return nearest_frame(length + (chunks_ - 1) * step + 0.5 * kFrameDuration) + 1;
}

double Grid::middle(int frame) noexcept {
  const double start = frame * kFrameStep;
  const double end = start + kFrameDuration;
  return 0.5 * (start + end);
}

}  // namespace diarist::timeline
