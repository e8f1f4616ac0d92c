#include "pipeline/speech_pieces.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/error.hpp"
#include "pipeline/row_masks.hpp"
#include "pipeline/tape.hpp"
#include "timeline/grid.hpp"

namespace diarist::pipeline {
namespace {

using timeline::kChunkSamples;
using timeline::kFramesPerChunk;
using timeline::kSampleRate;

constexpr std::int64_t kFewestSamples =
    static_cast<std::int64_t>(Embedder::kShortest * kSampleRate);
constexpr std::int64_t kWindow = 400;  // samples of a log-mel row
constexpr std::int64_t kHop = 160;
constexpr std::int64_t kTolerance = kSampleRate / 100;  // times are often printed with two decimals

double seconds(std::int64_t samples) { return static_cast<double>(samples) / kSampleRate; }

// What messages call a span.
std::string name_of(std::span<const TimeSpan> spans, std::size_t i) {
  if (spans.empty()) return "the recording";
  return fmt::format("span {} ({:.3f} s to {:.3f} s)", i + 1, spans[i].start, spans[i].end);
}

void check_times(std::span<const TimeSpan> spans, std::size_t i, std::int64_t recording) {
  const TimeSpan& span = spans[i];
  // Anything beyond does not fit the arithmetic below; also refuses NaN.
  constexpr double kMostSeconds = 1e9;
  if (!(span.start >= 0 && span.end <= kMostSeconds && span.start < span.end))
    base::fail(ErrorCode::kInvalidArgument,
               "{}: a span needs 0 <= start < end; correct it or leave it out", name_of(spans, i));
  if (std::llround(span.start * kSampleRate) >= recording)
    base::fail(ErrorCode::kInvalidArgument,
               "{} begins after the end of the recording ({:.3f} s); do both belong together?",
               name_of(spans, i), seconds(recording));
}

}  // namespace

CutSpans cut_spans(std::span<const TimeSpan> spans, std::int64_t recording_samples) {
  CutSpans cut;
  const std::size_t count = spans.empty() ? 1 : spans.size();
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t first = 0, last = recording_samples;
    if (!spans.empty()) {
      check_times(spans, i, recording_samples);
      first = std::llround(spans[i].start * kSampleRate);
      last = std::llround(spans[i].end * kSampleRate);
      if (last > recording_samples + kTolerance)
        cut.warnings.push_back(
            fmt::format("{} ends after the recording; what is behind {:.3f} s is left out",
                        name_of(spans, i), seconds(recording_samples)));
      last = std::min(last, recording_samples);
    }
    const std::int64_t samples = last - first;
    if (samples < kFewestSamples)
      base::fail(ErrorCode::kInvalidArgument,
                 "{}: {:.3f} s of audio are too short for an embedding, which needs {} s; {}",
                 name_of(spans, i), seconds(samples), Embedder::kShortest,
                 spans.empty() ? "give a longer recording"
                               : "leave the span out or join it to its neighbour");
    const std::int64_t pieces = (samples + kChunkSamples - 1) / kChunkSamples;
    for (std::int64_t p = 0; p < pieces; ++p) {
      const std::int64_t from = samples * p / pieces;
      cut.pieces.push_back({first + from, samples * (p + 1) / pieces - from, i});
    }
  }
  return cut;
}

std::int64_t whole_rows(std::int64_t samples) noexcept {
  return samples < kWindow ? 0 : 1 + (samples - kWindow) / kHop;
}

std::int64_t mask_frames(std::int64_t rows) noexcept {
  return rows < 1 ? 0 : (rows - 1) * kFramesPerChunk / kRowsPerWindow + 1;
}

void remove_mean(std::span<float> rows, std::int64_t mean_rows) {
  std::array<double, kBands> mean{};
  for (std::int64_t t = 0; t < mean_rows; ++t)
    for (std::size_t b = 0; b < kBands; ++b)
      mean[b] += static_cast<double>(rows[static_cast<std::size_t>(t * kBands) + b]);
  for (double& band : mean) band /= static_cast<double>(mean_rows);
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] = static_cast<float>(static_cast<double>(rows[i]) - mean[i % kBands]);
}

}  // namespace diarist::pipeline
