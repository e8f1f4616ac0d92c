// What a build without FFmpeg says about what it can't read.

#include "support/support.hpp"
#include "unit/audio/one_way.hpp"
#include "unit/audio/pcm_samples.hpp"
#include "unit/audio/read_all.hpp"

namespace diarist::test {
namespace {

TEST(WithoutFfmpeg, NamesOnlyLibsndfile) {
  ASSERT_EQ(audio::reader_names().size(), 1U);
  EXPECT_EQ(audio::reader_names()[0].rfind("libsndfile", 0), 0U);
}

TEST(WithoutFfmpeg, ReadsWhatLibsndfileReads) {
  const TempFolder folder;
  const std::filesystem::path file = folder.path() / "x";
  int read = 0;
  for (const int format : {SF_FORMAT_WAV | SF_FORMAT_PCM_16, SF_FORMAT_FLAC | SF_FORMAT_PCM_16,
                           SF_FORMAT_OGG | SF_FORMAT_VORBIS, SF_FORMAT_OGG | SF_FORMAT_OPUS,
                           SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III}) {
    if (!write_sndfile(file, format, test_signal(48000))) continue;
    ++read;
    EXPECT_NEAR(static_cast<double>(read_file(file).size()), 48000, 1200) << std::hex << format;
  }
  EXPECT_GE(read, 4);
}

TEST(WithoutFfmpeg, SaysInOneLineWhatIsMissing) {
  const std::string mp4 = little(0x18000000, 4) + "ftypM4A " + std::string(64, '\0');
  const std::string mkv = "\x1a\x45\xdf\xa3" + std::string(64, '\0');
  for (const std::string& bytes : {mp4, mkv}) {
    const std::string text =
        error_text(ErrorCode::kUnsupported, [&] { EncodedSource source(bytes); });
    EXPECT_EQ(text,
              "input: reading it needs FFmpeg, which this build of diarist lacks; build with "
              "FFmpeg's libraries or convert it to WAV or FLAC");
    error_text(ErrorCode::kUnsupported, [&] { pipe_source(bytes); });
  }
  error_text(ErrorCode::kBadFile, [&] { EncodedSource source(std::string(5000, 'x')); });
}

TEST(WithoutFfmpeg, TheClockOfAnOggFileIsRefused) {
  const TempFolder folder;
  const std::filesystem::path file = folder.path() / "x.ogg";
  ASSERT_TRUE(write_sndfile(file, SF_FORMAT_OGG | SF_FORMAT_VORBIS, test_signal(48000)));
  audio::SourceOptions options;
  options.audio.container_clock = true;
  const std::string text =
      error_text(ErrorCode::kUnsupported, [&] { (void)audio::open_file(file, options); });
  EXPECT_NE(text.find("needs FFmpeg"), std::string::npos) << text;
  ASSERT_TRUE(write_sndfile(file, SF_FORMAT_WAV | SF_FORMAT_PCM_16, pcm_values(1000)));
  EXPECT_EQ(read_file(file, options), pcm_values(1000));  // has no clock but its samples
}

}  // namespace
}  // namespace diarist::test
