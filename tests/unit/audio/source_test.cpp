// Sources: mixing, memory, names, errors.

#include "audio/source.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include "support/odd_audio.hpp"
#include "support/support.hpp"
#include "unit/audio/read_all.hpp"

namespace diarist::test {
namespace {

TEST(Source, MixesByTheMeanInSinglePrecision) {
  for (const int channels : {1, 2, 3, 6, 7}) {
    const std::vector<float> samples = test_signal(1000 * channels);
    const auto source = audio::open_memory({samples, 16000, channels});
    EXPECT_EQ(source->expected_samples(), 1000);
    const std::vector<float> mono = read_all(*source);
    ASSERT_EQ(mono.size(), 1000U);
    for (std::size_t i = 0; i < mono.size(); ++i) {
      float sum = 0;
      for (int c = 0; c < channels; ++c) {
        sum += samples[i * static_cast<std::size_t>(channels) + static_cast<std::size_t>(c)];
      }
      ASSERT_EQ(mono[i], sum / static_cast<float>(channels));
    }
  }
}

TEST(Source, MixesBeforeResampling) {
  const std::vector<float> mono = test_signal(48000, 48000);
  std::vector<float> opposite;  // three channels: nothing guards against their cancelling
  for (const float x : mono) opposite.insert(opposite.end(), {x, -x, 0.0F});
  for (const bool reference : {false, true}) {
    const auto source = audio::open_memory({opposite, 48000, 3}, {.reference = reference});
    EXPECT_EQ(read_all(*source), std::vector<float>(16000, 0.0F));
  }
}

TEST(Source, BlockSizesDoNotMatter) {
  const std::vector<float> samples = test_signal(100000, 44100);
  for (const bool reference : {false, true}) {
    for (const int rate : {16000, 44100, 8000}) {
      const auto read = [&](std::size_t block) {
        const auto source = audio::open_memory({samples, rate, 1}, {.reference = reference});
        return read_all(*source, block);
      };
      const std::vector<float> whole = read(1000000);
      EXPECT_EQ(read(1), whole);
      EXPECT_EQ(read(16000), whole);
      EXPECT_EQ(read(160000), whole);
    }
  }
}

TEST(Source, MemoryIsCheckedAndMayBeEmpty) {
  const std::vector<float> samples(7);
  const auto open = [&](int rate, int channels) {
    return error_text(ErrorCode::kInvalidArgument, [&] {
      (void)audio::open_memory({samples, rate, channels});
    });
  };
  EXPECT_NE(open(0, 1).find("sample_rate is 0"), std::string::npos);
  EXPECT_NE(open(-16000, 1).find("-16000"), std::string::npos);
  EXPECT_NE(open(16000, 0).find("channels is 0"), std::string::npos);
  EXPECT_NE(open(16000, 2).find("whole frames of 2"), std::string::npos);
  for (const int rate : {8000, 16000, 44100}) {
    for (const bool reference : {false, true}) {
      EXPECT_TRUE(read_all(*audio::open_memory({{}, rate, 1}, {.reference = reference})).empty());
    }
  }
}

TEST(Source, NotFiniteSamplesArePassedOn) {
  std::vector<float> samples = test_signal(48000);
  samples[20000] = std::numeric_limits<float>::quiet_NaN();
  samples[30000] = -std::numeric_limits<float>::infinity();
  const std::vector<float> read = read_all(*audio::open_memory({samples, 16000, 1}));
  EXPECT_EQ(std::memcmp(read.data(), samples.data(), 4 * samples.size()), 0);
}

TEST(Source, NamesReachTheSystemByteForByte) {
  const TempFolder folder;
  const std::vector<float> signal = test_signal(500);
  std::vector<std::string> names = {
      "two words.wav", "-rf.wav",      "tab\there.wav",     "line\nend.wav",
      "100%s{}.wav",   "\xff\xfe.wav", "Gespräch 会議.wav", "http:x.wav",
      "file:x.wav",    ".wav",         "no_extension"};
  names.push_back(std::string(251, 'n') + ".wav");
  for (const std::string& name : names) {
    write_bytes(folder.path() / name, wav_pcm16(signal));
    EXPECT_EQ(read_file(folder.path() / name).size(), 500U) << name;
    // Through every reader.
    EXPECT_TRUE(write_sndfile(folder.path() / name, SF_FORMAT_FLAC | SF_FORMAT_PCM_16, signal));
    EXPECT_EQ(read_file(folder.path() / name).size(), 500U) << name;
    // Messages are one line (checked by error_text) and show the name.
    write_bytes(folder.path() / name, "no audio");
    const std::string text =
        error_text(ErrorCode::kBadFile, [&] { (void)audio::open_file(folder.path() / name); });
    EXPECT_NE(text.find(folder.path().filename().string()), std::string::npos);
  }
}

TEST(Source, TellsWhyAFileCantBeOpened) {
  const TempFolder folder;
  const auto refuse = [](ErrorCode code, const std::filesystem::path& file,
                         const std::string& words) {
    const std::string text = error_text(code, [&] { (void)audio::open_file(file); });
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  const std::filesystem::path plain = folder.path() / "x.wav";
  refuse(ErrorCode::kNotFound, plain, "no such file");
  refuse(ErrorCode::kNotFound, "", "no such file");
  refuse(ErrorCode::kNotFound, folder.path() / std::string(5000, 'x'), "no such file");
  refuse(ErrorCode::kBadFile, folder.path(), "is a folder");
  write_bytes(plain, "");
  refuse(ErrorCode::kBadFile, plain, "is empty");
  refuse(ErrorCode::kNotFound, plain / "inside", "no such file");
  for (const char* content : {"x", "RIFF", "hello, this is a text\n", "%PDF-1.7 ...", "\0\0\0\0"}) {
    write_bytes(plain, content[0] == 0 ? std::string(4000, '\0') : std::string(content));
    refuse(ErrorCode::kBadFile, plain, "isn't audio");
  }
}

TEST(Source, TellsThatAFileMayNotBeRead) {
  const TempFolder folder;
  const std::filesystem::path file = folder.path() / "secret.wav";
  write_bytes(file, wav_pcm16(test_signal(10)));
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(file.c_str(), 0), 0);
  const bool root = ::geteuid() == 0;
  // The superuser may read everything, so the test becomes someone else for a moment.
  if (root) {
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const std::string text = error_text(ErrorCode::kBadFile, [&] { (void)audio::open_file(file); });
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  EXPECT_NE(text.find("may not be read"), std::string::npos) << text;
}

TEST(Source, ReadsFromAPipe) {
  const TempFolder folder;
  const std::filesystem::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::vector<float> signal = test_signal(40000);
  // As a program writes to a pipe: no size in the header.
  std::string bytes = wav_pcm16(signal);
  bytes.replace(40, 4, little(0xFFFFFFFF, 4));
  std::thread writer([&] { write_bytes(pipe, bytes); });
  const std::vector<float> read = read_file(pipe);
  writer.join();
  ASSERT_EQ(read.size(), signal.size());
  const std::vector<std::int16_t> values = to_pcm16(signal);
  for (std::size_t i = 0; i < read.size(); ++i) {
    ASSERT_EQ(read[i], static_cast<float>(values[i]) / 32768.0F);
  }
}

TEST(Source, NamesItsReaders) {
  ASSERT_FALSE(audio::reader_names().empty());
  EXPECT_EQ(audio::reader_names()[0].rfind("libsndfile 1.", 0), 0U) << audio::reader_names()[0];
}

}  // namespace
}  // namespace diarist::test
