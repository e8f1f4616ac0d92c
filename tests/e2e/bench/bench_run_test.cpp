// diarist bench run as a user calls it, on files of a few seconds.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "diarist/result.hpp"
#include "diarist/stages.hpp"
#include "support/odd_audio.hpp"
#include "support/program.hpp"
#include "support/support.hpp"

namespace diarist::test {
namespace {

using Arguments = std::vector<std::string>;

// What the networks make of it does not matter.
std::string write_sound(const std::filesystem::path& file, double seconds) {
  write_bytes(file, wav_pcm16(test_signal(static_cast<std::int64_t>(seconds * 16000))));
  return file.string();
}

// Two voices that take turns: windows of one speaker, whose vector is of one of two directions.
StageResults two_voices(int dim) {
  constexpr int kWindows = 40, kFrames = 589, kSpeakers = 3;
  StageResults stages{.chunks = kWindows, .embedding_dim = dim};
  for (int window = 0; window < kWindows; ++window) {
    stages.activity.insert(stages.activity.end(), kFrames, 1);
    for (int speaker = 0; speaker < kSpeakers; ++speaker)
      for (int d = 0; d < dim; ++d)
        stages.embeddings.push_back((d < dim / 2) == (window < kWindows / 2) ? 1.0F : -0.2F);
  }
  stages.hard_clusters.assign(kWindows * kSpeakers, 0);
  return stages;
}

class BenchRun : public testing::Test {
 protected:
  void SetUp() override { DIARIST_NEED(models_folder() / "open"); }

  ProgramResult bench(Arguments more) {
    Arguments arguments = {"bench", "run", "--preset", "open-lite"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  }

  TempFolder folder_;
};

TEST_F(BenchRun, PrintsATable) {
  const std::string file = write_sound(folder_.path() / "sound.wav", 3);
  const ProgramResult result = bench({"--repeat", "2", file});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(result.err.empty()) << result.err;
  for (const char* word : {"on cpu", "open-lite", "1 recordings", "3 s of audio", "x real time",
                           "CPU s", "MB of memory", "segment.", "median", "best"})
    EXPECT_NE(result.out.find(word), std::string::npos) << word << " is not in\n" << result.out;
  // A processor has no meter here, so there are no empty columns.
  for (const char* word : {"idle %", "J/h"})
    EXPECT_EQ(result.out.find(word), std::string::npos) << word << " is in\n" << result.out;
}

TEST_F(BenchRun, PrintsJson) {
  const std::string one = write_sound(folder_.path() / "one.wav", 3);
  const std::string two = write_sound(folder_.path() / "two.wav", 12.5);
  const ProgramResult result = bench({"--repeat", "2", "--warm-up", "0", "--step", "5", "--threads",
                                      "1", "--format", "json", one, two});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json.at("device"), "cpu");
  EXPECT_EQ(json.at("preset"), "open-lite");
  EXPECT_EQ(json.at("files"), 2);
  EXPECT_EQ(json.at("step_seconds"), 5);
  EXPECT_EQ(json.at("threads"), 1);
  EXPECT_EQ(json.at("warm_up"), 0);
  EXPECT_TRUE(json.at("replay").is_null());
  EXPECT_DOUBLE_EQ(json.at("audio_seconds").get<double>(), 15.5);
  EXPECT_GT(json.at("load_seconds").get<double>(), 0);
  EXPECT_FALSE(json.at("kernels").get<std::string>().empty());
  // The weights alone have 34 MB; a run of seconds stays far below a gigabyte.
  EXPECT_GT(json.at("peak_bytes").get<double>(), 34e6);
  EXPECT_LT(json.at("peak_bytes").get<double>(), 1e9);
  ASSERT_EQ(json.at("passes").size(), 2U);
  double best = 0;
  for (const nlohmann::json& pass : json.at("passes")) {
    const double seconds = pass.at("seconds").get<double>();
    EXPECT_GT(seconds, 0);
    EXPECT_NEAR(pass.at("x_real_time").get<double>(), 15.5 / seconds, 1e-6 * 15.5 / seconds);
    best = std::max(best, pass.at("x_real_time").get<double>());
    EXPECT_GT(pass.at("segmentation").get<double>(), 0);
    // One thread computes and perhaps one decodes.
    const double processor = pass.at("processor_seconds").get<double>();
    EXPECT_GT(processor, 0);
    EXPECT_LT(processor, 2.2 * seconds + 0.1);
    // A processor has no meter here.
    for (const char* key : {"device_busy", "device_idle_percent", "device_megabytes", "clock_mhz",
                            "power_watts", "joules_per_hour"})
      EXPECT_TRUE(pass.at(key).is_null()) << key;
  }
  EXPECT_DOUBLE_EQ(json.at("best_x_real_time").get<double>(), best);
  EXPECT_GT(json.at("median").at("seconds").get<double>(), 0);
}

TEST_F(BenchRun, ReplayedStagesAreClusteredInstead) {
  const std::string file = write_sound(folder_.path() / "sound.wav", 40);
  const std::filesystem::path stages = folder_.path() / "stages";
  save_stages(two_voices(192), stages);
  const ProgramResult result = bench({"--repeat", "1", "--warm-up", "0", "--step", "2", "--replay",
                                      stages.string(), "--format", "json", file});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const nlohmann::json json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json.at("replay"), stages.string());
  EXPECT_EQ(json.at("passes").at(0).at("speakers"), 2);
}

TEST_F(BenchRun, RefusesWhatMakesNoFigure) {
  const std::string file = write_sound(folder_.path() / "sound.wav", 1);
  EXPECT_EQ(bench({}).exit_code, 2);
  EXPECT_EQ(bench({file, "--repeat", "0"}).exit_code, 2);
  EXPECT_EQ(bench({file, "--step", "3"}).exit_code, 2);
  EXPECT_EQ(bench({file, "--format", "xml"}).exit_code, 2);
  const ProgramResult missing = bench({file, "no-such.wav"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.err.find("no-such.wav: no such file"), std::string::npos) << missing.err;
  EXPECT_TRUE(missing.out.empty());
  save_stages(two_voices(256), folder_.path() / "other");
  const ProgramResult other = bench({file, "--replay", (folder_.path() / "other").string()});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("256"), std::string::npos) << other.err;
  EXPECT_EQ(bench({file, "--replay", (folder_.path() / "none").string()}).exit_code, 1);
}

}  // namespace
}  // namespace diarist::test
