// Formats, names and shaping as a user meets them: rows of bug_recipes.md sections 5 and 8.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "base/npy.hpp"
#include "diarist/formats.hpp"
#include "support/odd_audio.hpp"
#include "support/program.hpp"
#include "support/support.hpp"
#include "unit/output/format_results.hpp"
#include "unit/output/results.hpp"

namespace diarist::test {
namespace {

std::string content(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

class ProgramConvert : public testing::Test {
 protected:
  void SetUp() override { write_bytes(path("in.json"), to_json(small_result())); }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  TempFolder folder_;
};

TEST_F(ProgramConvert, EveryPairOfFormatsTellsTheSameTurns) {
  for (const FormatInfo& from : formats()) {
    if (!from.has_reader) continue;
    const std::string first = path("meeting." + std::string(from.endings[0]));
    const ProgramResult there = run_program({"convert", path("in.json"), first});
    EXPECT_EQ(there.exit_code, 0) << there.err;
    for (const FormatInfo& to : formats()) {
      if (!to.has_reader) continue;
      const std::string second = path("again/meeting." + std::string(to.endings[0]));
      std::filesystem::create_directories(folder_.path() / "again");
      const ProgramResult back = run_program({"convert", first, second});
      EXPECT_EQ(back.exit_code, 0) << back.err;
      EXPECT_TRUE(back.out.empty() && back.err.empty()) << back.out << back.err;
      const std::vector<Diarization> read = read_results(second);
      ASSERT_EQ(read.size(), 1U);
      EXPECT_EQ(read[0].uri, "meeting");
      // RTTM on the way moves an end by up to 1.5 ms, and once more on the way back.
      expect_same_turns(read[0], small_result(), 0.0026);
    }
  }
}

TEST_F(ProgramConvert, PipesAndNamesOfFormatsWork) {
  const std::string command = program().string() + " convert " + path("in.json") +
                              " - --to VTT | " + program().string() +
                              " convert - - --to csv --uri 'a b' --names Anna";
  const ProgramResult result = run_command({"sh", "-c", command});
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out,
            "uri,start,end,speaker\na b,0.031,2.500,Anna\na b,2.000,4.250,SPEAKER_01\n"
            "a b,10.000,30.000,Anna\n");
}

TEST_F(ProgramConvert, ManyRecordingsGoIntoOneFileOrAFolder) {
  write_bytes(path("many.rttm"),
              "SPEAKER a/b 1 0 1 <NA> <NA> A <NA> <NA>\nSPEAKER two%20words 1 1 1 <NA> <NA> B "
              "<NA> <NA>\nSPEAKER a/b 1 2 1 <NA> <NA> C <NA> <NA>\n");
  EXPECT_EQ(run_program({"convert", path("many.rttm"), path("many.csv")}).exit_code, 0);
  EXPECT_EQ(content(path("many.csv")),
            "uri,start,end,speaker\na/b,0.000,1.000,A\na/b,2.000,3.000,C\n"
            "two words,1.000,2.000,B\n");
  const ProgramResult refused = run_program({"convert", path("many.rttm"), path("many.srt")});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("a file of srt holds one recording"), std::string::npos)
      << refused.err;
  EXPECT_FALSE(std::filesystem::exists(path("many.srt")));
  EXPECT_EQ(run_program({"convert", path("many.rttm"), path("out/"), "--to", "srt,lab"}).exit_code,
            0);
  EXPECT_EQ(content(path("out/a_b.lab")), "0.000 1.000 A\n2.000 3.000 C\n");
  EXPECT_EQ(content(path("out/two words.srt")), "1\n00:00:01,000 --> 00:00:02,000\n[B]\n\n");
}

TEST_F(ProgramConvert, WrongUsageIsTwoAndBadFilesAreOne) {
  write_bytes(path("bad.srt"), "1\n00:00:01,000 --> 00:00:02,000\nhello\n");
  write_bytes(path("region.uem"), "a 1 0 1\n");
  const struct {
    std::vector<std::string> arguments;
    int code;
    const char* part;
  } cases[] = {
      {{path("in.json"), path("x.foo")}, 2, "--to"},
      {{path("in.json"), "-"}, 2, "--to"},
      {{path("in.json"), path("x.srt"), "--to", "xml"}, 2, "rttm, json, csv"},
      {{path("in.json"), path("x.srt"), "--names", "A,"}, 2, "empty"},
      {{path("in.json"), path("x.srt"), "--names", "A,S=B"}, 2, "mixes"},
      {{path("in.json"), path("x.srt"), "--pad", "-1"}, 2, "--pad"},
      {{path("in.json"), path("x.srt"), "--to", "srt,vtt"}, 2, "several formats"},
      {{path("region.uem"), path("x.srt")}, 2, "uem"},
      {{path("bad.srt"), path("x.rttm")}, 1, "who speaks"},
      {{path("missing.rttm"), path("x.srt")}, 1, "no such file"},
      {{path("in.json"), path("no/folder/x.srt")}, 1, "there is no folder"},
  };
  for (const auto& [arguments, code, part] : cases) {
    std::vector<std::string> all = {"convert"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const ProgramResult result = run_program(all);
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_EQ(lines(result.err), 1U) << result.err;
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  }
}

TEST_F(ProgramConvert, NamesComeFromFilesToo) {
  write_bytes(path("map.txt"), "# old, new\nSPEAKER_01\tBen = B\r\nSPEAKER_00=Anna, A\n");
  write_bytes(path("list.txt"), "Anna\n\nBen Lee\n");
  const auto first_column = [&](const std::string& names) {
    return run_program({"convert", path("in.json"), "-", "--to", "lab", "--names", names}).out;
  };
  EXPECT_EQ(first_column(path("map.txt")),
            "0.031 2.500 Anna,%20A\n2.000 4.250 Ben%20=%20B\n10.000 30.000 Anna,%20A\n");
  EXPECT_EQ(first_column(path("list.txt")),
            "0.031 2.500 Anna\n2.000 4.250 Ben%20Lee\n10.000 30.000 Anna\n");
  EXPECT_EQ(first_column("SPEAKER_01=SPEAKER_00"),
            "0.031 4.250 SPEAKER_00\n10.000 30.000 SPEAKER_00\n");
}

TEST(FormatsLive, OtherParsersReadTheSameTurns) {
  const char* python = std::getenv("DIARIST_TEST_PYTHON");
  if (python == nullptr || *python == '\0') {
    GTEST_SKIP() << "DIARIST_TEST_PYTHON names no Python with tools/requirements-test.txt";
  }
  const std::string seed = std::to_string(std::random_device()() % 1000000);
  const ProgramResult result = run_command(
      {python, DIARIST_FORMATS_TOOL, program().string(), "--seed", seed, "--count", "15"});
  EXPECT_EQ(result.exit_code, 0) << "seed " << seed << "\n" << result.out << result.err;
  EXPECT_NE(result.out.find(" 0 differ"), std::string::npos) << result.out << result.err;
}

class ProgramFormats : public testing::Test {
 protected:
  void SetUp() override {
    DIARIST_NEED(models_folder() / "open-lite");
    DIARIST_NEED(sample());
  }
  static std::filesystem::path sample() { return sample_folder() / "sample.wav"; }
  /// The sample's samples [from, to) seconds, after `silence` seconds of zeros.
  static std::string cut(double from, double to, double silence = 0) {
    const auto bytes = [](double seconds) {
      return static_cast<std::size_t>(std::llround(seconds * 16000)) * 2;
    };
    const std::string whole = content(sample()).substr(44);
    return wav_file(chunk("fmt ", wav_format({})) +
                    chunk("data", std::string(bytes(silence), '\0') +
                                      whole.substr(bytes(from), bytes(to) - bytes(from))));
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::vector<std::string> command(std::vector<std::string> more) const {
    more.insert(more.begin(), {"run", "--preset", "open-lite"});
    return more;
  }
  TempFolder folder_;
};

std::string all_formats() {
  std::string names = format_names();
  names.erase(std::remove(names.begin(), names.end(), ' '), names.end());
  return names;
}

TEST_F(ProgramFormats, NamesOfFilesComeBackFromEveryFormat) {
  // Rows 41, 42 and 43.
  const std::string voice = cut(6, 16);
  std::vector<std::string> stems = {
      "two words",           "tab\tname",          "-dash", "\"quote\"",    "100%",
      "1505728826.11848331", "1505728826.1184833", ".wav",  "日本語 ö ë 😀", "e\xCC\x81",
      "a --> b <c> & d",     std::string(200, 'n')};
  std::filesystem::create_directories(folder_.path() / "ö 日本語");
  std::vector<std::string> arguments = {"--out", path("out"), "--format", all_formats(), "--"};
  for (std::string& stem : stems) {
    const std::filesystem::path file =
        folder_.path() / "ö 日本語" / (stem == ".wav" ? stem : stem + ".wav");
    write_bytes(file, voice);
    arguments.push_back(file.string());
  }
  const ProgramResult result = run_program(command(arguments));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  for (const std::string& stem : stems) {
    Diarization wanted;
    for (const FormatInfo& info : formats()) {
      const std::filesystem::path file =
          folder_.path() / "out" / (stem + "." + std::string(info.endings[0]));
      ASSERT_TRUE(std::filesystem::exists(file)) << file;
      if (!info.has_reader) continue;
      const std::vector<Diarization> read = read_results(file);
      ASSERT_EQ(read.size(), 1U);
      EXPECT_EQ(read[0].uri, stem) << info.name;
      if (info.format == Format::kRttm) wanted = read[0];
      EXPECT_GE(read[0].turns.size(), 3U);
      expect_same_turns(read[0], wanted, 0.0021);
    }
    const std::string rttm = content(folder_.path() / "out" / (stem + ".rttm"));
    std::istringstream fields(rttm);
    std::string type, uri, channel;
    fields >> type >> uri >> channel;
    EXPECT_EQ(channel, "1") << rttm;  // the id is one field
  }
  // The program reads its own files as a scorer, too.
  const std::string odd = path("out/1505728826.11848331.rttm");
  EXPECT_EQ(run_program({"score", odd, odd}).exit_code, 0);
}

TEST_F(ProgramFormats, OneFileIsChosenByItsEnding) {
  const ProgramResult first = run_program(command({"--out", path("x.csv"), sample().string()}));
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_TRUE(content(path("x.csv")).starts_with("uri,start,end,speaker\nsample,"));
  // Several recordings in one file, in the order of the call; --format wins over the ending.
  write_bytes(path("b.wav"), cut(6, 16));
  const ProgramResult many = run_program(
      command({"--out", path("x.txt"), "--format", "tsv", path("b.wav"), sample().string()}));
  EXPECT_EQ(many.exit_code, 0) << many.err;
  const std::vector<Diarization> read = read_results(path("x.txt"), Format::kTsv);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(lines(content(path("x.txt"))), 1 + read[0].turns.size() + read[1].turns.size());
  const ProgramResult shown =
      run_program(command({"--out", "-", "--format", "uem", sample().string()}));
  EXPECT_EQ(shown.out, "sample 1 0.000 30.000\n");
}

TEST_F(ProgramFormats, WhatDoesNotFitIsRefusedBeforeTheWork) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"--format", "json,rttm", "a.wav"},
           {"--format", "json", "a.wav", "b.wav"},
           {"--out", path("x.srt"), "a.wav", "b.wav"},
           {"--out", path("x.srt"), "--format", "srt,vtt", "a.wav"},
           {"--names", "A,,B", "a.wav"},
           {"--min-duration-on", "nan", "a.wav"}}) {
    const ProgramResult result = run_program(command(arguments));
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_EQ(lines(result.err), 1U) << result.err;
  }
  EXPECT_FALSE(std::filesystem::exists(path("x.srt")));
}

TEST_F(ProgramFormats, ShapingShowsInEveryOutput) {
  // Row 30.
  const ProgramResult result =
      run_program(command({"--out", path("out"), "--format", all_formats(), "--min-duration-on",
                           "0.5", "--min-duration-off", "0.3", "--merge-gap", "0.5", "--pad",
                           "0.05", "--names", "Anna,Ben", sample().string()}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Diarization wanted = read_results(path("out/sample.json")).at(0);
  ASSERT_EQ(wanted.speakers.size(), 2U);
  EXPECT_LT(wanted.turns.size(), 13U);
  double seconds = 0;
  double before = 0;
  for (const Turn& turn : wanted.turns) {
    EXPECT_GE(turn.end - turn.start, 0.5);
    EXPECT_LE(turn.end, 30);
    EXPECT_GE(turn.start, before);
    before = turn.start;
    if (wanted.speakers[static_cast<std::size_t>(turn.speaker)].name == "Anna") {
      seconds += turn.end - turn.start;
    }
  }
  EXPECT_NEAR(wanted.speakers[0].speech_seconds, seconds, 0.02);
  for (const FormatInfo& info : formats()) {
    if (!info.has_reader) continue;
    const Diarization read = read_results(path("out/sample." + std::string(info.endings[0]))).at(0);
    expect_same_turns(read, wanted, 0.0021);
  }
  EXPECT_NE(content(path("out/sample.txt")).find("Anna"), std::string::npos);
}

TEST_F(ProgramFormats, ExclusiveTurnsAreThoseOfEveryFormat) {
  const ProgramResult result = run_program(command(
      {"--out", path("out"), "--exclusive", "--format", "rttm,json,srt", sample().string()}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Diarization json = read_results(path("out/sample.json")).at(0);
  for (std::size_t i = 0; i + 1 < json.turns.size(); ++i) {
    EXPECT_LE(json.turns[i].end, json.turns[i + 1].start);
  }
  expect_same_turns(read_results(path("out/sample.rttm")).at(0), json, 0.0021);
  expect_same_turns(read_results(path("out/sample.srt")).at(0), json, 0.001);
  EXPECT_TRUE(json.settings.shaping.exclusive);
}

TEST_F(ProgramFormats, TurnsOfUpsampledAudioEndInside) {
  // Row 26: 445,440 samples that were 8 kHz once (every second one interpolated).
  std::string bytes = content(sample()).substr(44, 445440 * 2);
  for (std::size_t i = 2; i + 4 < bytes.size(); i += 4) {
    const auto value = [&](std::size_t at) {
      return static_cast<std::int16_t>(static_cast<unsigned char>(bytes[at]) |
                                       static_cast<unsigned char>(bytes[at + 1]) << 8);
    };
    const int middle = (value(i - 2) + value(i + 2)) / 2;
    bytes[i] = static_cast<char>(middle & 0xFF);
    bytes[i + 1] = static_cast<char>(middle >> 8 & 0xFF);
  }
  write_bytes(path("up.wav"), wav_file(chunk("fmt ", wav_format({})) + chunk("data", bytes)));
  const ProgramResult result =
      run_program(command({"--out", path("out"), "--format", all_formats(), path("up.wav")}));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const FormatInfo& info : formats()) {
    if (!info.has_reader) continue;
    const Diarization read = read_results(path("out/up." + std::string(info.endings[0]))).at(0);
    ASSERT_GE(read.turns.size(), 5U);
    for (const Turn& turn : read.turns) EXPECT_LE(turn.end, 27.84 + 1e-9) << info.name;
  }
}

TEST_F(ProgramFormats, TheLastWordIsCovered) {
  // Row 27: silence, then 2.4 s in which somebody talks to the end of the file.
  for (int tenths = 0; tenths <= 10; tenths += 2) {
    const double total = 60 + tenths / 10.0;
    write_bytes(path("late.wav"), cut(22, 24.4, total - 2.4));
    const ProgramResult result = run_program(command({"--format", "json", path("late.wav")}));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const nlohmann::json json = nlohmann::json::parse(result.out);
    ASSERT_FALSE(json["turns"].empty()) << total;
    EXPECT_NEAR(json["turns"].back()["end"].get<double>(), total, 0.1);
    EXPECT_NEAR(json["turns"].front()["start"].get<double>(), total - 2.4, 0.25);
  }
}

TEST_F(ProgramFormats, TheLastTurnCanBeAskedForAgain) {
  // Row 28: 2,186,245 samples are 136.640312 s.
  constexpr std::size_t kSamples = 2186245;
  const std::string whole = content(sample()).substr(44, 480000 * 2);
  std::string bytes;
  while (bytes.size() < kSamples * 2) bytes += whole;
  bytes.erase(0, bytes.size() - kSamples * 2);  // ends in the middle of a turn
  write_bytes(path("long.wav"), wav_file(chunk("fmt ", wav_format({})) + chunk("data", bytes)));
  ASSERT_EQ(run_program(command({"--out", path("long.rttm"), path("long.wav")})).exit_code, 0);
  const RttmFile read = read_rttm(path("long.rttm"));
  double last = 0;
  std::size_t count = read.at("long").size();
  for (const RttmTurn& turn : read.at("long")) last = std::max(last, turn.start + turn.duration);
  EXPECT_LE(last, kSamples / 16000.0);
  EXPECT_GT(last, 136.5);
  const ProgramResult embed =
      run_program({"embed", path("long.wav"), "--preset", "open-lite", "--segments",
                   path("long.rttm"), "--out", path("long.npy")});
  ASSERT_EQ(embed.exit_code, 0) << embed.err;
  EXPECT_EQ(base::read_npy(path("long.npy")).shape.at(0), static_cast<std::int64_t>(count));
}

}  // namespace
}  // namespace diarist::test
