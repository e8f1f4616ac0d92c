// A recording in pieces against the same recording as a whole: same bytes at the end, and at any
// time before it what a recording that ended there would have given.

#include <fmt/format.h>

#include <cmath>
#include <thread>

#include "diarist/diarizer.hpp"
#include "diarist/streaming.hpp"
#include "diarist/waveform.hpp"
#include "recordings.hpp"
#include "support/border.hpp"
#include "support/standin_bundle.hpp"

namespace diarist::test {
namespace {

constexpr int kRate = 16000;

class StreamParity : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    DIARIST_NEED(sample_wav());
    DIARIST_NEED(open_bundle());
    if (standin()) {
      DIARIST_NEED(standin_weights());
      DIARIST_NEED(data("plda"));
    }
    for (const std::int16_t sample : sample_pcm16(0, 30))
      sample_.push_back(static_cast<float>(sample) / 32768.0F);
  }
  /// What has nothing to do with the networks is tried with those that have the least work.
  static bool small() { return std::string(GetParam()) == "open-lite"; }
  static bool standin() { return std::string(GetParam()) == "community-1"; }
  static Diarizer make() {
    return Diarizer({.preset = GetParam(),
                     .models = standin() ? standin_models() : models_folder(),
                     .allow_unknown_weights = standin()});
  }
  std::span<const float> first(double seconds) const {
    return std::span(sample_).first(static_cast<std::size_t>(std::lround(seconds * kRate)));
  }
  std::vector<float> sample_;
};

std::string bits(const auto& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Everything that a recording's sound decides.
std::string text_of(const Diarization& result, bool speakers = true) {
  std::string text = to_rttm(result);
  for (const Turn& turn : result.exclusive_turns)
    text += fmt::format("{} {} {}\n", turn.start, turn.end, turn.speaker);
  for (const Turn& turn : result.turns) text += fmt::format("{} ", turn.confidence);
  text += fmt::format("\n{} s\n", result.duration);
  if (speakers)
    for (const Speaker& speaker : result.speakers)
      text += speaker.name + fmt::format(" {} ", speaker.speech_seconds) + bits(speaker.embedding);
  for (const std::string& warning : result.warnings) text += warning + "\n";
  if (result.stages)
    text += bits(result.stages->activity) + bits(result.stages->embeddings) +
            bits(result.stages->hard_clusters) + bits(result.stages->counts);
  if (result.waveform) text += bits(result.waveform->peak) + bits(result.waveform->power);
  return text;
}

template <typename Sample>
void push_pieces(Stream& stream, std::span<const Sample> samples, std::size_t piece) {
  while (!samples.empty()) {
    const auto next = samples.first(std::min(piece, samples.size()));
    stream.push(next);
    samples = samples.subspan(next.size());
  }
}

TEST_P(StreamParity, PiecesOfAnySizeGiveTheBytesOfTheWhole) {
  const Diarizer diarizer = make();
  RunOptions options;
  options.keep_stages = options.keep_waveform = true;
  const std::span<const float> samples = first(23.456);
  const std::string wanted = text_of(diarizer.run(AudioView{.samples = samples}, options));
  ASSERT_TRUE(standin() || wanted.find("SPEAKER_01") != std::string::npos);
  std::vector<std::size_t> pieces = {37, samples.size()};
  if (small()) pieces.insert(pieces.end(), {1, 160, 16000});
  for (const std::size_t piece : pieces) {
    Stream stream(diarizer, {}, options);
    push_pieces(stream, samples, piece);
    EXPECT_EQ(text_of(stream.finish()), wanted) << "pieces of " << piece;
  }
}

// The sample at other rates is played too quickly or too slowly, which is all the same here.
TEST_P(StreamParity, RatesChannelsAndSampleTypes) {
  if (!small()) return;
  const Diarizer diarizer = make();
  for (const int rate : {8000, 16000, 44100, 48000})
    for (const int channels : {1, 2}) {
      const auto frames = static_cast<std::size_t>(rate) * 13 + 321;
      std::vector<float> samples(frames * static_cast<std::size_t>(channels));
      std::vector<std::int16_t> pcm16(samples.size());
      for (std::size_t i = 0; i < samples.size(); ++i) {
        const std::size_t frame = i / static_cast<std::size_t>(channels);
        const float value = sample_[96000 + (frame * 16000 / static_cast<std::size_t>(rate))];
        samples[i] = i % 2 == 0 ? value : value * 0.5F;
        pcm16[i] = static_cast<std::int16_t>(std::lround(samples[i] * 32767));
      }
      const std::string name = fmt::format("{} Hz, {} channels", rate, channels);
      RunOptions options;
      options.keep_stages = true;
      options.audio.channel = rate == 48000 ? channels : 0;
      const auto pieces = [&](auto values, std::size_t piece) {
        Stream stream(diarizer, {.sample_rate = rate, .channels = channels}, options);
        push_pieces(stream, values, piece * static_cast<std::size_t>(channels));
        return text_of(stream.finish());
      };
      const AudioView floats = {.samples = samples, .sample_rate = rate, .channels = channels};
      EXPECT_EQ(pieces(std::span<const float>(samples), 441),
                text_of(diarizer.run(floats, options)))
          << name;
      const AudioView shorts = {
          .samples = {}, .sample_rate = rate, .channels = channels, .pcm16 = pcm16};
      const std::string wanted = text_of(diarizer.run(shorts, options));
      EXPECT_EQ(pieces(std::span<const std::int16_t>(pcm16), 37), wanted) << name;
      EXPECT_EQ(pieces(std::span<const std::int16_t>(pcm16), frames), wanted) << name;
    }
}

TEST_P(StreamParity, OptionsOfARun) {
  const Diarizer diarizer = make();
  std::vector<float> samples(first(29.5).begin(), first(29.5).end());
  samples[5000] = std::nanf("");
  samples[200001] = INFINITY;
  std::vector<RunOptions> runs(6);
  runs[0].step_seconds = 2;
  runs[1].step_seconds = 5;
  runs[2].reference = true;  // windows with such samples are silent
  runs[3].speakers.num = 3;
  runs[4].audio = {.from = 3.25, .to = 21.75};
  runs[4].keep_waveform = true;
  runs[5].audio.from = 60;
  if (!small()) runs = {runs[2], runs[4]};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].keep_stages = true;
    const std::string wanted = text_of(diarizer.run(AudioView{.samples = samples}, runs[i]));
    Stream stream(diarizer, {}, runs[i]);
    push_pieces(stream, std::span<const float>(samples), 4000);
    EXPECT_EQ(text_of(stream.finish()), wanted) << "run " << i;
  }
}

// Nothing, less than a window, a whole one, and a sample more or less.
TEST_P(StreamParity, OddLengths) {
  if (!small()) return;
  const Diarizer diarizer = make();
  for (const std::size_t count : {0, 1, 400, 100000, 159999, 160000, 160001, 176000, 320000}) {
    const std::span<const float> samples = std::span(sample_).first(count);
    Stream stream(diarizer);
    push_pieces(stream, samples, 12345);
    EXPECT_EQ(text_of(stream.finish()), text_of(diarizer.run(AudioView{.samples = samples})))
        << count << " samples";
  }
}

TEST_P(StreamParity, ASnapshotIsTheRunOfWhatWasPushed) {
  const Diarizer diarizer = make();
  RunOptions options;
  options.keep_stages = options.keep_waveform = true;
  std::vector<double> times = {13.0, 14.7};
  if (small()) times.insert(times.end(), {2.0, 10.0, 20.0, 21.5, 29.999});
  for (const double until : times) {
    Stream stream(diarizer, {}, options);
    push_pieces(stream, first(until), 1000);
    const std::string wanted = text_of(diarizer.run(AudioView{.samples = first(until)}, options));
    EXPECT_EQ(text_of(stream.snapshot()), wanted) << until << " s";
    EXPECT_EQ(text_of(stream.snapshot()), wanted) << until << " s, again";
    EXPECT_EQ(text_of(stream.finish()), wanted) << until << " s, at the end";
  }
}

// Snapshots on the way leave no trace in the result, and keep to the turns of a run whatever they
// call the speakers.
TEST_P(StreamParity, SnapshotsOnTheWay) {
  const Diarizer diarizer = make();
  Stream stream(diarizer);
  std::size_t done = 0;
  for (double until = 4; until <= 30; until += small() ? 3.7 : 7.4) {
    const std::span<const float> samples = first(until);
    push_pieces(stream, samples.subspan(done), 1600);
    done = samples.size();
    const Diarization got = stream.snapshot();
    const Diarization wanted = diarizer.run(AudioView{.samples = samples});
    ASSERT_EQ(got.turns.size(), wanted.turns.size()) << until;
    ASSERT_EQ(got.speakers.size(), wanted.speakers.size()) << until;
    for (std::size_t i = 0; i < got.turns.size(); ++i) {
      EXPECT_EQ(got.turns[i].start, wanted.turns[i].start);
      EXPECT_EQ(got.turns[i].end, wanted.turns[i].end);
    }
    EXPECT_NEAR(stream.progress().heard_seconds, until, 1e-4);
    EXPECT_LE(stream.progress().seen_seconds, until);
    EXPECT_GT(stream.progress().seen_seconds, until < 20 ? -1 : until - 10);
  }
  push_pieces(stream, std::span<const float>(sample_).subspan(done), 1600);
  EXPECT_EQ(text_of(stream.finish()), text_of(diarizer.run(AudioView{.samples = sample_})));
}

// More than may wait, in one piece and from two streams at the same time.
TEST_P(StreamParity, LongerThanTheQueue) {
  if (!small()) return;
  const Diarizer diarizer = make();
  std::vector<float> samples;
  for (int i = 0; i < 4; ++i) samples.insert(samples.end(), sample_.begin(), sample_.end());
  const std::string wanted = text_of(diarizer.run(AudioView{.samples = samples}));
  std::string got[2];
  {
    std::vector<std::jthread> threads;
    for (std::string& text : got)
      threads.emplace_back([&] {
        Stream stream(diarizer);
        stream.push(samples);
        text = text_of(stream.finish());
      });
  }
  EXPECT_EQ(got[0], wanted);
  EXPECT_EQ(got[1], wanted);
}

INSTANTIATE_TEST_SUITE_P(Presets, StreamParity, testing::Values("open", "open-lite", "community-1"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace diarist::test
