// WAV files as they occur in the wild: every sample that is there must come out.

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "audio/riff.hpp"
#include "support/odd_audio.hpp"
#include "support/support.hpp"
#include "unit/audio/read_all.hpp"

namespace diarist::test {
namespace {

// 1001 samples of 16 bits, as bytes and as values.
std::string pcm_bytes(std::size_t count = 1001) {
  std::string bytes;
  for (const std::int16_t value : to_pcm16(test_signal(static_cast<std::int64_t>(count)))) {
    bytes += little(static_cast<std::uint16_t>(value), 2);
  }
  return bytes;
}

std::vector<float> pcm_values(std::size_t count = 1001) {
  std::vector<float> values;
  for (const std::int16_t v : to_pcm16(test_signal(static_cast<std::int64_t>(count)))) {
    values.push_back(static_cast<float>(v) / 32768.0F);
  }
  return values;
}

const std::string kFormat = chunk("fmt ", wav_format({}));

void expect_reads(const std::string& file, const std::vector<float>& expected,
                  const std::string& warning = "") {
  EncodedSource source(file);
  EXPECT_EQ(source->expected_samples(), static_cast<std::int64_t>(expected.size()));
  EXPECT_EQ(read_all(*source), expected);
  if (warning.empty()) {
    EXPECT_TRUE(source->warnings().empty()) << source->warnings().front();
  } else {
    ASSERT_EQ(source->warnings().size(), 1U);
    EXPECT_NE(source->warnings()[0].find(warning), std::string::npos) << source->warnings()[0];
  }
}

TEST(Wav, ChunksBeforeAndAfterTheData) {
  const std::string list = chunk("LIST", "INFOISFT\x05\0\0\0Lavf\0");
  expect_reads(wav_file(list + chunk("bext", std::string(603, 'x')) + kFormat +
                        chunk("fact", little(1001, 4)) + chunk("data", pcm_bytes()) +
                        chunk("id3 ", "ID3 and more")),
               pcm_values());
}

TEST(Wav, FormatBehindTheData) {
  expect_reads(wav_file(chunk("data", pcm_bytes()) + kFormat), pcm_values());
}

TEST(Wav, PlaceholderSizesReachToTheEnd) {
  for (const std::int64_t size :
       {0xFFFFFFFFLL, 0xFFFFFFDBLL, 0x7FFFF000LL, 0x7FFFFFFFLL, 0x80000000LL}) {
    SCOPED_TRACE(size);
    expect_reads(wav_file(chunk("LIST", "INFO") + kFormat + chunk("data", pcm_bytes(), size),
                          "RIFF", 0xFFFFFFFF),
                 pcm_values());
  }
}

TEST(Wav, SizeZeroWithSamplesBehindIsAnUnfinishedRecording) {
  expect_reads(wav_file(kFormat + chunk("data", pcm_bytes(), 0), "RIFF", 0), pcm_values(),
               "announces no samples");
}

TEST(Wav, SizeZeroBeforeOtherChunksIsReallyEmpty) {
  expect_reads(wav_file(kFormat + chunk("data", "") + chunk("LIST", "INFO")), {});
  expect_reads(wav_file(kFormat + chunk("data", "")), {});
}

TEST(Wav, SizeBeyondTheEndIsACut) {
  expect_reads(wav_file(kFormat + chunk("data", pcm_bytes(), 32000)), pcm_values(),
               "announces 1.00 s, 0.06 s are there");
  // Half a sample at the end doesn't count.
  expect_reads(wav_file(kFormat + chunk("data", pcm_bytes() + "x", 32000, false)), pcm_values(),
               "is cut off");
}

TEST(Wav, OddChunksWithAndWithoutPadding) {
  std::string eight;
  std::vector<float> values;
  for (int i = 0; i < 333; ++i) {
    eight.push_back(static_cast<char>(i * 7));
    values.push_back(static_cast<float>((i * 7 & 0xff) - 128) / 128.0F);
  }
  const std::string format = chunk("fmt ", wav_format({.bits = 8}));
  const std::vector<float> twice = [&] {
    std::vector<float> all = values;
    all.insert(all.end(), values.begin(), values.end());
    return all;
  }();
  for (const bool padded : {true, false}) {
    SCOPED_TRACE(padded);
    expect_reads(
        wav_file(chunk("LIST", "odd", -1, padded) + format + chunk("data", eight, -1, padded)),
        values);
    expect_reads(wav_file(format + chunk("data", eight, -1, padded) +
                          chunk("note", "x", -1, padded) + chunk("data", eight, -1, padded)),
                 twice);
  }
}

TEST(Wav, TwoDataChunksFollowEachOther) {
  const std::string bytes = pcm_bytes();
  expect_reads(wav_file(kFormat + chunk("data", bytes.substr(0, 600)) + chunk("LIST", "INFO") +
                        chunk("data", bytes.substr(600))),
               pcm_values());
}

TEST(Wav, BytesBehindTheDataThatAreNoChunkAreIgnored) {
  expect_reads(wav_file(kFormat + chunk("data", pcm_bytes())) + std::string(999, '\x01'),
               pcm_values());
}

TEST(Wav, Rf64) {
  const std::string data = pcm_bytes();
  const auto ds64 = [&](std::uint64_t size) {
    return chunk("ds64", little(size + 100, 8) + little(size, 8) + little(1001, 8) + little(0, 4));
  };
  for (const char* form : {"RF64", "BW64"}) {
    SCOPED_TRACE(form);
    expect_reads(wav_file(ds64(data.size()) + kFormat + chunk("data", data, 0xFFFFFFFF) +
                              chunk("LIST", "INFO"),
                          form, 0xFFFFFFFF),
                 pcm_values());
    // Written to a pipe: ds64 was never filled in, or with -1.
    for (const std::uint64_t size : {std::uint64_t{0}, ~std::uint64_t{0}}) {
      expect_reads(
          wav_file(ds64(size) + kFormat + chunk("data", data, 0xFFFFFFFF), form, 0xFFFFFFFF),
          pcm_values());
    }
    expect_reads(
        wav_file(ds64(200000) + kFormat + chunk("data", data, 0xFFFFFFFF), form, 0xFFFFFFFF),
        pcm_values(), "is cut off");
  }
}

TEST(Wav, LargerThanFourGibibytes) {
  const TempFolder folder;
  const std::filesystem::path file = folder.path() / "large.wav";
  // 2^32 + 3000 bytes of data in a hole; the header kept the low 32 bits of their number.
  const std::string head = wav_file(kFormat, "RIFF", 3036) + "data" + little(3000, 4);
  write_bytes(file, head);
  std::filesystem::resize_file(file, head.size() + (std::uint64_t{1} << 32) + 3000);
  const auto bytes = audio::open_bytes(file);
  const auto layout = audio::parse_wav(*bytes);
  ASSERT_TRUE(layout);
  ASSERT_EQ(layout->data.size(), 1U);
  EXPECT_EQ(layout->data[0].size, (std::uint64_t{1} << 32) + 3000);
  EXPECT_EQ(layout->warnings.size(), 1U);
}

TEST(Wav, Extensible) {
  expect_reads(
      wav_file(chunk("fmt ", wav_format({.extensible = true})) + chunk("data", pcm_bytes())),
      pcm_values());
}

TEST(Wav, EveryPrefixIsReadOrRefused) {
  const std::string whole =
      wav_file(chunk("LIST", "INFOabc") + kFormat + chunk("data", pcm_bytes(100)));
  std::size_t most = 0;
  for (std::size_t size = 1; size < whole.size(); ++size) {
    try {
      EncodedSource source(whole.substr(0, size));
      const std::size_t count = read_all(*source).size();
      EXPECT_GE(count, most);
      most = count;
      EXPECT_EQ(source->warnings().size(), 1U) << size;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadFile) << error.what();
    }
  }
  EXPECT_EQ(most, 99U);
}

TEST(Wav, RefusesWhatNoRecordingHas) {
  const auto refuse = [](const std::string& file, const std::string& words) {
    const std::string text = error_text(ErrorCode::kBadFile, [&] { EncodedSource source(file); });
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  const auto with = [](const WavFormat& format) {
    return wav_file(chunk("fmt ", wav_format(format)) + chunk("data", pcm_bytes()));
  };
  refuse(with({.channels = 0}), "0 channels");
  refuse(with({.channels = 2000}), "2000 channels");
  refuse(with({.sample_rate = 0}), "0 samples per second");
  refuse(with({.sample_rate = 3}), "3 samples per second");
  refuse(with({.sample_rate = 2000000000}), "2000000000 samples per second");
  refuse(wav_file(chunk("data", pcm_bytes())), "without a format chunk");
  refuse(wav_file(kFormat), "without a data chunk");
  refuse(wav_file(chunk("fmt ", "short")), "format chunk is cut off");
}

TEST(Wav, CompressedSamplesAreLeftToOthers) {
  const TempFolder folder;
  const std::filesystem::path file = folder.path() / "adpcm.wav";
  const std::vector<float> signal = test_signal(16000);
  ASSERT_TRUE(write_sndfile(file, SF_FORMAT_WAV | SF_FORMAT_IMA_ADPCM, signal));
  const auto bytes = audio::open_bytes(file);
  EXPECT_FALSE(audio::parse_wav(*bytes));
  const std::vector<float> read = read_file(file);
  ASSERT_GE(read.size(), signal.size());
  for (std::size_t i = 100; i < signal.size(); ++i) ASSERT_NEAR(read[i], signal[i], 0.1F) << i;
}

}  // namespace
}  // namespace diarist::test
