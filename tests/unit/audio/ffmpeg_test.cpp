// Media files through FFmpeg.

#include "audio/ffmpeg_reader.hpp"

#include <cmath>
#include <fstream>
#include <iterator>

#include "support/odd_audio.hpp"
#include "support/support.hpp"
#include "unit/audio/media_writer.hpp"
#include "unit/audio/read_all.hpp"

namespace diarist::test {
namespace {

std::vector<float> on_grid(std::span<const float> samples) {
  std::vector<float> values;
  for (const std::int16_t v : to_pcm16(samples)) {
    values.push_back(static_cast<float>(v) / 32768.0F);
  }
  return values;
}

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class FfmpegTest : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "x.bin"; }
  TempFolder folder_;
};

TEST_F(FfmpegTest, LosslessMatroskaIsExact) {
  const MediaTrack track{on_grid(test_signal(50001))};
  ASSERT_TRUE(write_media(file(), "matroska", "pcm_s16le", {&track, 1}));
  EXPECT_EQ(read_file(file()), track.samples);
  ASSERT_TRUE(write_media(file(), "mov", "pcm_s16le", {&track, 1}));
  EXPECT_EQ(read_file(file()), track.samples);
  const MediaTrack floats{test_signal(50001)};
  ASSERT_TRUE(write_media(file(), "matroska", "pcm_f32le", {&floats, 1}));
  EXPECT_EQ(read_file(file()), floats.samples);
}

TEST_F(FfmpegTest, SameSamplesAsLibsndfile) {
  // A WAV file by FFmpeg alone, as it comes through a pipe.
  const std::string wav = wav_pcm16(test_signal(30000));
  const auto bytes = audio::memory_bytes(std::as_bytes(std::span(wav)), "input");
  const auto reader = audio::open_ffmpeg(*bytes, {}, nullptr);
  ASSERT_NE(reader, nullptr);
  std::vector<float> samples;
  while (true) {
    const audio::Block block = reader->next();
    if (block.samples.empty()) break;
    samples.insert(samples.end(), block.samples.begin(), block.samples.end());
  }
  EXPECT_EQ(samples, on_grid(test_signal(30000)));
}

TEST_F(FfmpegTest, AacInMp4KeepsTimeAndShape) {
  for (const int rate : {16000, 44100}) {
    const MediaTrack track{test_signal(std::int64_t{10} * rate, rate), rate};
    if (!write_media(file(), "mp4", "aac", {&track, 1})) GTEST_SKIP() << "no AAC encoder";
    const auto source = audio::open_file(file());
    EXPECT_NEAR(static_cast<double>(source->expected_samples()), 160000, 1100);
    const std::vector<float> read = read_all(*source);
    EXPECT_GE(read.size(), 160000U);
    EXPECT_LE(read.size(), 161100U);  // the last frame is whole
    const std::vector<float> wanted = test_signal(160000);
    double error = 0;
    double power = 0;
    for (std::size_t i = 4000; i < 156000; ++i) {
      error += std::pow(static_cast<double>(read[i]) - wanted[i], 2);
      power += std::pow(static_cast<double>(wanted[i]), 2);
    }
    EXPECT_LT(error, 0.02 * power) << rate;
    EXPECT_TRUE(source->warnings().empty());
  }
}

TEST_F(FfmpegTest, SeveralTracksAreReported) {
  const std::vector<MediaTrack> tracks = {{on_grid(test_signal(20000))},
                                          {std::vector<float>(20000, 0.25F)}};
  ASSERT_TRUE(write_media(file(), "matroska", "pcm_s16le", tracks));
  const auto source = audio::open_file(file());
  EXPECT_EQ(read_all(*source), tracks[0].samples);
  ASSERT_EQ(source->warnings().size(), 1U);
  EXPECT_NE(source->warnings()[0].find("2 sound tracks; number 1"), std::string::npos);
}

TEST_F(FfmpegTest, CutAndDamagedFiles) {
  const MediaTrack track{on_grid(test_signal(480000))};
  ASSERT_TRUE(write_media(file(), "matroska", "pcm_s16le", {&track, 1}));
  const std::string whole = bytes_of(file());
  {
    EncodedSource source(whole.substr(0, whole.size() / 2));
    const std::vector<float> read = read_all(*source);
    EXPECT_GT(read.size(), 200000U);
    ASSERT_LT(read.size(), 260000U);
    EXPECT_TRUE(std::equal(read.begin(), read.end(), track.samples.begin()));
  }
  {
    // Overwritten in the middle: what follows is still found.
    std::string hurt = whole;
    for (std::size_t i = hurt.size() / 2; i < hurt.size() / 2 + 3000; ++i) hurt[i] = '\x55';
    EncodedSource source(hurt);
    const std::vector<float> read = read_all(*source);
    ASSERT_GT(read.size(), 350000U);
    ASSERT_LT(read.size(), 480000U);
    EXPECT_TRUE(std::equal(read.end() - 20000, read.end(), track.samples.end() - 20000));
    ASSERT_EQ(source->warnings().size(), 1U);
    EXPECT_NE(source->warnings()[0].find("clock jumps 1 times"), std::string::npos);
  }
  if (write_media(file(), "mp4", "aac", {&track, 1})) {
    // The index of an MP4 file is at its end.
    const std::string mp4 = bytes_of(file());
    const std::string text = error_text(
        ErrorCode::kBadFile, [&] { EncodedSource source(mp4.substr(0, mp4.size() / 2)); });
    EXPECT_NE(text.find("damaged or was cut off"), std::string::npos) << text;
  }
}

TEST_F(FfmpegTest, PlaylistsOpenNothingElse) {
  write_bytes(folder_.path() / "part.wav", wav_pcm16(test_signal(1000)));
  for (const std::string text :
       {"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\npart.wav\n#EXT-X-ENDLIST\n",
        "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nhttp://127.0.0.1:9/x.ts\n#EXT-X-ENDLIST\n",
        "ffconcat version 1.0\nfile part.wav\n",
        "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 5004 RTP/AVP "
        "0\n"}) {
    const std::filesystem::path list = folder_.path() / "list.m3u8";
    write_bytes(list, text);
    error_text(ErrorCode::kBadFile, [&] { (void)read_file(list); });
  }
}

TEST_F(FfmpegTest, ChainedOggStreamsAreReadToTheEnd) {
  const std::filesystem::path ogg = folder_.path() / "x.ogg";
  ASSERT_TRUE(write_sndfile(ogg, SF_FORMAT_OGG | SF_FORMAT_VORBIS, test_signal(48000)));
  const std::string once = bytes_of(ogg);
  EncodedSource source(once + once);
  EXPECT_NEAR(static_cast<double>(read_all(*source).size()), 96000, 600);
}

}  // namespace
}  // namespace diarist::test
