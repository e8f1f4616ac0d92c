// A part of a recording, and one of its channels.

#include <cmath>

#include "support/support.hpp"
#include "unit/audio/pcm_samples.hpp"
#include "unit/audio/read_all.hpp"

namespace diarist::test {
namespace {

audio::SourceOptions stretch(double from, std::optional<double> to = {}) {
  audio::SourceOptions options;
  options.audio.from = from;
  options.audio.to = to;
  return options;
}

std::vector<float> part(const std::vector<float>& all, std::size_t from, std::size_t to) {
  return {all.begin() + static_cast<std::ptrdiff_t>(from),
          all.begin() + static_cast<std::ptrdiff_t>(to)};
}

TEST(Stretch, IsExactWhateverTheFormat) {
  const TempFolder folder;
  const std::vector<float> all = pcm_values(80000);  // 5 s
  const std::filesystem::path file = folder.path() / "x";
  for (const int format : {SF_FORMAT_WAV | SF_FORMAT_PCM_16, SF_FORMAT_W64 | SF_FORMAT_PCM_16,
                           SF_FORMAT_FLAC | SF_FORMAT_PCM_16, SF_FORMAT_AIFF | SF_FORMAT_PCM_16}) {
    ASSERT_TRUE(write_sndfile(file, format, all));
    for (const auto& [from, to] : {std::pair{0.0, 1.0}, {1.0, 2.5}, {4.25, 5.0}, {0.00003, 0.5}}) {
      const auto source = audio::open_file(file, stretch(from, to));
      const auto first = static_cast<std::size_t>(std::lround(from * 16000));
      const auto last = static_cast<std::size_t>(std::lround(to * 16000));
      EXPECT_EQ(source->expected_samples(), static_cast<std::int64_t>(last - first));
      EXPECT_EQ(read_all(*source), part(all, first, last)) << from << " " << to;
      EXPECT_TRUE(source->warnings().empty());
    }
    EXPECT_EQ(read_file(file, stretch(3.0)), part(all, 48000, 80000));
    EXPECT_EQ(read_file(file, stretch(3.0, 100.0)), part(all, 48000, 80000));
  }
}

TEST(Stretch, OverTwoDataChunks) {
  const std::string bytes =
      wav_file(chunk("fmt ", wav_format({})) + chunk("data", pcm_bytes(20000)) +
               chunk("data", pcm_bytes(20000)));
  const std::vector<float> once = pcm_values(20000);
  std::vector<float> wanted = part(once, 16000, 20000);
  wanted.insert(wanted.end(), once.begin(), once.begin() + 4000);
  EncodedSource source(bytes, stretch(1.0, 1.5));
  EXPECT_EQ(read_all(*source), wanted);
  EncodedSource second(bytes, stretch(1.25, 1.5));
  EXPECT_EQ(read_all(*second), part(once, 0, 4000));
  EncodedSource late(bytes, stretch(2.0));
  EXPECT_EQ(read_all(*late), part(once, 12000, 20000));
}

TEST(Stretch, IsCutBeforeResampling) {
  const std::vector<float> all = test_signal(3 * 44100, 44100);
  const std::vector<float> second = part(all, 44100, 88200);
  const auto whole = audio::open_memory({second, 44100, 1});
  const auto cut = audio::open_memory({all, 44100, 1}, stretch(1, 2));
  EXPECT_EQ(cut->expected_samples(), 16000);
  EXPECT_EQ(read_all(*cut), read_all(*whole));
}

TEST(Stretch, BehindTheEndIsEmptyAndSaid) {
  for (const double from : {1.0, 7.5, 1e12}) {
    const std::vector<float> second(16000, 0.1F);
    const auto source = audio::open_memory({second, 16000, 1}, stretch(from + 0.001));
    EXPECT_EQ(source->expected_samples(), 0);
    EXPECT_TRUE(read_all(*source).empty());
    ASSERT_EQ(source->warnings().size(), 1U);
    EXPECT_NE(source->warnings()[0].find("ends before"), std::string::npos);
  }
}

TEST(Stretch, ImpossibleOnesAreRefused) {
  for (const auto& [from, to] :
       {std::pair{-1.0, 1.0}, {1.0, 1.0}, {2.0, 1.0}, {NAN, 1.0}, {0.0, NAN}, {0.0, INFINITY}}) {
    error_text(ErrorCode::kInvalidArgument, [&, from = from, to = to] {
      (void)audio::open_memory({{}, 16000, 1}, stretch(from, to));
    });
  }
}

TEST(Channel, OneOfMany) {
  const std::vector<float> samples = test_signal(6 * 1000);
  for (int channel = 1; channel <= 6; ++channel) {
    audio::SourceOptions options;
    options.audio.channel = channel;
    std::vector<float> wanted;
    for (std::size_t i = 0; i < 1000; ++i)
      wanted.push_back(samples[6 * i + static_cast<std::size_t>(channel) - 1]);
    EXPECT_EQ(read_all(*audio::open_memory({samples, 16000, 6}, options)), wanted);
  }
}

TEST(Channel, OneThatIsNotThere) {
  audio::SourceOptions options;
  options.audio.channel = 3;
  EncodedSource source(wav_pcm16(test_signal(1000), 16000, 2), options);
  EXPECT_EQ(error_text(ErrorCode::kBadFile, [&] { (void)read_all(*source); }),
            "input: has 2 channels, no number 3");
  options.audio.channel = 0;
  options.audio.track = 2;
  EXPECT_EQ(error_text(ErrorCode::kBadFile,
                       [&] { EncodedSource other(wav_pcm16(test_signal(1000)), options); }),
            "input: has one sound track, no number 2");
}

}  // namespace
}  // namespace diarist::test
