// sample.wav in the containers and codecs of FFmpeg.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "diarist/formats.hpp"
#include "support/odd_audio.hpp"
#include "support/program.hpp"
#include "support/support.hpp"
#include "unit/audio/media_writer.hpp"

namespace diarist::test {
namespace {

constexpr double kFrame = 270.0 / 16000;  // seconds

struct Format {
  const char* name;  // with the usual ending
  const char* container;
  const char* codec;
};

class ProgramMedia : public testing::Test {
 protected:
  void SetUp() override {
    DIARIST_NEED(models_folder() / "open");
    DIARIST_NEED(sample_folder() / "sample.wav");
    std::ifstream stream(sample_folder() / "sample.wav", std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    const std::string bytes = text.str();
    for (std::size_t i = bytes.find("data") + 8; i + 1 < bytes.size(); i += 2)
      track_.samples.push_back(
          static_cast<float>(static_cast<std::int16_t>(
              static_cast<unsigned char>(bytes[i]) |
              static_cast<unsigned>(static_cast<unsigned char>(bytes[i + 1])) << 8)) /
          32768.0F);
    track_.bit_rate = 64000;
  }

  // Turns of every format that could be written, in one run; the first are those of the WAV file.
  std::vector<std::pair<std::string, std::vector<RttmTurn>>> run(
      const std::vector<Format>& formats) {
    const std::filesystem::path out = folder_.path() / "out";
    std::vector<std::string> names = {"sample"};
    std::vector<std::string> arguments = {"run",   "--preset",   "open-lite",
                                          "--out", out.string(), (sample_folder() / "sample.wav")};
    for (const Format& format : formats) {
      const std::filesystem::path file = folder_.path() / format.name;
      if (!write_media(file, format.container, format.codec, {&track_, 1})) {
        std::printf("no encoder for %s\n", format.name);
        continue;
      }
      names.push_back(file.stem().string());
      arguments.push_back(file.string());
    }
    const ProgramResult result = run_program(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::vector<std::pair<std::string, std::vector<RttmTurn>>> all;
    for (const std::string& name : names) {
      const RttmFile file = read_rttm(out / (name + ".rttm"));
      all.emplace_back(name, file.empty() ? std::vector<RttmTurn>{} : file.begin()->second);
    }
    return all;
  }

  TempFolder folder_;
  MediaTrack track_;
};

TEST_F(ProgramMedia, TenContainersGiveTheSameTurns) {
  const auto all = run({{"flac.flac", "flac", "flac"},
                        {"matroska.mkv", "matroska", "flac"},
                        {"quicktime.mov", "mov", "pcm_s16le"},
                        {"alac.m4a", "ipod", "alac"},
                        {"ogg.ogg", "ogg", "flac"},
                        {"aiff.aiff", "aiff", "pcm_s16be"},
                        {"caf.caf", "caf", "pcm_s16le"},
                        {"w64.w64", "w64", "pcm_s16le"},
                        {"au.au", "au", "pcm_s16be"},
                        {"avi.avi", "avi", "pcm_s16le"},
                        {"nut.nut", "nut", "pcm_s16le"},
                        {"tta.tta", "tta", "tta"},
                        {"float.wav", "wav", "pcm_f32le"}});
  if (all.size() < 11) GTEST_SKIP() << "this FFmpeg lacks encoders";
  const std::vector<RttmTurn>& wanted = all[0].second;
  EXPECT_GE(wanted.size(), 10U);
  for (const auto& [name, turns] : all) {
    ASSERT_EQ(turns.size(), wanted.size()) << name;
    for (std::size_t i = 0; i < turns.size(); ++i) {
      EXPECT_NEAR(turns[i].start, wanted[i].start, kFrame) << name;
      EXPECT_NEAR(turns[i].duration, wanted[i].duration, kFrame) << name;
      EXPECT_EQ(turns[i].label, wanted[i].label) << name;
    }
  }
}

// Lossy codecs change the sound and with it borderline decisions; the turns as a whole stay.
TEST_F(ProgramMedia, LossyCodecsKeepTheTurns) {
  const auto all = run({{"mp3.mp3", "mp3", "libmp3lame"},
                        {"aac.m4a", "ipod", "aac"},
                        {"vorbis.ogg", "ogg", "libvorbis"},
                        {"opus.opus", "ogg", "libopus"},
                        {"webm.webm", "webm", "libopus"},
                        {"transport.ts", "mpegts", "aac"}});
  if (all.size() < 4) GTEST_SKIP() << "this FFmpeg lacks encoders";
  for (const auto& [name, turns] : all) {
    double both = 0;
    double either = 0;
    const auto speaks = [](const std::vector<RttmTurn>& list, double time) {
      return std::any_of(list.begin(), list.end(), [&](const RttmTurn& turn) {
        return turn.start <= time && time < turn.start + turn.duration;
      });
    };
    for (double time = 0; time < 30; time += 0.01) {
      const bool here = speaks(turns, time);
      const bool wanted = speaks(all[0].second, time);
      both += here && wanted ? 1 : 0;
      either += here || wanted ? 1 : 0;
    }
    EXPECT_GT(both, 0.95 * either) << name;
  }
}

}  // namespace
}  // namespace diarist::test
