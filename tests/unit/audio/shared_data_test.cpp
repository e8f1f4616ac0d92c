// Real recordings: FLAC read by us equals the same samples as WAV, and their lengths are known.

#include "support/odd_audio.hpp"
#include "support/support.hpp"
#include "unit/audio/read_all.hpp"

namespace diarist::test {
namespace {

// libFLAC's own integers, by the integer interface of libsndfile.
std::vector<std::int16_t> integers(const std::filesystem::path& file, int* rate) {
  SF_INFO info{};
  SNDFILE* in = sf_open(file.c_str(), SFM_READ, &info);
  EXPECT_NE(in, nullptr);
  std::vector<std::int16_t> values(static_cast<std::size_t>(info.frames));
  EXPECT_EQ(info.channels, 1);
  EXPECT_EQ(sf_read_short(in, values.data(), info.frames), info.frames);
  sf_close(in);
  *rate = info.samplerate;
  return values;
}

TEST(SharedData, FlacAndWavGiveTheFilesIntegers) {
  DIARIST_NEED(shared_folder() / "data" / "human");
  DIARIST_NEED(shared_folder() / "data" / "conversations");
  int seen = 0;
  for (const char* name : {"human", "conversations"}) {
    for (const auto& entry : std::filesystem::directory_iterator(shared_folder() / "data" / name)) {
      if (entry.path().extension() != ".flac") continue;
      SCOPED_TRACE(entry.path().filename());
      int rate = 0;
      const std::vector<std::int16_t> values = integers(entry.path(), &rate);
      ASSERT_EQ(rate, 16000);
      std::string data;
      std::vector<float> wanted;
      for (const std::int16_t v : values) {
        data += little(static_cast<std::uint16_t>(v), 2);
        wanted.push_back(static_cast<float>(v) / 32768.0F);
      }
      EXPECT_EQ(read_file(entry.path()), wanted);
      EncodedSource wav(wav_file(chunk("fmt ", wav_format({})) + chunk("data", data)));
      EXPECT_EQ(read_all(*wav), wanted);
      ++seen;
    }
  }
  EXPECT_EQ(seen, 11);
}

}  // namespace
}  // namespace diarist::test
