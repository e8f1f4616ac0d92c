// Scores and names against NumPy and SciPy (tools/make_voices_golden.py), and the rules one by one.

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "diarist/formats.hpp"
#include "voices_support.hpp"

namespace diarist::test {
namespace {

using nlohmann::json;

std::vector<std::string> names_of(const Diarization& result) {
  std::vector<std::string> names;
  for (const Speaker& speaker : result.speakers) names.push_back(speaker.name);
  return names;
}

TEST(VoiceNames, ScoresAndNamesAreThoseOfNumPyAndSciPy) {
  std::ifstream stream(std::string(DIARIST_GOLDEN) + "/naming.json");
  const json cases = json::parse(stream);
  ASSERT_EQ(cases.size(), 7U);
  for (const json& item : cases) {
    VoiceLibrary library;
    int dim = 0;
    for (const json& voice : item["voices"]) {
      for (const json& sample : voice["samples"]) {
        const auto vector = sample.get<std::vector<float>>();
        dim = static_cast<int>(vector.size());
        library.add(voice["name"].get<std::string>(), model_of_dim(dim), {vector, 1, ""});
      }
    }
    std::vector<std::vector<float>> vectors;
    std::vector<double> seconds;
    for (const json& speaker : item["speakers"]) {
      vectors.push_back(speaker["embedding"].get<std::vector<float>>());
      seconds.push_back(speaker["seconds"].get<double>());
      const std::vector<VoiceMatch> matches = library.match(vectors.back(), model_of_dim(dim));
      ASSERT_EQ(matches.size(), library.voices().size());
      for (std::size_t i = 0; i < matches.size(); ++i) {
        const int column = std::stoi(matches[i].name.substr(6));
        EXPECT_NEAR(
            matches[i].score,
            item["scores"][vectors.size() - 1][static_cast<std::size_t>(column)].get<double>(),
            1e-12);
        if (i > 0) {
          EXPECT_GE(matches[i - 1].score, matches[i].score);
        }
      }
    }
    const Diarization named = name_speakers(result_of(vectors, seconds), library,
                                            {.threshold = item["threshold"].get<double>(),
                                             .margin = item["margin"].get<double>(),
                                             .min_seconds = item["min_seconds"].get<double>()});
    ASSERT_EQ(named.speakers.size(), vectors.size());
    for (std::size_t i = 0; i < vectors.size(); ++i) {
      const json& expected = item["names"][i];
      const SpeakerVoice& voice = named.speakers[i].voice.value();
      EXPECT_EQ(voice.decision == VoiceDecision::kNamed, !expected.is_null());
      EXPECT_EQ(named.speakers[i].name,
                expected.is_null() ? voice.speaker : expected.get<std::string>());
    }
  }
}

// Voices on the axes, so that scores can be read off the vectors.
VoiceLibrary axes() {
  VoiceLibrary library;
  library.add("X", model_of_dim(3), {{1, 0, 0}, 30, ""});
  library.add("Y", model_of_dim(3), {{0, 1, 0}, 30, ""});
  return library;
}

TEST(VoiceNames, EveryDecisionHasItsReason) {
  const Diarization result = result_of({{0.8F, 0, 0.6F},  // X, but the next is closer to it
                                        {1, 0, 0},        // X
                                        {0.6F, 0.6F, 0},  // both
                                        {0, 0.3F, 1},     // nobody
                                        {0, 1, 0},        // Y, too short
                                        {0, 0, 0},        // no vector
                                        {}},              // none either
                                       {10, 10, 10, 10, 1, 10, 10});
  const Diarization named = name_speakers(result, axes(), {.threshold = 0.5});
  using enum VoiceDecision;
  const std::vector<VoiceDecision> expected = {kTaken,    kNamed,    kAmbiguous, kLowScore,
                                               kTooShort, kNoVector, kNoVector};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const SpeakerVoice& voice = named.speakers[i].voice.value();
    EXPECT_EQ(voice.decision, expected[i]) << i << " " << voice_decision_name(voice.decision);
    EXPECT_EQ(voice.speaker, result.speakers[i].name);
  }
  EXPECT_EQ(names_of(named),
            (std::vector<std::string>{"SPEAKER_00", "X", "SPEAKER_02", "SPEAKER_03", "SPEAKER_04",
                                      "SPEAKER_05", "SPEAKER_06"}));
  EXPECT_NEAR(named.speakers[0].voice->score, 0.8, 1e-7);
  EXPECT_EQ(named.speakers[1].voice->next, "Y");
  EXPECT_EQ(named.speakers[1].voice->next_score, 0);
  EXPECT_EQ(named.settings.voices->threshold, 0.5);
  EXPECT_EQ(named.settings.voices->margin, 0.1);
  EXPECT_EQ(named.settings.shaping.renames,
            (std::map<std::string, std::string>{{"SPEAKER_01", "X"}}));
}

TEST(VoiceNames, OfEqualSpeakersTheFirstGetsTheName) {
  const Diarization named =
      name_speakers(result_of({{0, 1, 0}, {0, 1, 0}}, {9, 9}), axes(), {.threshold = 0.5});
  EXPECT_EQ(names_of(named), (std::vector<std::string>{"Y", "SPEAKER_01"}));
  EXPECT_EQ(named.speakers[1].voice->decision, VoiceDecision::kTaken);
}

TEST(VoiceNames, TheThresholdAndTheMarginThemselvesAreEnough) {
  const Diarization result = result_of({{1, 0, 0}}, {2});
  EXPECT_EQ(
      names_of(name_speakers(result, axes(), {.threshold = 1, .margin = 1, .min_seconds = 2})),
      (std::vector<std::string>{"X"}));
}

TEST(VoiceNames, DefaultThresholdsAreMeasuredOnes) {
  EXPECT_TRUE(measured_voice_threshold(model_of_dim(192)).has_value());
  const VoiceModel other{"wespeaker-resnet34", std::string(64, 'a'), 3};
  EXPECT_FALSE(measured_voice_threshold(other).has_value());
  Diarization result = result_of({{1, 0, 0}}, {9});
  result.settings.models = {"wespeaker-resnet34 sha256:" + other.sha256};
  VoiceLibrary library;
  library.add("X", other, {{1, 0, 0}, 9, ""});
  EXPECT_EQ(error_of([&] { name_speakers(result, library); }).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(names_of(name_speakers(result, library, {.threshold = 0.5})),
            (std::vector<std::string>{"X"}));
}

TEST(VoiceNames, RefusesWhatCannotBeCompared) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Diarization result = result_of({{1, 0, 0}}, {9});
  for (const VoiceOptions& options :
       {VoiceOptions{.threshold = 1.01}, VoiceOptions{.threshold = nan},
        VoiceOptions{.margin = -0.1}, VoiceOptions{.margin = nan}, VoiceOptions{.min_seconds = -1},
        VoiceOptions{.min_seconds = nan}})
    EXPECT_EQ(error_of([&] { name_speakers(result, axes(), options); }).code(),
              ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_of([&] {
              name_speakers(result_of({{1, 0, 0}}, {9}, 'b'), axes());
            }).code(),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_of([&] {
              name_speakers(to_diarization("x", {{0, 1, "A"}}), axes());
            }).code(),
            ErrorCode::kInvalidArgument);
}

TEST(VoiceNames, SilenceAndAnEmptyLibraryAreNoErrors) {
  const Diarization silence = name_speakers(result_of({}, {}), axes());
  EXPECT_TRUE(silence.speakers.empty());
  EXPECT_TRUE(silence.settings.voices.has_value());
  const Diarization unnamed = name_speakers(result_of({{1, 0, 0}}, {9}), VoiceLibrary());
  EXPECT_EQ(names_of(unnamed), (std::vector<std::string>{"SPEAKER_00"}));
  EXPECT_EQ(unnamed.speakers[0].voice->decision, VoiceDecision::kLowScore);
  EXPECT_EQ(unnamed.speakers[0].voice->best, "");
}

TEST(VoiceNames, ComeBackFromJson) {
  const Diarization named = name_speakers(
      result_of({{0.8F, 0, 0.6F}, {1, 0, 0}, {0, 0, 0}}, {9, 9, 9}), axes(), {.threshold = 0.5});
  const std::string text = to_json(named);
  EXPECT_NE(
      text.find(R"({"name": "X", "seconds": 9.000, "turns": 1, "voice": {"decision": "named", )"
                R"("speaker": "SPEAKER_01", "best": "X", "best_score": 1.000, )"
                R"("next": "Y", "next_score": 0.000}})"),
      std::string::npos)
      << text;
  EXPECT_NE(
      text.find(R"("voice": {"decision": "no_vector", "speaker": "SPEAKER_02", "best": null, )"
                R"("best_score": null, "next": null, "next_score": null}})"),
      std::string::npos)
      << text;
  const Diarization back = parse_results(text, Format::kJson, "x", "x").at(0);
  EXPECT_EQ(to_json(back), text);
  EXPECT_EQ(back.speakers[0].voice->decision, VoiceDecision::kTaken);
  std::string wrong = text;
  wrong.replace(wrong.find("no_vector"), 9, "no_reason");
  EXPECT_EQ(error_of([&] { parse_results(wrong, Format::kJson, "x", "x"); }).code(),
            ErrorCode::kBadFile);
}

TEST(VoiceNames, AreSeenInTablesAndWrittenInRttm) {
  const Diarization named =
      name_speakers(result_of({{1, 0, 0}, {0, 0.3F, 1}}, {9, 9}), axes(), {.threshold = 0.5});
  EXPECT_NE(to_rttm(named).find(" X <NA> <NA>\n"), std::string::npos);
  const std::string table = to_table(named);
  EXPECT_NE(table.find("X (voice 1.00)\n"), std::string::npos) << table;
  EXPECT_NE(table.find("SPEAKER_01 (nearest Y 0.29)\n"), std::string::npos) << table;
}

TEST(VoiceNames, ShapingAfterwardsKeepsWhatWasDoneAndKnowsTheNumbers) {
  const Diarization result = result_of({{1, 0, 0}, {0, 1, 0}}, {9, 9});
  const Diarization padded = shaped(result, {.pad = 0.5});
  const Diarization named = name_speakers(padded, axes(), {.threshold = 0.5});
  EXPECT_EQ(named.settings.shaping.pad, 0.5);
  EXPECT_EQ(names_of(named), (std::vector<std::string>{"X", "Y"}));
  const Diarization renamed = shaped(named, {.renames = {{"SPEAKER_00", "Xaver"}}});
  EXPECT_EQ(names_of(renamed), (std::vector<std::string>{"Xaver", "Y"}));
  EXPECT_EQ(renamed.settings.shaping.renames,
            (std::map<std::string, std::string>{{"SPEAKER_00", "Xaver"}, {"SPEAKER_01", "Y"}}));
  EXPECT_TRUE(renamed.warnings.empty());
}

}  // namespace
}  // namespace diarist::test
