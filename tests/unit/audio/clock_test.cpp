// Tracks and clocks of containers, written through FFmpeg.

#include <algorithm>
#include <cmath>

#include "support/support.hpp"
#include "unit/audio/media_writer.hpp"
#include "unit/audio/one_way.hpp"
#include "unit/audio/pcm_samples.hpp"
#include "unit/audio/read_all.hpp"

namespace diarist::test {
namespace {

// Silence with a click of one sample at every whole second and one in the middle of the last.
std::vector<float> marked(double seconds) {
  std::vector<float> samples(static_cast<std::size_t>(seconds * 16000), 0.0F);
  for (std::size_t i = 8000; i < samples.size(); i += 16000) samples[i] = 0.5F;
  return samples;
}

std::vector<double> marks(const std::vector<float>& samples) {
  std::vector<double> times;
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (samples[i] == 0.5F) times.push_back(static_cast<double>(i) / 16000);
  return times;
}

class ClockTest : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "x.bin"; }
  static audio::SourceOptions container_clock() {
    audio::SourceOptions options;
    options.audio.container_clock = true;
    return options;
  }
  TempFolder folder_;
};

// Row 39 of the bug recipes: sound that starts 1.5 s late, and a gap.
TEST_F(ClockTest, LateStartAndGap) {
  std::vector<MediaTrack> tracks = {{.samples = std::vector<float>(16000 * 12, 0.25F)},
                                    {.samples = marked(8), .start = 1.5}};
  audio::SourceOptions samples;
  samples.audio.track = 2;
  audio::SourceOptions clock = samples;
  clock.audio.container_clock = true;
  for (const std::string container : {"mov", "matroska"}) {
    const double gap = container == "matroska" ? 2 : 0;  // PCM in MOV can't have one
    tracks[1].gap_at = 4;
    tracks[1].gap = gap;
    ASSERT_TRUE(write_media(file(), container, "pcm_s16le", tracks));
    const std::vector<double> counted = marks(read_file(file(), samples));
    const std::vector<double> placed = marks(read_file(file(), clock));
    ASSERT_EQ(counted.size(), 8U) << container;
    ASSERT_EQ(placed.size(), 8U) << container;
    for (std::size_t i = 0; i < 8; ++i) {
      EXPECT_NEAR(counted[i], 0.5 + static_cast<double>(i), 1e-9) << container;
      EXPECT_NEAR(placed[i], 2.0 + static_cast<double>(i) + (i >= 4 ? gap : 0.0), 0.002)
          << container;
    }
  }
}

TEST_F(ClockTest, AStretchIsOneOfTheClockInUse) {
  const MediaTrack track{.samples = marked(8), .gap_at = 4, .gap = 2};
  ASSERT_TRUE(write_media(file(), "matroska", "pcm_s16le", {&track, 1}));
  audio::SourceOptions options = container_clock();
  options.audio.from = 5;
  options.audio.to = 8;
  const std::vector<float> read = read_file(file(), options);
  EXPECT_EQ(read.size(), 48000U);
  const std::vector<double> placed = marks(read);
  ASSERT_EQ(placed.size(), 2U);  // at 6.5 and 7.5
  EXPECT_NEAR(placed[0], 1.5, 0.002);
  EXPECT_NEAR(placed[1], 2.5, 0.002);
}

TEST_F(ClockTest, WithoutGapsBothClocksGiveTheSameSamples) {
  const MediaTrack track{.samples = pcm_values(100000)};
  for (const auto& [container, codec] : {std::pair{"matroska", "pcm_s16le"},
                                         {"mp4", "aac"},
                                         {"mp3", "libmp3lame"},
                                         {"ogg", "libopus"},
                                         {"mpegts", "aac"},
                                         {"asf", "wmav2"}}) {
    MediaTrack wanted = track;
    if (std::string(codec) == "wmav2") wanted.sample_rate = 44100;
    if (!write_media(file(), container, codec, {&wanted, 1})) continue;
    EXPECT_EQ(read_file(file(), container_clock()), read_file(file())) << container;
  }
}

TEST_F(ClockTest, TracksAreChosenAndListed) {
  const std::vector<MediaTrack> tracks = {{.samples = pcm_values(20000)},
                                          {.samples = std::vector<float>(20000, 0.25F)}};
  ASSERT_TRUE(write_media(file(), "matroska", "pcm_s16le", tracks));
  audio::SourceOptions options;
  for (int track = 1; track <= 2; ++track) {
    options.audio.track = track;
    const auto source = audio::open_file(file(), options);
    EXPECT_EQ(read_all(*source), tracks[static_cast<std::size_t>(track - 1)].samples);
    EXPECT_TRUE(source->warnings().empty());
  }
  options.audio.track = 3;
  const std::string text =
      error_text(ErrorCode::kBadFile, [&] { (void)audio::open_file(file(), options); });
  EXPECT_NE(text.find("has no sound track 3; there is 1 (pcm_s16le, 16000 Hz, 1 channel(s)), 2 "),
            std::string::npos)
      << text;
}

TEST_F(ClockTest, ContainersComeThroughPipes) {
  const MediaTrack track{.samples = pcm_values(100000), .bit_rate = 96000};
  for (const auto& [container, codec] : {std::pair{"matroska", "pcm_s16le"},
                                         {"mp4", "aac"},
                                         {"mov", "pcm_s16le"},
                                         {"mpegts", "aac"},
                                         {"avi", "pcm_s16le"},
                                         {"mp3", "libmp3lame"},
                                         {"webm", "libopus"}}) {
    if (!write_media(file(), container, codec, {&track, 1})) continue;
    const std::vector<float> stored = read_file(file());
    ASSERT_GE(stored.size(), 99000U) << container;
    std::vector<float> piped = read_all(*pipe_source(bytes_of(file())));
    // FFmpeg finds the padding at the end of an MP3 only where it knows the file's size.
    if (container == std::string("mp3")) {
      EXPECT_LE(piped.size(), stored.size() + 1200);
      piped.resize(stored.size());
    }
    EXPECT_EQ(piped, stored) << container;
  }
}

}  // namespace
}  // namespace diarist::test
