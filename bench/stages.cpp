#include "stages.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "audio/bytes.hpp"
#include "audio/downmix.hpp"
#include "audio/resampler.hpp"
#include "audio/wav_reader.hpp"
#include "base/error.hpp"
#include "cluster/linkage.hpp"
#include "cluster/vbx.hpp"
#include "diarist/formats.hpp"
#include "pipeline/finish.hpp"
#include "timeline/activity.hpp"
#include "timeline/aggregate.hpp"
#include "timeline/turns.hpp"

namespace diarist::bench {
namespace {

std::shared_ptr<const cluster::Plda> random_plda() {
  constexpr int kEmbedding = 256;
  constexpr int kFeatures = 128;
  Draws draws(21);
  const auto doubles = [&](std::int64_t count, double scale) {
    const std::vector<float> values = draws.numbers(count, scale);
    return std::vector<double>(values.begin(), values.end());
  };
  auto plda = std::make_shared<cluster::Plda>();
  plda->mean1 = doubles(kEmbedding, 0.01);
  plda->lda = doubles(std::int64_t{kEmbedding} * kFeatures, 0.1);
  plda->mean2 = doubles(kFeatures, 0.01);
  plda->mu = doubles(kFeatures, 0.01);
  plda->tr = doubles(std::int64_t{kFeatures} * kFeatures, std::sqrt(3.0 / kFeatures));
  for (int d = 0; d < kFeatures; ++d) plda->psi.push_back(8.0 / (1 + d));
  plda->check_and_sort();
  return plda;
}

Diarization finished(const Conversation& talk) {
  Diarization result;
  result.uri = "fixed";
  result.duration = talk.chunks + 9;
  pipeline::FinishInput input;
  input.chunks = talk.chunks;
  input.dim = talk.dim;
  input.duration = result.duration;
  input.activity = talk.activity;
  input.embeddings = talk.embeddings;
  cluster::Settings settings;
  settings.method = cluster::Method::kVbxIsotropic;
  pipeline::finish(input, settings, {}, nullptr, result);
  return result;
}

}  // namespace

Call read_wav(int seconds, int channels, int rate) {
  const std::int64_t frames = std::int64_t{seconds} * rate;
  const auto file =
      std::make_shared<const std::vector<std::byte>>(wav_file(frames, channels, rate));
  return [file, frames] {
    const auto bytes = audio::memory_bytes(*file, "fixed");
    const auto reader = audio::open_wav(*bytes);
    std::vector<float> mono;
    std::int64_t decoded = 0;
    for (;;) {
      const audio::Block block = reader->next();
      if (block.samples.empty()) break;
      audio::downmix(block.samples, block.channels, mono);
      decoded += static_cast<std::int64_t>(mono.size());
    }
    if (decoded != frames)
      base::fail(ErrorCode::kInternal, "the WAV reader gave {} of {} frames", decoded, frames);
  };
}

Call resample(int seconds, int rate, bool reference) {
  const auto samples =
      std::make_shared<const std::vector<float>>(tones(std::int64_t{seconds} * rate, 1, rate));
  return [samples, rate, reference] {
    constexpr std::size_t kBlock = 65536;  // as a reader gives them
    const auto resampler = audio::make_resampler(rate, reference);
    std::vector<float> out;
    for (std::size_t at = 0; at < samples->size(); at += kBlock) {
      out.clear();
      const std::span<const float> rest = std::span(*samples).subspan(at);
      resampler->push(rest.first(std::min(kBlock, rest.size())), out);
    }
    resampler->finish(out);
  };
}

Call find_activity(const Talk& talk) {
  return [talk] {
    std::vector<std::uint8_t> bits(talk->classes.size());
    timeline::decode_classes(talk->classes, bits);
    std::vector<float> mask(timeline::kFramesPerChunk);
    for (int chunk = 0; chunk < talk->chunks; ++chunk) {
      const auto first = static_cast<std::size_t>(chunk) * timeline::kFramesPerChunk;
      const auto window =
          std::span<const std::uint8_t>(bits).subspan(first, timeline::kFramesPerChunk);
      for (int s = 0; s < timeline::kLocalSpeakers; ++s)
        if (timeline::is_active(window, s)) timeline::embedding_mask(window, s, mask);
    }
  };
}

Call make_turns(const Talk& talk) {
  return [talk] {
    const timeline::Grid grid = timeline::Grid::of_chunks(talk->chunks);
    const std::vector<std::uint8_t> counts = timeline::count_speakers(grid, talk->activity);
    const timeline::FrameMatrix matrix =
        timeline::reconstruct(grid, talk->activity, talk->hard, counts);
    timeline::name_by_first_turn(timeline::segments_of(matrix), {}, 0);
  };
}

Call link(const Talk& talk) {
  return [rows = std::make_shared<const Rows>(rows_of(*talk)),
          dim = static_cast<std::size_t>(talk->dim)] {
    cluster::flat_clusters(cluster::centroid_linkage(rows->values, dim, nullptr), 0.6);
  };
}

Call run_vbx(const Talk& talk, int dim, int iterations) {
  const Rows rows = rows_of(*talk);
  const auto width = static_cast<std::size_t>(talk->dim);
  auto features = std::make_shared<std::vector<double>>();
  for (std::size_t t = 0; t < rows.speaker.size(); ++t)
    for (std::size_t d = 0; d < static_cast<std::size_t>(dim); ++d)
      features->push_back(10 * static_cast<double>(rows.values[t * width + d]));
  auto phi = std::make_shared<std::vector<double>>();
  for (int d = 0; d < dim; ++d) phi->push_back(4.0 / (1 + d));
  return [features, phi, speaker = rows.speaker, iterations] {
    cluster::vbx(*features, *phi, speaker, {.max_iterations = iterations, .epsilon = 0}, nullptr);
  };
}

Call find_speakers(const Talk& talk, cluster::Method method) {
  cluster::Settings settings;
  settings.method = method;
  if (method == cluster::Method::kVbxPlda) settings.plda = random_plda();
  return [talk, settings] {
    cluster::assign_speakers({talk->chunks, talk->dim, talk->activity, talk->embeddings}, settings);
  };
}

Call write_formats(const Talk& talk) {
  return [result = std::make_shared<const Diarization>(finished(*talk))] {
    for (const FormatInfo& info : diarist::formats()) {
      const std::string text = to_text(*result, info.format);
      if (info.format == Format::kRttm || info.format == Format::kJson)
        parse_results(text, info.format, "fixed", "fixed");
    }
  };
}

}  // namespace diarist::bench
