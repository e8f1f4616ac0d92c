// Damaged and cut files: what is there comes out, at its time, and the user is told.

#include <cmath>
#include <fstream>
#include <iterator>

#include "support/odd_audio.hpp"
#include "support/support.hpp"
#include "unit/audio/read_all.hpp"

namespace diarist::test {
namespace {

constexpr std::int64_t kLength = 20 * 16000;

// test_signal() on the 16-bit grid, and what libsndfile makes of it in some format.
class Encoded {
 public:
  explicit Encoded(int format) {
    for (const std::int16_t v : to_pcm16(test_signal(kLength))) {
      samples.push_back(static_cast<float>(v) / 32768.0F);
    }
    const TempFolder folder;
    const std::filesystem::path file = folder.path() / "x";
    known = write_sndfile(file, format, samples);
    std::ifstream in(file, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  std::vector<float> samples;
  std::string bytes;
  bool known = false;
};

std::string only_warning(const audio::Source& source) {
  EXPECT_EQ(source.warnings().size(), 1U);
  return source.warnings().empty() ? "" : source.warnings()[0];
}

TEST(Damage, FlacGoesOnBehindDamageAtTheRightTime) {
  const Encoded flac(SF_FORMAT_FLAC | SF_FORMAT_PCM_16);
  ASSERT_TRUE(flac.known);
  for (const double place : {0.2, 0.5, 0.9}) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{30}, std::size_t{9000}}) {
      SCOPED_TRACE(fmt::format("{} bytes at {}", count, place));
      std::string bytes = flac.bytes;
      const auto start = static_cast<std::size_t>(place * static_cast<double>(bytes.size()));
      for (std::size_t i = start; i < start + count; ++i) bytes[i] = static_cast<char>(~bytes[i]);
      EncodedSource source(bytes);
      const std::vector<float> read = read_all(*source);
      ASSERT_EQ(static_cast<std::int64_t>(read.size()), kLength);
      std::int64_t different = 0;
      for (std::size_t i = 0; i < read.size(); ++i) different += read[i] != flac.samples[i] ? 1 : 0;
      EXPECT_GT(different, 0);
      EXPECT_LT(different, 40000);  // 9000 bytes are about 8000 samples, blocks have 4096
      // The ends are exact: nothing was shifted.
      EXPECT_TRUE(std::equal(read.begin(), read.begin() + 16000, flac.samples.begin()));
      EXPECT_TRUE(std::equal(read.end() - 1000, read.end(), flac.samples.end() - 1000));
    }
  }
}

TEST(Damage, CutFilesGiveWhatIsThere) {
  for (const int format : {SF_FORMAT_FLAC | SF_FORMAT_PCM_16, SF_FORMAT_AIFF | SF_FORMAT_PCM_16,
                           SF_FORMAT_W64 | SF_FORMAT_PCM_16, SF_FORMAT_RF64 | SF_FORMAT_PCM_16}) {
    SCOPED_TRACE(fmt::format("{:x}", format));
    const Encoded encoded(format);
    ASSERT_TRUE(encoded.known);
    EncodedSource source(encoded.bytes.substr(0, encoded.bytes.size() / 2));
    const std::vector<float> read = read_all(*source);
    EXPECT_GT(static_cast<std::int64_t>(read.size()), kLength / 3);
    ASSERT_LT(static_cast<std::int64_t>(read.size()), kLength * 2 / 3);
    EXPECT_TRUE(std::equal(read.begin(), read.end(), encoded.samples.begin()));
    EXPECT_NE(only_warning(*source).find("is cut off"), std::string::npos);
  }
}

TEST(Damage, EveryCutOfAFlacHeaderIsRefusedOrRead) {
  const Encoded flac(SF_FORMAT_FLAC | SF_FORMAT_PCM_16);
  for (std::size_t size = 1; size < 300; ++size) {
    try {
      EncodedSource source(flac.bytes.substr(0, size));
      EXPECT_LT(read_all(*source).size(), 5000U);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadFile) << error.what();
    }
  }
}

TEST(Damage, RandomBytesAreNoAudio) {
  std::uint32_t random = 1;
  for (const std::size_t size : {1U, 2U, 11U, 12U, 100U, 5000U, 300000U}) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) {
      random = random * 1664525U + 1013904223U;
      byte = static_cast<char>(random >> 24);
    }
    const std::string text = error_text(ErrorCode::kBadFile, [&] { EncodedSource source(bytes); });
    EXPECT_NE(text.find("input: "), std::string::npos);
  }
}

TEST(Damage, LostPlaceInMp3IsReported) {
  const Encoded mp3(0x230000 | 0x0082);  // SF_FORMAT_MPEG, layer III
  if (!mp3.known || audio::reader_names().size() < 2) {
    GTEST_SKIP() << "needs a libsndfile that writes MP3, and FFmpeg";
  }
  std::string bytes = mp3.bytes;
  for (std::size_t i = bytes.size() / 2; i < bytes.size() / 2 + 600; ++i) bytes[i] ^= 0x5a;
  EncodedSource source(bytes);
  const std::vector<float> read = read_all(*source);
  EXPECT_GT(static_cast<std::int64_t>(read.size()), kLength - 8000);
  EXPECT_GE(source->warnings().size(), 1U);
}

}  // namespace
}  // namespace diarist::test
