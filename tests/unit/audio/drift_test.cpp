// Compressed sound keeps its place: clicks stay where they are over 25 minutes, and codecs' delays
// are cut off (rows 37 and 38 of the bug recipes).

#include <algorithm>
#include <cmath>

#include "support/support.hpp"
#include "unit/audio/media_writer.hpp"
#include "unit/audio/pcm_samples.hpp"
#include "unit/audio/read_all.hpp"

namespace diarist::test {
namespace {

constexpr int kMinutes = 25;

// 5 ms bursts every minute over faint noise; the first begins at 30 s.
std::vector<float> clicks(int rate) {
  std::vector<float> samples(static_cast<std::size_t>(kMinutes * 60 * rate));
  std::uint32_t state = 1;
  for (float& sample : samples) {
    state = state * 1664525U + 1013904223U;
    sample = (static_cast<float>(state >> 16) / 32768.0F - 1.0F) * 0.002F;
  }
  for (int minute = 0; minute < kMinutes; ++minute) {
    const auto start = static_cast<std::size_t>((60 * minute + 30) * rate);
    for (int i = 0; i < rate / 200; ++i)
      samples[start + static_cast<std::size_t>(i)] =
          0.7F * static_cast<float>(std::sin(2 * 3.14159265358979 * 1000 * i / rate));
  }
  return samples;
}

// Where each minute's sound first passes a quarter of the burst's height, in seconds.
std::vector<double> onsets(const std::vector<float>& samples) {
  std::vector<double> found;
  for (std::size_t minute = 0; minute < kMinutes; ++minute) {
    const std::size_t first = minute * 60 * 16000;
    for (std::size_t i = first; i < std::min(samples.size(), first + 60 * 16000); ++i) {
      if (std::abs(samples[i]) < 0.175F) continue;
      found.push_back(static_cast<double>(i) / 16000);
      break;
    }
  }
  return found;
}

TEST(Drift, ClicksOver25MinutesStayWithin50Milliseconds) {
  const TempFolder folder;
  const std::filesystem::path file = folder.path() / "x.bin";
  int tried = 0;
  for (const auto& [container, codec, rate] : {std::tuple{"mp3", "libmp3lame", 44100},
                                               {"mp3", "libmp3lame", 22050},
                                               {"mp4", "aac", 44100}}) {
    const MediaTrack track{.samples = clicks(rate), .sample_rate = rate, .bit_rate = 48000};
    if (!write_media(file, container, codec, {&track, 1})) continue;
    ++tried;
    for (const bool clock : {false, true}) {
      audio::SourceOptions options;
      if (clock && tried > 1) continue;  // once is enough
      options.audio.container_clock = clock;
      const std::vector<double> found = onsets(read_file(file, options));
      ASSERT_EQ(found.size(), static_cast<std::size_t>(kMinutes)) << container;
      double worst = 0;
      for (std::size_t i = 0; i < found.size(); ++i)
        worst = std::max(worst, std::abs(found[i] - (60.0 * static_cast<double>(i) + 30)));
      EXPECT_LT(worst, 0.050) << container << " " << rate;
      // Nearly all of that is where the burst is said to begin: the drift itself is far smaller.
      EXPECT_LT(std::abs((found.back() - found.front()) - 60.0 * (kMinutes - 1)), 0.003);
      RecordProperty(std::string(codec) + std::to_string(rate) + (clock ? "_clock_us" : "_us"),
                     static_cast<int>(worst * 1e6));
    }
  }
  if (tried == 0) GTEST_SKIP() << "this FFmpeg has no encoder for MP3 or AAC";
}

// The shift, in 16 kHz samples, at which two recordings agree best.
int best_shift(const std::vector<float>& read, const std::vector<float>& wanted) {
  int best = 0;
  double highest = 0;
  for (int shift = -3000; shift <= 3000; ++shift) {
    double sum = 0;
    for (std::size_t i = 8000; i < 40000; ++i)
      sum += static_cast<double>(wanted[i]) *
             static_cast<double>(read[static_cast<std::size_t>(static_cast<int>(i) + shift)]);
    if (sum <= highest) continue;
    highest = sum;
    best = shift;
  }
  return best;
}

TEST(Drift, DelaysOfCodecsAreCutOff) {
  struct Case {
    const char* container;
    const char* codec;
    int rate;
    int most;  // 16 kHz samples
  };
  const TempFolder folder;
  const std::filesystem::path file = folder.path() / "x.bin";
  // Streams without a container tell nothing of the encoder's delay, and FFmpeg writes none into
  // Matroska: 1024 samples of AAC, 1105 of MP3, 481 of MPEG layer II, 256 of AC-3; all under 26 ms.
  for (const Case& c : {Case{"mp3", "libmp3lame", 44100, 2}, Case{"mp3", "libmp3lame", 16000, 2},
                        Case{"mp4", "aac", 44100, 2}, Case{"matroska", "aac", 48000, 342},
                        Case{"ogg", "libvorbis", 44100, 2}, Case{"ogg", "libopus", 48000, 2},
                        Case{"webm", "libopus", 48000, 2},
                        Case{"matroska", "libmp3lame", 44100, 401}, Case{"adts", "aac", 44100, 372},
                        Case{"mp2", "mp2", 44100, 176}, Case{"ac3", "ac3", 48000, 86}}) {
    const MediaTrack track{
        .samples = test_signal(3 * c.rate, c.rate), .sample_rate = c.rate, .bit_rate = 96000};
    if (!write_media(file, c.container, c.codec, {&track, 1})) continue;
    const std::vector<float> read = read_file(file);
    ASSERT_GE(read.size(), 43000U) << c.container;
    const int shift = best_shift(read, test_signal(48000));
    EXPECT_GE(shift, -2) << c.container << " " << c.codec;
    EXPECT_LE(shift, c.most) << c.container << " " << c.codec;
  }
}

}  // namespace
}  // namespace diarist::test
