// The presets open and open-lite on real speech, against the results of the numpy/torch prototype
// (shared/data/open_preset) and against what was really said.

#include <cmath>
#include <cstdio>

#include "diarist/diarizer.hpp"
#include "recordings.hpp"

namespace diarist {
namespace {

using test::data;
using test::recording;

const char* const kConversations[] = {"dev1", "dev2", "dev3", "dev4", "dev5", "dev6"};

std::filesystem::path expected(const std::string& name) {
  const bool conversation = name.rfind("dev", 0) == 0;
  const bool human = name.rfind("trn", 0) == 0 || name.rfind("tst", 0) == 0;
  return data("open_preset/" +
              std::string(conversation ? "conversations/"
                          : human      ? "human/"
                                       : "") +
              name + ".rttm");
}

const Diarizer& diarizer(const std::string& preset) {
  static const Diarizer open({.preset = "open", .models = test::models_folder()});
  static const Diarizer lite({.preset = "open-lite", .models = test::models_folder()});
  return preset == "open" ? open : lite;
}

class OpenPreset : public testing::TestWithParam<std::string> {};

TEST_P(OpenPreset, PrintsWhatThePrototypePrints) {
  DIARIST_NEED(test::models_folder() / "open");
  DIARIST_NEED(recording(GetParam()));
  DIARIST_NEED(expected(GetParam()));
  const Diarization result =
      diarizer("open").run(recording(GetParam()), RunOptions{.reference = true});
  EXPECT_EQ(to_rttm(result), test::text_of(expected(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Recordings, OpenPreset,
                         testing::Values("sample", "02", "04", "05", "trn00", "trn03", "trn05",
                                         "trn08", "tst00"),
                         [](const auto& test) { return test.param; });

// The long recordings run once per preset: their RTTM and their error rate are checked together.
// Total DER in percent, collar 0, overlap counted.
double conversations_der(const std::string& preset) {
  Score total;
  for (const char* name : kConversations) {
    const Diarization result = diarizer(preset).run(recording(name), RunOptions{.reference = true});
    if (preset == "open") {
      EXPECT_EQ(to_rttm(result), test::text_of(expected(name))) << name;
    }
    const Score score =
        test::score_against(result, data("conversations/" + std::string(name) + ".rttm"));
    std::printf("[          ] %s %s DER %.2f %%, %d of %d speakers\n", preset.c_str(), name,
                100 * score.der(), score.hypothesis_speakers, score.reference_speakers);
    EXPECT_EQ(score.hypothesis_speakers, score.reference_speakers) << name;
    total.total += score.total;
    total.missed += score.missed;
    total.false_alarm += score.false_alarm;
    total.confusion += score.confusion;
  }
  std::printf("[          ] %s all DER %.2f %%\n", preset.c_str(), 100 * total.der());
  return 100 * total.der();
}

class OpenConversations : public testing::TestWithParam<std::pair<const char*, double>> {};

TEST_P(OpenConversations, MeetTheErrorRate) {
  DIARIST_NEED(test::models_folder() / "open");
  DIARIST_NEED(recording("dev1"));
  EXPECT_LE(conversations_der(GetParam().first), GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(Presets, OpenConversations,
                         testing::Values(std::pair{"open", 13.9}, std::pair{"open-lite", 14.8}),
                         [](const auto& test) { return test.param.second < 14 ? "open" : "lite"; });

TEST(OpenAccuracy, SampleRecording) {
  DIARIST_NEED(test::models_folder() / "open");
  DIARIST_NEED(recording("sample"));
  for (const char* preset : {"open", "open-lite"}) {
    const Diarization result =
        diarizer(preset).run(recording("sample"), RunOptions{.reference = true});
    const Score score = test::score_against(result, test::sample_folder() / "sample.rttm");
    EXPECT_LE(std::round(1000 * score.der()) / 10, 5.2) << preset;
    EXPECT_EQ(score.hypothesis_speakers, 2) << preset;
  }
}

}  // namespace
}  // namespace diarist
