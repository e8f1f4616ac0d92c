// Any recording in: formats, rates, channels, tracks, stretches, and the odd inputs of public bug
// reports.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <soxr.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>
#include <sstream>

#include "diarist/formats.hpp"
#include "support/odd_audio.hpp"
#include "support/program.hpp"
#include "support/support.hpp"

namespace diarist::test {
namespace {

constexpr double kFrame = 270.0 / 16000;  // seconds

// Samples of sample.wav, behind whatever chunks its header has.
std::vector<float> sample_values() {
  std::ifstream stream(sample_folder() / "sample.wav", std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  const std::string bytes = text.str();
  const std::size_t data = bytes.find("data") + 8;
  std::vector<float> values;
  for (std::size_t i = data; i + 1 < bytes.size() && values.size() < 480000; i += 2)
    values.push_back(static_cast<float>(static_cast<std::int16_t>(
                         static_cast<unsigned char>(bytes[i]) |
                         static_cast<unsigned>(static_cast<unsigned char>(bytes[i + 1])) << 8)) /
                     32768.0F);
  return values;
}

std::vector<float> times(std::vector<float> values, float factor) {
  for (float& value : values) value *= factor;
  return values;
}

std::vector<float> interleave(const std::vector<float>& left, const std::vector<float>& right) {
  std::vector<float> both;
  for (std::size_t i = 0; i < left.size(); ++i) both.insert(both.end(), {left[i], right[i]});
  return both;
}

std::string float_wav(const std::vector<float>& samples, int rate, int channels = 1) {
  return wav_file(
      chunk("fmt ", wav_format({.tag = 3, .channels = channels, .sample_rate = rate, .bits = 32})) +
      chunk("data", float_bytes(samples)));
}

// Only what every rate in use can hold: a windowed sinc of 2001 taps that ends at 6.9 kHz.
std::vector<float> below_6900_hz(const std::vector<float>& samples) {
  constexpr int kHalf = 1000;
  std::vector<double> taps(2 * kHalf + 1);
  for (int i = -kHalf; i <= kHalf; ++i) {
    const double x = 2 * 6900.0 / 16000 * i;
    const double sinc = i == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
    const double window = 0.42 + 0.5 * std::cos(std::numbers::pi * i / kHalf) +
                          0.08 * std::cos(2 * std::numbers::pi * i / kHalf);
    taps[static_cast<std::size_t>(i + kHalf)] = 2 * 6900.0 / 16000 * sinc * window;
  }
  std::vector<double> padded(samples.size() + 2 * kHalf, 0.0);
  std::copy(samples.begin(), samples.end(), padded.begin() + kHalf);
  std::vector<float> filtered(samples.size());
  for (std::size_t n = 0; n < samples.size(); ++n) {
    double sum = 0;
    for (std::size_t k = 0; k < taps.size(); ++k) sum += taps[k] * padded[n + k];
    filtered[n] = static_cast<float>(sum);
  }
  return filtered;
}

std::vector<float> rendered(const std::vector<float>& samples, int rate) {
  std::vector<float> out(samples.size() * static_cast<std::size_t>(rate) / 16000 + 1000);
  std::size_t done = 0;
  const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_VHQ, 0);
  soxr_oneshot(16000, rate, 1, samples.data(), samples.size(), nullptr, out.data(), out.size(),
               &done, nullptr, &quality, nullptr);
  out.resize(done);
  return out;
}

class ProgramInput : public testing::Test {
 protected:
  void SetUp() override {
    DIARIST_NEED(models_folder() / "open");
    DIARIST_NEED(sample_folder() / "sample.wav");
  }
  std::filesystem::path at(const std::string& name) const { return folder_.path() / name; }
  std::string write(const std::string& name, const std::string& bytes) const {
    write_bytes(at(name), bytes);
    return at(name).string();
  }

  ProgramResult run(std::vector<std::string> arguments) const {
    std::vector<std::string> all = {"run", "--preset", "open-lite"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return run_program(all);
  }
  // Through a shell, "$0" being the program and "$1" the argument.
  static ProgramResult shell(const std::string& script, const std::string& argument) {
    return run_command({"bash", "-c", script, program().string(), argument},
                       {{"DIARIST_MODELS", models_folder().string()}});
  }
  std::vector<RttmTurn> turns(const std::vector<std::string>& arguments) const {
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const RttmFile file = parse_rttm(result.out, "output");
    return file.empty() ? std::vector<RttmTurn>{} : file.begin()->second;
  }
  nlohmann::json json(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--format", "json"});
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return nlohmann::json::parse(result.out);
  }

  TempFolder folder_;
};

void expect_same(const std::vector<RttmTurn>& turns, const std::vector<RttmTurn>& wanted,
                 double tolerance, const std::string& what) {
  ASSERT_EQ(turns.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    EXPECT_NEAR(turns[i].start, wanted[i].start, tolerance + 1e-3) << what;
    EXPECT_NEAR(turns[i].start + turns[i].duration, wanted[i].start + wanted[i].duration,
                tolerance + 1e-3)
        << what;
    EXPECT_EQ(turns[i].label, wanted[i].label) << what;
  }
}

TEST_F(ProgramInput, StandardInputIsAnotherFile) {
  const std::string sample = (sample_folder() / "sample.wav").string();
  const std::vector<RttmTurn> wanted = turns({sample});
  const std::string raw = write("raw", wav_pcm16(sample_values()).substr(44));
  const std::string verb = "\"$0\" run --preset open-lite ";
  for (const auto& [script, argument] : {std::pair{"cat \"$1\" | " + verb + "-", sample},
                                         {verb + "- < \"$1\"", sample},
                                         {"cat \"$1\" | " + verb + "--raw s16le:16000:1 -", raw},
                                         {verb + "--raw s16le:16000:1 \"$1\"", raw},
                                         {verb + "<(cat \"$1\")", sample}}) {
    const ProgramResult result = shell(script, argument);
    ASSERT_EQ(result.exit_code, 0) << script << "\n" << result.err;
    const RttmFile file = parse_rttm(result.out, "output");
    ASSERT_EQ(file.size(), 1U) << script;
    const bool stdin_used =
        script.find("$1\" |") != std::string::npos || script.find("< ") != std::string::npos;
    EXPECT_EQ(file.begin()->first == "stdin", stdin_used) << script;
    expect_same(file.begin()->second, wanted, 0, script);
  }
  const ProgramResult empty = run({"-"});  // standard input is /dev/null
  EXPECT_EQ(empty.exit_code, 1);
  EXPECT_NE(empty.err.find("standard input: is empty; send a recording into it\n"),
            std::string::npos)
      << empty.err;
}

// Row 32 of the bug recipes.
TEST_F(ProgramInput, TheRateDoesNotMatter) {
  const std::vector<float> master = below_6900_hz(sample_values());
  const std::vector<RttmTurn> wanted = turns({write("r16000.wav", float_wav(master, 16000))});
  EXPECT_GE(wanted.size(), 8U);
  for (const int rate : {22050, 32000, 44100, 48000, 96000, 192000}) {
    const std::string name = fmt::format("r{}.wav", rate);
    expect_same(turns({write(name, float_wav(rendered(master, rate), rate))}), wanted, 2 * kFrame,
                name);
  }
}

TEST_F(ProgramInput, AStretchKeepsTheTimesOfTheWhole) {
  const std::string sample = (sample_folder() / "sample.wav").string();
  const std::vector<float> all = sample_values();
  const std::string cut =
      write("cut.wav", float_wav({all.begin() + 160000, all.begin() + 320000}, 16000));
  std::vector<RttmTurn> wanted = turns({cut});
  ASSERT_GE(wanted.size(), 2U);
  for (RttmTurn& turn : wanted) turn.start += 10;
  expect_same(turns({"--from", "10", "--to", "0:20", sample}), wanted, 0, "stretch");
  const nlohmann::json found = json({"--from", "0:00:10", "--to", "20.0", sample});
  EXPECT_EQ(found.at("duration"), 20.0);
  EXPECT_EQ(found.at("settings").at("audio"), (nlohmann::json{{"raw", nullptr},
                                                              {"track", nullptr},
                                                              {"channels", "mix"},
                                                              {"from", 10.0},
                                                              {"to", 20.0},
                                                              {"clock", "samples"}}));
  const ProgramResult late = run({"--from", "31", sample});
  EXPECT_EQ(late.exit_code, 0);
  EXPECT_TRUE(late.out.empty());
  EXPECT_NE(late.err.find("ends before 31.000 s"), std::string::npos) << late.err;
}

TEST_F(ProgramInput, InputsThatCanNotBeMeantAreWrongUsage) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"--raw", "s16le", "a.raw"},
           {"--raw", "s17le:16000:1", "a.raw"},
           {"--track", "0", "a.mkv"},
           {"--channel", "0", "a.wav"},
           {"--from", "1:60", "a.wav"},
           {"--from", "-1", "a.wav"},
           {"--from", "1.5:00", "a.wav"},
           {"--from", "x", "a.wav"},
           {"--to", "", "a.wav"},
           {"--from", "nan", "a.wav"},
           {"--from", "10", "--to", "10", "a.wav"},
           {"--channel", "1", "--split-channels", "a.wav"},
           {"--split-channels", "--save-stages", at("stages").string(), "a.wav"}}) {
    const ProgramResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments[0] << " " << arguments[1] << ": " << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

TEST_F(ProgramInput, InvertedCopiesAreOneSide) {
  const std::vector<float> all = sample_values();
  const std::vector<RttmTurn> wanted = turns({write("mono.wav", float_wav(all, 16000))});
  const std::string inverted =
      write("inverted.wav", float_wav(interleave(all, times(all, -1)), 16000, 2));
  expect_same(turns({inverted}), wanted, 0, "inverted");
  const nlohmann::json found = json({inverted});
  ASSERT_EQ(found.at("warnings").size(), 1U);
  EXPECT_NE(found.at("warnings")[0].get<std::string>().find("phase-inverted"), std::string::npos);
  const std::string one =
      write("one.wav", float_wav(interleave(std::vector<float>(all.size()), all), 16000, 2));
  expect_same(turns({"--channel", "2", one}), wanted, 0, "channel 2");
}

// A telephone call made of the sample's own voices: one per side by its reference, with the other
// 20 dB lower.
TEST_F(ProgramInput, SidesAreDiarizedApart) {
  DIARIST_NEED(sample_folder() / "sample.rttm");
  const RttmFile reference = read_rttm(sample_folder() / "sample.rttm");
  ASSERT_EQ(reference.size(), 1U);
  std::vector<std::string> labels;
  for (const RttmTurn& turn : reference.begin()->second)
    if (std::find(labels.begin(), labels.end(), turn.label) == labels.end())
      labels.push_back(turn.label);
  ASSERT_EQ(labels.size(), 2U);
  const std::vector<float> all = sample_values();
  std::vector<float> left = times(all, 0.001F), right = left;
  std::vector<int> voices(all.size(), 0);  // bits
  for (const RttmTurn& turn : reference.begin()->second)
    for (auto i = static_cast<std::size_t>(turn.start * 16000);
         i < std::min(all.size(), static_cast<std::size_t>((turn.start + turn.duration) * 16000));
         ++i)
      voices[i] |= turn.label == labels[0] ? 1 : 2;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (voices[i] == 1) left[i] = all[i], right[i] = 0.1F * all[i];
    if (voices[i] == 2) right[i] = all[i], left[i] = 0.1F * all[i];
  }
  const std::string call = write("call.wav", float_wav(interleave(left, right), 16000, 2));
  const nlohmann::json found = json({"--split-channels", call});
  EXPECT_EQ(found.at("settings").at("audio").at("channels"), "split");
  double wrong = 0;
  double spoken = 0;
  for (const nlohmann::json& turn : found.at("turns")) {
    const std::string speaker = turn.at("speaker");
    const bool is_left = speaker.starts_with("LEFT_0");
    EXPECT_TRUE(is_left || speaker.starts_with("RIGHT_0")) << speaker;
    for (auto i = static_cast<std::size_t>(turn.at("start").get<double>() * 16000);
         i < static_cast<std::size_t>(turn.at("end").get<double>() * 16000); ++i) {
      spoken += 1.0 / 16000;
      if (voices[i] == (is_left ? 2 : 1)) wrong += 1.0 / 16000;
    }
  }
  EXPECT_GT(spoken, 15);
  EXPECT_LT(wrong, 0.05 * spoken);
  // The exclusive turns: one at a time, and all inside the recording.
  double end = 0;
  for (const nlohmann::json& turn : found.at("exclusive_turns")) {
    EXPECT_GE(turn.at("start").get<double>(), end - 1e-9);
    end = turn.at("end");
    EXPECT_LE(end, 30.0);
  }
  // Through a pipe, the same bytes.
  const ProgramResult file = run({"--split-channels", call});
  const ProgramResult piped = shell(
      "cat \"$1\" | \"$0\" run --preset open-lite --split-channels - | sed 's/ stdin / call /'",
      call);
  EXPECT_EQ(piped.out, file.out);
  const ProgramResult mono = run({"--split-channels", (sample_folder() / "sample.wav").string()});
  EXPECT_EQ(mono.exit_code, 1);
  EXPECT_NE(mono.err.find("has 1 channel; splitting channels needs two"), std::string::npos)
      << mono.err;
}

// Rows 1, 4, 5, 7, 8, 10, 13, 14 and 17 of the bug recipes.
TEST_F(ProgramInput, OddRecordingsAreNoErrors) {
  const std::vector<float> voice = sample_values();
  const auto silence = [](double seconds) {
    return std::vector<float>(static_cast<std::size_t>(seconds * 16000), 0.0F);
  };
  const auto tone = [](double seconds, double hertz) {
    std::vector<float> values(static_cast<std::size_t>(seconds * 16000));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = 0.3F * static_cast<float>(std::sin(2 * std::numbers::pi * hertz *
                                                     static_cast<double>(i) / 16000));
    return values;
  };
  const auto join = [](std::vector<float> first, const std::vector<float>& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  };
  const std::vector<float> burst(voice.begin() + 11 * 16000, voice.begin() + 12 * 16000);
  std::vector<float> chord = tone(20, 261.6);
  for (const double hertz : {329.6, 392.0}) {
    const std::vector<float> other = tone(20, hertz);
    for (std::size_t i = 0; i < chord.size(); ++i) chord[i] += other[i];
  }
  std::vector<float> faint = times(burst, 0.0056F);  // -45 dB
  faint = join(join(silence(1.5), faint), silence(1.5));
  std::uint32_t state = 7;
  for (float& value : faint) {
    state = state * 1664525U + 1013904223U;
    value += (static_cast<float>(state >> 16) / 32768.0F - 1.0F) * 0.01F;
  }
  std::vector<float> bad = voice;
  for (std::size_t i = 0; i < 200; ++i) bad[160000 + i] = i < 100 ? NAN : INFINITY;
  struct Case {
    const char* name;
    std::string bytes;
    double duration;
    int least_speakers;
    int most_speakers;
  };
  const std::vector<Case> cases = {
      {"short",
       float_wav(rendered({voice.begin() + 160000, voice.begin() + 160000 + 85682}, 22050), 22050),
       5.355, 1, 2},
      {"burst", float_wav(join(join(silence(10), burst), silence(9)), 16000), 20, 1, 1},
      {"header", wav_file(chunk("fmt ", wav_format({})) + chunk("data", "")), 0, 0, 0},
      {"silence", float_wav(silence(60), 16000), 60, 0, 0},
      {"tone", float_wav(tone(20, 440), 16000), 20, 0, 1},
      {"chord", float_wav(times(chord, 0.3F), 16000), 20, 0, 1},
      {"faint", float_wav(faint, 16000), 4, 0, 1},
      {"beep", float_wav(join(join(burst, tone(2, 1000)), join(silence(3), burst)), 16000), 7, 1,
       2},
      {"not_finite", float_wav(bad, 16000), 30, 2, 2},
  };
  std::vector<std::string> arguments = {"--out", at("out").string(), "--format", "json"};
  for (const Case& c : cases) arguments.push_back(write(fmt::format("{}.wav", c.name), c.bytes));
  const ProgramResult result = run(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const Case& c : cases) {
    std::ifstream stream(at("out") / fmt::format("{}.json", c.name));
    const nlohmann::json found = nlohmann::json::parse(stream);
    EXPECT_NEAR(found.at("duration").get<double>(), c.duration, 0.001) << c.name;
    EXPECT_GE(static_cast<int>(found.at("speakers").size()), c.least_speakers) << c.name;
    EXPECT_LE(static_cast<int>(found.at("speakers").size()), c.most_speakers) << c.name;
    double start = 0;
    for (const nlohmann::json& turn : found.at("turns")) {
      EXPECT_GE(turn.at("start").get<double>(), start) << c.name;
      start = turn.at("start");
      EXPECT_LE(turn.at("end").get<double>(), c.duration + 1e-9) << c.name;
      EXPECT_LT(start, turn.at("end").get<double>()) << c.name;
    }
  }
  // Row 13: speech that starts late is not shifted.
  const nlohmann::json late =
      json({write("late.wav", float_wav(join(silence(339), voice), 16000))});
  const nlohmann::json early =
      json({write("early.wav", float_wav(join(silence(9), voice), 16000))});
  ASSERT_FALSE(late.at("turns").empty());
  EXPECT_NEAR(late.at("turns")[0].at("start").get<double>() - 330,
              early.at("turns")[0].at("start").get<double>(), kFrame + 1e-3);
}

}  // namespace
}  // namespace diarist::test
