// Formats read through libsndfile, written by libsndfile.

#include "audio/sndfile_reader.hpp"

#include <cmath>

#include "support/odd_audio.hpp"
#include "support/support.hpp"
#include "unit/audio/read_all.hpp"

namespace diarist::test {
namespace {

std::vector<float> on_grid(std::span<const float> samples, double steps) {
  std::vector<float> values;
  for (const float x : samples) {
    values.push_back(static_cast<float>(std::nearbyint(x * steps) / steps));
  }
  return values;
}

struct Lossless {
  const char* name;
  int format;
  double steps;  // integers per unit; 0: floats
};

class LosslessTest : public testing::TestWithParam<Lossless> {};

TEST_P(LosslessTest, IsExact) {
  const TempFolder folder;
  const std::filesystem::path file = folder.path() / "x";
  const std::vector<float> signal = test_signal(70001);
  const std::vector<float> wanted =
      GetParam().steps > 0 ? on_grid(signal, GetParam().steps) : signal;
  ASSERT_TRUE(write_sndfile(file, GetParam().format, wanted));
  const auto source = audio::open_file(file);
  EXPECT_EQ(source->expected_samples(), 70001);
  EXPECT_EQ(read_all(*source), wanted);
  EXPECT_TRUE(source->warnings().empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, LosslessTest,
    testing::Values(Lossless{"flac16", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 32768},
                    Lossless{"flac24", SF_FORMAT_FLAC | SF_FORMAT_PCM_24, 8388608},
                    Lossless{"aiff16", SF_FORMAT_AIFF | SF_FORMAT_PCM_16, 32768},
                    Lossless{"aiff_float", SF_FORMAT_AIFF | SF_FORMAT_FLOAT, 0},
                    Lossless{"w64_24", SF_FORMAT_W64 | SF_FORMAT_PCM_24, 8388608},
                    Lossless{"rf64_16", SF_FORMAT_RF64 | SF_FORMAT_PCM_16, 32768},
                    Lossless{"wavex_24", SF_FORMAT_WAVEX | SF_FORMAT_PCM_24, 8388608},
                    Lossless{"wav_double", SF_FORMAT_WAV | SF_FORMAT_DOUBLE, 0},
                    Lossless{"rifx_16", SF_FORMAT_WAV | SF_FORMAT_PCM_16 | SF_ENDIAN_BIG, 32768},
                    Lossless{"au_16", SF_FORMAT_AU | SF_FORMAT_PCM_16, 32768},
                    Lossless{"caf_alac", SF_FORMAT_CAF | SF_FORMAT_ALAC_16, 32768}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Sndfile, LossyFormatsKeepTimeAndShape) {
  struct Lossy {
    int format;
    std::int64_t slack;  // samples of padding some codecs add
  };
  const std::vector<float> signal = test_signal(160000);
  for (const Lossy& lossy :
       {Lossy{SF_FORMAT_OGG | SF_FORMAT_VORBIS, 0}, Lossy{SF_FORMAT_OGG | SF_FORMAT_OPUS, 0},
        Lossy{SF_FORMAT_WAV | SF_FORMAT_MS_ADPCM, 1000}, Lossy{SF_FORMAT_WAV | SF_FORMAT_ULAW, 0},
        Lossy{0x230000 | 0x0082, 0}}) {  // MP3, since libsndfile 1.1
    SCOPED_TRACE(fmt::format("{:x}", lossy.format));
    const TempFolder folder;
    const std::filesystem::path file = folder.path() / "x";
    if (!write_sndfile(file, lossy.format, signal)) continue;
    const std::vector<float> read = read_file(file);
    EXPECT_GE(static_cast<std::int64_t>(read.size()), 160000);
    EXPECT_LE(static_cast<std::int64_t>(read.size()), 160000 + lossy.slack);
    // A codec's delay must not be left in: the error is small where a shift by one sample is not.
    double error = 0;
    double shifted = 0;
    double power = 0;
    for (std::size_t i = 2000; i < 158000; ++i) {
      error += std::pow(static_cast<double>(read[i]) - signal[i], 2);
      shifted += std::pow(static_cast<double>(read[i + 1]) - signal[i], 2);
      power += std::pow(static_cast<double>(signal[i]), 2);
    }
    EXPECT_LT(error, 0.05 * power);
    EXPECT_LT(error, shifted);
  }
}

TEST(Sndfile, ManyChannels) {
  const TempFolder folder;
  for (const int channels : {2, 6, 8}) {
    const std::filesystem::path file = folder.path() / "x.flac";
    const std::vector<float> signal = on_grid(test_signal(3000 * channels), 32768);
    ASSERT_TRUE(write_sndfile(file, SF_FORMAT_FLAC | SF_FORMAT_PCM_16, signal, 16000, channels));
    EXPECT_EQ(read_file(file), read_all(*audio::open_memory({signal, 16000, channels})));
  }
}

}  // namespace
}  // namespace diarist::test
