// diarist voices, and speakers named by diarist run --voices.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/odd_audio.hpp"
#include "support/program.hpp"
#include "support/support.hpp"

namespace diarist::test {
namespace {

using Words = std::vector<std::string>;

std::filesystem::path sample() { return sample_folder() / "sample.wav"; }

std::string content(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::string replaced(std::string text, const std::string& old, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(old, at)) != std::string::npos; at += by.size())
    text.replace(at, old.size(), by);
  return text;
}

/// A library made of three numbers, which needs no models.
class VoicesFile : public testing::Test {
 protected:
  void SetUp() override {
    write_bytes(library(), R"({"format": "diarist.voices", "version": 1,
"model": {"network": "campplus", "sha256": ")" +
                               std::string(64, 'a') + R"(", "dim": 3},
"voices": [{"name": "Anna", "samples": [
  {"seconds": 12.5, "source": "one", "embedding": [1, 0, 0]},
  {"seconds": 3, "source": "two\nlines", "embedding": [0, 1, 0]}]},
 {"name": "Ben", "samples": [{"seconds": 0, "source": "", "embedding": [0, 0, 1]}]}]})");
  }
  std::filesystem::path library() const { return folder_.path() / "team.voices"; }
  ProgramResult voices(const std::string& verb, const Words& more) const {
    Words words = {"voices", verb, library().string()};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }
  TempFolder folder_;
};

TEST_F(VoicesFile, ListShowsEverySample) {
  const ProgramResult result = voices("list", {});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out,
            "2 voices of campplus aaaaaaaaaaaa\n"
            "  voice  sample  from          speech\n"
            "  Anna   1       one           12.5 s\n"
            "         2       two\\x0alines   3.0 s\n"
            "  Ben    1                      0.0 s\n");
}

TEST_F(VoicesFile, RemoveAndRenameChangeTheFile) {
  EXPECT_EQ(voices("remove", {"Anna", "--sample", "3"}).exit_code, 2);
  EXPECT_EQ(voices("remove", {"Anna", "--sample", "0"}).exit_code, 2);
  EXPECT_EQ(voices("remove", {"Anna", "--sample", "1"}).exit_code, 0);
  EXPECT_EQ(content(library()).find("one"), std::string::npos);
  EXPECT_EQ(voices("rename", {"Ben", "Anna"}).exit_code, 2);
  EXPECT_EQ(voices("rename", {"Ben", "Bj\xC3\xB6rn M."}).exit_code, 0);
  EXPECT_NE(content(library()).find("\"Bj\xC3\xB6rn M.\""), std::string::npos);
  const ProgramResult gone = voices("remove", {"Ben"});
  EXPECT_EQ(gone.exit_code, 2);
  EXPECT_EQ(gone.err, "diarist: " + library().string() +
                          ": there is no voice 'Ben'; there are: Anna, Bj\xC3\xB6rn M.\n");
  EXPECT_EQ(voices("remove", {"Anna"}).exit_code, 0);
  EXPECT_EQ(voices("remove", {"Bj\xC3\xB6rn M."}).exit_code, 0);
  EXPECT_EQ(voices("list", {}).out.rfind("no voices in ", 0), 0U);
}

TEST_F(VoicesFile, NamesThatNoOutputCouldCarryAreRefused) {
  const std::string before = content(library());
  for (const char* name : {"", "a\nb", "a\tb", " a", "SPEAKER_01", "\xFF"}) {
    const ProgramResult result = voices("rename", {"Ben", name});
    EXPECT_EQ(result.exit_code, 2) << name;
    EXPECT_NE(result.err.find("name"), std::string::npos) << result.err;
  }
  EXPECT_EQ(content(library()), before);
}

TEST_F(VoicesFile, MissingAndDamagedLibrariesAreToldWithThePlace) {
  EXPECT_EQ(run_program({"voices", "list", "/nowhere.voices"}).exit_code, 1);
  write_bytes(library(), replaced(content(library()), "[0, 1, 0]", "[0, 1]"));
  for (const Words& words : {Words{"voices", "list", library().string()},
                             Words{"run", "--voices", library().string(), "talk.wav"}}) {
    const ProgramResult result = run_program(words);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.err.find(library().string() + ": voices[0].samples[1]"), std::string::npos)
        << result.err;
  }
  EXPECT_EQ(run_program({"run", "--voices", "/nowhere.voices", "talk.wav"}).exit_code, 1);
}

TEST_F(VoicesFile, OptionsThatCannotBeAreRefused) {
  for (const Words& more : {Words{"--voices-threshold", "1.5"}, Words{"--voices-threshold", "x"},
                            Words{"--voices-margin", "-1"}, Words{"--voices-min-seconds", "-1"}}) {
    Words words = {"run", "--voices", library().string(), "talk.wav"};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(run_program(words).exit_code, 2) << more[1];
  }
}

TEST_F(VoicesFile, ANetworkWithoutAMeasuredThresholdNeedsOne) {
  write_bytes(library(), replaced(content(library()), "campplus", "wespeaker-resnet34"));
  const ProgramResult result = run_program({"run", "--voices", library().string(), "talk.wav"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("--voices-threshold"), std::string::npos) << result.err;
}

/// The sample recording, in which two people speak.
class Voices : public testing::Test {
 protected:
  void SetUp() override {
    DIARIST_NEED(models_folder() / "open");
    DIARIST_NEED(sample());
  }
  std::string library() const { return (folder_.path() / "team.voices").string(); }
  ProgramResult add(const std::string& name, const Words& more) const {
    Words words = {"voices", "add", library(), name, sample().string(), "--preset", "open-lite"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }
  ProgramResult run(const Words& more) const {
    Words words = {"run", "--preset", "open-lite", "--voices", library(), sample().string()};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }
  TempFolder folder_;
};

TEST_F(Voices, AreEnrolledAndRecognized) {
  const ProgramResult several = add("Anna", {});
  EXPECT_EQ(several.exit_code, 2);
  EXPECT_NE(several.err.find("has 2 speakers: SPEAKER_00"), std::string::npos) << several.err;
  EXPECT_FALSE(std::filesystem::exists(library()));
  EXPECT_EQ(add("Anna", {"--speaker", "SPEAKER_07"}).exit_code, 2);
  const ProgramResult added = add("Anna Schmidt", {"--speaker", "SPEAKER_01"});
  ASSERT_EQ(added.exit_code, 0) << added.err;
  EXPECT_EQ(added.out.rfind(library() + ": Anna Schmidt has 1 sample now", 0), 0U) << added.out;

  const ProgramResult plain = run_program({"run", "--preset", "open-lite", sample().string()});
  const ProgramResult named = run({});
  EXPECT_EQ(named.exit_code, 0) << named.err;
  EXPECT_EQ(named.out, replaced(plain.out, "SPEAKER_01", "Anna%20Schmidt"));
  EXPECT_NE(named.out, plain.out);

  const auto json = nlohmann::json::parse(run({"--format", "json"}).out);
  EXPECT_EQ(json["speakers"][0]["name"], "SPEAKER_00");
  EXPECT_EQ(json["speakers"][0]["voice"]["decision"], "low_score");
  EXPECT_EQ(json["speakers"][1]["name"], "Anna Schmidt");
  EXPECT_EQ(json["speakers"][1]["voice"]["speaker"], "SPEAKER_01");
  EXPECT_EQ(json["speakers"][1]["voice"]["best_score"], 1.0);
  EXPECT_EQ(json["settings"]["shaping"]["names"]["SPEAKER_01"], "Anna Schmidt");
  EXPECT_EQ(json["settings"]["voices"]["min_seconds"], 2.0);
  EXPECT_NE(run({"--format", "table"}).out.find("Anna Schmidt (voice 1.00)\n"), std::string::npos);

  // A threshold that nobody reaches; a name that is given by hand.
  EXPECT_EQ(run({"--voices-threshold", "1", "--voices-min-seconds", "100"}).out, plain.out);
  EXPECT_EQ(run({"--names", "SPEAKER_01=Ben"}).out, replaced(plain.out, "SPEAKER_01", "Ben"));
  // The other preset of the network knows the voice as well.
  const ProgramResult other =
      run_program({"run", "--preset", "open", "--voices", library(), sample().string()});
  EXPECT_NE(other.out.find("Anna%20Schmidt"), std::string::npos) << other.out << other.err;
}

TEST_F(Voices, OneVoiceNamesOneSpeaker) {
  ASSERT_EQ(add("Anna", {"--speaker", "SPEAKER_00"}).exit_code, 0);
  const ProgramResult result = run({"--voices-threshold", "-1"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.out.find("SPEAKER_01"), std::string::npos);
  EXPECT_NE(result.err.find("SPEAKER_01 sounds like Anna too"), std::string::npos) << result.err;
}

TEST_F(Voices, AnotherNetworkIsRefusedBeforeTheWork) {
  ASSERT_EQ(add("Anna", {"--speaker", "SPEAKER_00"}).exit_code, 0);
  const std::string text = content(library());
  const std::size_t hash = text.find("\"sha256\": \"") + 11;
  write_bytes(library(), replaced(text, text.substr(hash, 64), std::string(64, 'b')));
  const ProgramResult result = run({"--out", (folder_.path() / "out.rttm").string()});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("not the embedding network of the preset open-lite"), std::string::npos)
      << result.err;
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "out.rttm"));
  EXPECT_EQ(add("Anna", {"--speaker", "SPEAKER_00"}).exit_code, 2);
}

TEST_F(Voices, ShortEnrolmentsAreWarnedAboutAndSilenceIsRefused) {
  const ProgramResult little = add("Anna", {"--from", "6.7", "--to", "9", "--num-speakers", "1"});
  EXPECT_EQ(little.exit_code, 0) << little.err;
  EXPECT_NE(little.err.find("of speech are little"), std::string::npos) << little.err;
  const std::filesystem::path silence = folder_.path() / "silence.wav";
  write_bytes(silence, wav_pcm16(std::vector<float>(16000 * 3)));
  const ProgramResult none =
      run_program({"voices", "add", library(), "Ben", silence.string(), "--preset", "open-lite"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_NE(none.err.find("has no speech"), std::string::npos) << none.err;
}

}  // namespace
}  // namespace diarist::test
