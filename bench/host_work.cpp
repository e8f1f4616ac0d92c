#include <memory>
#include <utility>

#include "audio/bytes.hpp"
#include "audio/downmix.hpp"
#include "audio/resampler.hpp"
#include "audio/wav_reader.hpp"
#include "base/error.hpp"
#include "cluster/linkage.hpp"
#include "cluster/speakers.hpp"
#include "cluster/vbx.hpp"
#include "diarist/formats.hpp"
#include "fixed_inputs.hpp"
#include "pipeline/finish.hpp"
#include "timeline/activity.hpp"
#include "timeline/aggregate.hpp"
#include "timeline/turns.hpp"
#include "work.hpp"

namespace diarist::bench {
namespace {

using Call = std::function<void()>;

/// Work whose instruction set is chosen by the process.
Work work(std::string name, std::function<Call()> prepare) {
  return {std::move(name),
          [prepare = std::move(prepare)](const std::string&) { return prepare(); }};
}

Call wav_reader() {
  const auto file = std::make_shared<const std::vector<std::byte>>(wav_file(480000, 2, 48000));
  return [file] {
    const auto bytes = audio::memory_bytes(*file, "fixed");
    const auto reader = audio::open_wav(*bytes);
    std::vector<float> mono;
    std::int64_t frames = 0;
    for (;;) {
      const audio::Block block = reader->next();
      if (block.samples.empty()) break;
      audio::downmix(block.samples, block.channels, mono);
      frames += static_cast<std::int64_t>(mono.size());
    }
    if (frames != 480000) base::fail(ErrorCode::kInternal, "the WAV reader gave {} frames", frames);
  };
}

Call sinc_resampler() {
  const auto samples = std::make_shared<const std::vector<float>>(tones(44100, 1, 44100));
  return [samples] {
    const auto resampler = audio::make_sinc_resampler(44100);
    std::vector<float> out;
    resampler->push(*samples, out);
    resampler->finish(out);
  };
}

Call activity() {
  const auto talk = std::make_shared<const Conversation>(conversation(120, 4, 16));
  return [talk] {
    std::vector<std::uint8_t> bits(talk->classes.size());
    timeline::decode_classes(talk->classes, bits);
    std::vector<float> mask(timeline::kFramesPerChunk);
    for (int chunk = 0; chunk < talk->chunks; ++chunk) {
      const auto window = std::span<const std::uint8_t>(bits).subspan(
          static_cast<std::size_t>(chunk * timeline::kFramesPerChunk), timeline::kFramesPerChunk);
      for (int s = 0; s < timeline::kLocalSpeakers; ++s)
        if (timeline::is_active(window, s)) timeline::embedding_mask(window, s, mask);
    }
  };
}

Call reconstruction() {
  const auto talk = std::make_shared<const Conversation>(conversation(120, 4, 16));
  return [talk] {
    const timeline::Grid grid = timeline::Grid::of_chunks(talk->chunks);
    const std::vector<std::uint8_t> counts = timeline::count_speakers(grid, talk->activity);
    const timeline::FrameMatrix matrix =
        timeline::reconstruct(grid, talk->activity, talk->hard, counts);
    const std::vector<timeline::Segment> segments = timeline::segments_of(matrix);
    timeline::name_by_first_turn(segments, {}, 0);
  };
}

Call linkage() {
  const auto rows = std::make_shared<const Rows>(rows_of(conversation(170, 4, 192)));
  return [rows] {
    const std::vector<cluster::Merge> tree = cluster::centroid_linkage(rows->values, 192, nullptr);
    cluster::flat_clusters(tree, 0.6);
  };
}

Call vbx() {
  Rows rows = rows_of(conversation(200, 6, 128));
  auto features = std::make_shared<std::vector<double>>(rows.values.begin(), rows.values.end());
  for (double& x : *features) x *= 8;
  auto phi = std::make_shared<std::vector<double>>();
  for (int d = 0; d < 128; ++d) phi->push_back(4.0 / (1 + d));
  return [features, phi, speaker = std::move(rows.speaker)] {
    cluster::vbx(*features, *phi, speaker, {.max_iterations = 5, .epsilon = 0}, nullptr);
  };
}

Call clustering(cluster::Method method) {
  const auto talk = std::make_shared<const Conversation>(conversation(100, 4, 192));
  return [talk, method] {
    cluster::Settings settings;
    settings.method = method;
    cluster::assign_speakers({talk->chunks, talk->dim, talk->activity, talk->embeddings}, settings);
  };
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

Call formats() {
  const auto result = std::make_shared<const Diarization>(finished(conversation(300, 4, 192)));
  return [result] {
    for (const FormatInfo& info : diarist::formats()) {
      const std::string text = to_text(*result, info.format);
      if (info.format == Format::kRttm || info.format == Format::kJson)
        parse_results(text, info.format, "fixed", "fixed");
    }
  };
}

}  // namespace

std::vector<Work> host_work() {
  return {
      work("WAV reader, 10 s of stereo", wav_reader),
      work("reference resampler, 1 s", sinc_resampler),
      work("classes to masks, 120 windows", activity),
      work("windows to turns, 120 windows", reconstruction),
      work("linkage", linkage),
      work("VBx, 5 iterations", vbx),
      work("clustering of open, 100 windows",
           [] { return clustering(cluster::Method::kVbxIsotropic); }),
      work("clustering of pyannote-3.1, 100 windows",
           [] { return clustering(cluster::Method::kAgglomerative); }),
      work("all formats", formats),
  };
}

}  // namespace diarist::bench
