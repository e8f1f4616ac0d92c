#include "pipeline/session.hpp"

#include <algorithm>

#include "base/run_control.hpp"
#include "pipeline/stopwatch.hpp"
#include "timeline/grid.hpp"

namespace diarist::pipeline {
namespace {

using timeline::kChunkSamples;
using timeline::kFramesPerChunk;
using timeline::kLocalSpeakers;

int strip_seconds(const SessionOptions& options) {
  return (options.windows - 1) * options.step_seconds + kChunkSamples / static_cast<int>(kSecond);
}

model::Graph features_of(const model::Preset& preset) {
  return preset.embedding_kind == "campplus" ? model::campplus_features()
                                             : model::wespeaker_features();
}

}  // namespace

Session::Session(backend::Backend& backend, const model::Bundle& bundle,
                 const model::Preset& preset, const SessionOptions& options)
    : options_(options),
      queue_(backend.make_queue()),
      strip_(backend, *queue_, model::sinc_front_end(bundle.segmentation), features_of(preset),
             strip_seconds(options)),
      // Decisions are hard, so segmentation is exact in every mode (pipeline.md 17).
      segmenter_(backend, *queue_,
                 model::segmentation_network(bundle.segmentation).with_outputs({"classes"}),
                 options.windows, Precision::kExact),
      embedder_(make_pair_embedder(backend, *queue_, preset, bundle.embedding, options.windows,
                                   options.precision)),
      block_(static_cast<std::size_t>(kSecond)) {}

void Session::fill_strip(SampleFeed& feed) {
  while (strip_.room() > 0 && !feed.exhausted()) {
    const std::size_t wanted =
        static_cast<std::size_t>(std::min<std::int64_t>(strip_.room(), kSecond));
    const std::size_t count = feed.take(std::span(block_).first(wanted));
    strip_.append(std::span<const float>(block_).first(count));
  }
}

NetworkResult Session::run(audio::Source& source, bool silence_bad_windows,
                           const RunControl& control, StageTimings& timings) {
  const std::int64_t step = options_.step_seconds * kSecond;
  SampleFeed feed(source);
  NetworkResult result;
  strip_.restart();
  embedder_->restart();
  for (;;) {
    base::check_stop(control.stop);
    fill_strip(feed);
    const std::int64_t first = result.chunks * step;
    bool last = false;
    int windows = 0;
    if (feed.exhausted()) {
      const int total = timeline::Grid(feed.taken(), static_cast<int>(step)).chunks();
      windows = std::min(total - result.chunks, options_.windows);
      last = result.chunks + windows == total;
      if (windows <= 0) break;
      strip_.pad_to(first + (windows - 1) * step + kChunkSamples);
    } else {
      windows = static_cast<int>((strip_.end() - first - kChunkSamples) / step) + 1;
    }
    process(result, feed, windows, last, silence_bad_windows, control, timings);
    if (control.progress)
      control.progress({.stage = "networks",
                        .done_seconds = static_cast<double>(std::min(result.chunks * step + kSecond,
                                                                     feed.taken())) /
                                        kSecond,
                        .total_seconds = static_cast<double>(source.expected_samples()) / kSecond});
    if (last) break;
    strip_.drop_before(result.chunks * step);
  }
  result.samples = feed.taken();
  result.bad_samples = feed.bad_count();
  timings.decode += feed.seconds_reading();
  return result;
}

void Session::process(NetworkResult& result, const SampleFeed& feed, int windows, bool last,
                      bool silence_bad_windows, const RunControl& control, StageTimings& timings) {
  const std::int64_t step = options_.step_seconds * kSecond;
  const int first_chunk = result.chunks;
  {
    const Stopwatch watch(timings.features);
    strip_.compute(control.stop);
    if (embedder_->checks_turns()) {
      // The rows of the last second are complete only when nothing follows.
      const std::int64_t kept = static_cast<std::int64_t>(result.log_mel.size()) / kBands;
      const std::int64_t rows = strip_.begin() / kSecond * kMelPerSecond + strip_.log_mel_rows();
      const std::int64_t end = last ? rows : rows / kMelPerSecond * kMelPerSecond;
      if (end > kept) {
        result.log_mel.resize(static_cast<std::size_t>(end * kBands));
        strip_.read_log_mel(
            kept, std::span(result.log_mel).subspan(static_cast<std::size_t>(kept * kBands)));
      }
    }
  }
  result.chunks += windows;
  result.activity.resize(static_cast<std::size_t>(result.chunks) * kFramesPerChunk);
  {
    const Stopwatch watch(timings.segmentation);
    segmenter_.run(
        strip_, first_chunk * step, step, windows,
        std::span(result.activity).subspan(static_cast<std::size_t>(first_chunk) * kFramesPerChunk),
        control.stop);
  }
  if (silence_bad_windows) {
    for (int chunk = first_chunk; chunk < result.chunks; ++chunk)
      if (feed.bad_in(chunk * step, chunk * step + kChunkSamples))
        std::fill_n(result.activity.begin() + std::ptrdiff_t{chunk} * kFramesPerChunk,
                    kFramesPerChunk, std::uint8_t{0});
  }
  const Stopwatch watch(timings.embedding);
  result.embeddings.resize(static_cast<std::size_t>(result.chunks) * kLocalSpeakers *
                           static_cast<std::size_t>(embedder_->dim()));
  embedder_->embed({.strip = strip_,
                    .first_chunk = first_chunk,
                    .chunks = windows,
                    .step_seconds = options_.step_seconds,
                    .last = last,
                    .activity = result.activity,
                    .embeddings = result.embeddings,
                    .stop = control.stop});
}

}  // namespace diarist::pipeline
