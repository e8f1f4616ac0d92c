// Sample encodings against libsndfile's reading of the same bytes.

#include "audio/pcm.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "support/odd_audio.hpp"
#include "support/support.hpp"
#include "unit/audio/read_all.hpp"

namespace diarist::test {
namespace {

using audio::Encoding;

struct Case {
  const char* name;
  Encoding encoding;
  WavFormat format;
};

class PcmTest : public testing::TestWithParam<Case> {};

// Every byte value occurs in every place of a sample, and the extremes as well.
std::string all_bytes(std::size_t width) {
  std::string bytes;
  for (std::size_t place = 0; place < width; ++place) {
    for (int value = 0; value < 256; ++value) {
      std::string sample(width, '\x5a');
      sample[place] = static_cast<char>(value);
      bytes += sample;
    }
  }
  bytes += std::string(width, '\0') + std::string(width, '\xff');
  bytes += std::string(width - 1, '\0') + '\x80';
  bytes += std::string(width - 1, '\xff') + '\x7f';
  return bytes;
}

TEST_P(PcmTest, EqualsLibsndfile) {
  const Case& c = GetParam();
  const std::string bytes = all_bytes(audio::sample_bytes(c.encoding));
  std::vector<float> ours(bytes.size() / audio::sample_bytes(c.encoding));
  audio::decode_pcm(c.encoding, std::as_bytes(std::span(bytes)), ours);

  const TempFolder folder;
  const std::filesystem::path file = folder.path() / "x.wav";
  write_bytes(file, wav_file(chunk("fmt ", wav_format(c.format)) + chunk("data", bytes)));
  SF_INFO info{};
  SNDFILE* in = sf_open(file.c_str(), SFM_READ, &info);
  ASSERT_NE(in, nullptr) << sf_strerror(nullptr);
  std::vector<float> theirs(ours.size());
  EXPECT_EQ(sf_read_float(in, theirs.data(), static_cast<sf_count_t>(theirs.size())),
            static_cast<sf_count_t>(theirs.size()));
  sf_close(in);
  EXPECT_EQ(std::memcmp(ours.data(), theirs.data(), 4 * ours.size()), 0);
  // And the reader of WAV files takes this way.
  const std::vector<float> read = read_file(file);
  ASSERT_EQ(read.size(), ours.size());
  EXPECT_EQ(std::memcmp(ours.data(), read.data(), 4 * ours.size()), 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, PcmTest,
    testing::Values(
        Case{"u8", Encoding::kU8, {.bits = 8}}, Case{"s16", Encoding::kS16, {}},
        Case{"s24", Encoding::kS24, {.bits = 24}}, Case{"s32", Encoding::kS32, {.bits = 32}},
        Case{"f32", Encoding::kF32, {.tag = 3, .bits = 32}},
        Case{"f64", Encoding::kF64, {.tag = 3, .bits = 64}},
        Case{"a_law", Encoding::kALaw, {.tag = 6, .bits = 8}},
        Case{"mu_law", Encoding::kMuLaw, {.tag = 7, .bits = 8}},
        Case{"extensible_s24", Encoding::kS24, {.bits = 24, .extensible = true}},
        Case{"extensible_f32", Encoding::kF32, {.tag = 3, .bits = 32, .extensible = true}}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Pcm, IntegersAreDividedByTheirRange) {
  const std::string bytes = little(0x8000, 2) + little(0x7fff, 2) + little(1, 2) + little(0, 2);
  std::vector<float> samples(4);
  audio::decode_pcm(Encoding::kS16, std::as_bytes(std::span(bytes)), samples);
  EXPECT_EQ(samples, (std::vector<float>{-1.0F, 32767.0F / 32768, 1.0F / 32768, 0.0F}));
}

TEST(Pcm, LargeAndNotFiniteFloatsPass) {
  const std::vector<float> values = {2.5F, -1e30F, std::numeric_limits<float>::infinity(),
                                     std::numeric_limits<float>::quiet_NaN()};
  std::vector<float> samples(4);
  const std::string bytes = float_bytes(values);
  audio::decode_pcm(Encoding::kF32, std::as_bytes(std::span(bytes)), samples);
  EXPECT_EQ(samples[0], 2.5F);
  EXPECT_EQ(samples[1], -1e30F);
  EXPECT_TRUE(std::isinf(samples[2]));
  EXPECT_TRUE(std::isnan(samples[3]));
}

}  // namespace
}  // namespace diarist::test
