// Jobs of a run: one per recording or one per side, whatever opens and ends in which order.

#include "pipeline/inputs.hpp"

#include <sys/stat.h>

#include <thread>

#include "diarist/error.hpp"
#include "support/odd_audio.hpp"
#include "support/support.hpp"

namespace diarist::test {
namespace {

using pipeline::Inputs;

std::size_t drain(audio::Source& source) {
  std::vector<float> block(1000);
  std::size_t total = 0;
  while (const std::size_t count = source.read(block)) total += count;
  return total;
}

TEST(Inputs, TimesAreThoseOfTheWholeRecording) {
  const std::vector<std::filesystem::path> files = {"a/b.wav", "-"};
  RunOptions options;
  options.audio.from = 10;
  Inputs inputs(files, options);
  EXPECT_EQ(inputs.jobs(), 2U);
  EXPECT_EQ(inputs.uri_of(0), "b");
  EXPECT_EQ(inputs.uri_of(1), "stdin");
  Diarization decoded;
  decoded.duration = 5;
  decoded.turns = {{1, 2, 0}};
  decoded.exclusive_turns = {{1, 2, 0}};
  const auto outcome = inputs.collect(0, {.result = decoded, .error = {}});
  ASSERT_TRUE(outcome && outcome->result);
  EXPECT_EQ(outcome->result->duration, 15);
  EXPECT_EQ(outcome->result->turns[0].start, 11);
  EXPECT_EQ(outcome->result->exclusive_turns[0].end, 12);
}

TEST(Inputs, BothSidesOfAPipe) {
  const TempFolder folder;
  const std::filesystem::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { write_bytes(pipe, wav_pcm16(test_signal(64000), 16000, 2)); });
  const std::vector<std::filesystem::path> files = {pipe};
  RunOptions options;
  options.audio.split_channels = true;
  Inputs inputs(files, options);
  EXPECT_EQ(inputs.jobs(), 2U);
  const auto right = inputs.open(1, {});
  const auto left = inputs.open(0, {});
  writer.join();
  EXPECT_EQ(drain(*left), 32000U);
  EXPECT_EQ(drain(*right), 32000U);
  EXPECT_FALSE(inputs.collect(0, {.result = Diarization{}, .error = {}}));
  const auto outcome = inputs.collect(1, {.result = Diarization{}, .error = {}});
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->result);
}

TEST(Inputs, AnErrorOfOneSideIsTheRecordings) {
  const TempFolder folder;
  const std::vector<std::filesystem::path> files = {folder.path() / "missing.wav"};
  RunOptions options;
  options.audio.split_channels = true;
  Inputs inputs(files, options);
  for (const std::size_t job : {std::size_t{0}, std::size_t{1}}) {
    std::exception_ptr error;
    try {
      (void)inputs.open(job, {});
    } catch (const Error& failure) {
      EXPECT_EQ(failure.code(), ErrorCode::kNotFound);
      error = std::current_exception();
    }
    ASSERT_TRUE(error);
    const auto outcome = inputs.collect(job, {.result = {}, .error = error});
    EXPECT_EQ(outcome.has_value(), job == 1);
    if (outcome) {
      EXPECT_TRUE(outcome->error && !outcome->result);
    }
  }
}

TEST(Inputs, OptionsThatContradictEachOther) {
  RunOptions options;
  options.audio.split_channels = true;
  EXPECT_NO_THROW(pipeline::check_inputs(options));
  options.keep_stages = true;
  EXPECT_THROW(pipeline::check_inputs(options), Error);
  options.keep_stages = false;
  options.audio.channel = 1;
  EXPECT_THROW(pipeline::check_inputs(options), Error);
  options.audio = {.raw = RawFormat{}, .container_clock = true};
  EXPECT_THROW(pipeline::check_inputs(options), Error);
}

TEST(Inputs, SettingsSayHowItWasRead) {
  AudioOptions options{.raw = parse_raw_format("u8:8000:2"), .channel = 2, .from = 1, .to = 2};
  InputSettings settings = pipeline::input_settings(options);
  EXPECT_EQ(settings.raw, "u8:8000:2");
  EXPECT_EQ(settings.channel, 2);
  EXPECT_EQ(settings.to, 2);
  options = {.split_channels = true};
  settings = pipeline::input_settings(options);
  EXPECT_TRUE(settings.split_channels);
  EXPECT_EQ(settings.raw, "");
}

}  // namespace
}  // namespace diarist::test
