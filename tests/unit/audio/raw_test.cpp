// Samples without a header, against libsndfile's writing and reading of the same.

#include "audio/raw_reader.hpp"

#include <cstring>

#include "support/support.hpp"
#include "unit/audio/one_way.hpp"
#include "unit/audio/pcm_samples.hpp"
#include "unit/audio/read_all.hpp"

namespace diarist::test {
namespace {

audio::SourceOptions raw(const std::string& text) {
  audio::SourceOptions options;
  options.audio.raw = parse_raw_format(text);
  return options;
}

TEST(Raw, EveryFormatEqualsLibsndfile) {
  const TempFolder folder;
  const std::filesystem::path file = folder.path() / "x.raw";
  const std::pair<const char*, int> formats[] = {{"s16le", SF_FORMAT_PCM_16 | SF_ENDIAN_LITTLE},
                                                 {"s16be", SF_FORMAT_PCM_16 | SF_ENDIAN_BIG},
                                                 {"u8", SF_FORMAT_PCM_U8},
                                                 {"s24le", SF_FORMAT_PCM_24 | SF_ENDIAN_LITTLE},
                                                 {"s32le", SF_FORMAT_PCM_32 | SF_ENDIAN_LITTLE},
                                                 {"f32le", SF_FORMAT_FLOAT | SF_ENDIAN_LITTLE},
                                                 {"f64le", SF_FORMAT_DOUBLE | SF_ENDIAN_LITTLE},
                                                 {"mulaw", SF_FORMAT_ULAW},
                                                 {"alaw", SF_FORMAT_ALAW}};
  for (const auto& [name, format] : formats) {
    ASSERT_TRUE(write_sndfile(file, SF_FORMAT_RAW | format, test_signal(70001)));
    SF_INFO info{};
    info.format = SF_FORMAT_RAW | format;
    info.samplerate = 16000;
    info.channels = 1;
    SNDFILE* in = sf_open(file.c_str(), SFM_READ, &info);
    ASSERT_NE(in, nullptr) << name;
    std::vector<float> theirs(70001);
    EXPECT_EQ(sf_read_float(in, theirs.data(), 70001), 70001);
    sf_close(in);
    const audio::SourceOptions options = raw(std::string(name) + ":16000:1");
    EXPECT_EQ(audio::raw_text(*options.audio.raw), std::string(name) + ":16000:1");
    const auto source = audio::open_file(file, options);
    EXPECT_EQ(source->expected_samples(), 70001) << name;
    EXPECT_EQ(read_all(*source), theirs) << name;
    EXPECT_TRUE(source->warnings().empty()) << name;
    EXPECT_EQ(read_all(*pipe_source(bytes_of(file), options)), theirs) << name;
  }
}

TEST(Raw, ChannelsAreInterleavedAndRatesConverted) {
  // 3 channels of 48 kHz: every frame holds 0.25, 0.5 and 0.75, whose mean is 0.5.
  std::string bytes;
  for (int i = 0; i < 48000; ++i) bytes += float_bytes(std::vector<float>{0.25F, 0.5F, 0.75F});
  const std::vector<float> samples = read_all(*pipe_source(bytes, raw("f32le:48000:3")));
  ASSERT_EQ(samples.size(), 16000U);
  for (std::size_t i = 3000; i < 13000; ++i) ASSERT_NEAR(samples[i], 0.5F, 1e-4F) << i;
}

TEST(Raw, ACutFrameIsReported) {
  const std::string bytes = pcm_bytes(1000) + "\x01\x02\x03";
  const auto source = pipe_source(bytes, raw("s16le:16000:2"));
  EXPECT_EQ(read_all(*source).size(), 500U);
  ASSERT_EQ(source->warnings().size(), 1U);
  EXPECT_NE(source->warnings()[0].find("last 3 bytes"), std::string::npos);
}

TEST(Raw, AHeaderIsNotLookedFor) {
  const std::string wav = wav_pcm16(test_signal(1000));
  EncodedSource source(wav, raw("s16le:16000:1"));
  EXPECT_EQ(read_all(*source).size(), 1022U);  // the header's 44 bytes are samples too
}

TEST(Raw, FormatsThatCanNotBe) {
  for (const char* text :
       {"", "s16le", "s16le:16000", "s16le:16000:0", "s16le:0:1", "s16le:16000:1:1", "s16:16000:1",
        "f32le:999:1", "f32le:16000:1025", "f32le:16000.5:1", "f32le: 16000:1", ":16000:1",
        "s16le::1", "s16le:16000:", "s16le:99999999999:1"}) {
    const std::string message =
        error_text(ErrorCode::kInvalidArgument, [&] { (void)parse_raw_format(text); });
    EXPECT_NE(message.find("FORMAT:RATE:CHANNELS"), std::string::npos) << message;
    EXPECT_NE(message.find("alaw"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace diarist::test
