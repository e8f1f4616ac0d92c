// Everything that can be read from a file can be read from a pipe.

#include <unistd.h>

#include <thread>

#include "audio/ffmpeg_reader.hpp"
#include "support/support.hpp"
#include "unit/audio/one_way.hpp"
#include "unit/audio/pcm_samples.hpp"
#include "unit/audio/read_all.hpp"

namespace diarist::test {
namespace {

const std::string kFormat = chunk("fmt ", wav_format({}));

void expect_reads(const std::string& bytes, const std::vector<float>& expected,
                  const std::string& warning = "") {
  const auto source = pipe_source(bytes);
  EXPECT_EQ(read_all(*source), expected);
  ASSERT_EQ(source->warnings().size(), warning.empty() ? 0U : 1U);
  if (!warning.empty()) {
    EXPECT_NE(source->warnings()[0].find(warning), std::string::npos) << source->warnings()[0];
  }
}

TEST(Pipe, WavSizesThatProgramsLeave) {
  for (const std::int64_t size :
       {INT64_C(0xFFFFFFFF), INT64_C(0xFFFFFFDB), INT64_C(0x7FFFF000), INT64_C(0x80000000)})
    expect_reads(wav_file(kFormat + chunk("data", pcm_bytes(), size)), pcm_values());
  expect_reads(wav_file(kFormat + chunk("data", pcm_bytes(), 0)), pcm_values(),
               "announces no samples");
  expect_reads(wav_file(kFormat + chunk("data", pcm_bytes(16000), 64000)), pcm_values(16000),
               "announces 2.00 s, 1.00 s are there");
}

TEST(Pipe, WavChunksOfAllKinds) {
  std::vector<float> twice = pcm_values();
  twice.insert(twice.end(), twice.begin(), twice.begin() + 1001);
  expect_reads(wav_file(chunk("LIST", "odd") + chunk("bext", std::string(603, 'x')) + kFormat +
                        chunk("data", pcm_bytes()) + chunk("LIST", "INFO.") +
                        chunk("data", pcm_bytes()) + chunk("id3 ", "end")),
               twice);
  expect_reads(wav_file(kFormat + chunk("data", "") + chunk("LIST", "INFO")), {});
  expect_reads(wav_file(kFormat + chunk("data", "")), {});
  const std::string ds64 = chunk("ds64", little(3000, 8) + little(2002, 8) + little(1001, 8));
  expect_reads(
      wav_file(ds64 + kFormat + chunk("data", pcm_bytes(), 0xFFFFFFFF), "RF64", 0xFFFFFFFF),
      pcm_values());
  const std::string unknown = chunk("ds64", std::string(24, '\xff'));
  expect_reads(
      wav_file(unknown + kFormat + chunk("data", pcm_bytes(), 0xFFFFFFFF), "BW64", 0xFFFFFFFF),
      pcm_values());
}

TEST(Pipe, WavThatCantBeReadInOrder) {
  std::string text = error_text(
      ErrorCode::kBadFile, [&] { pipe_source(wav_file(chunk("data", pcm_bytes()) + kFormat)); });
  EXPECT_NE(text.find("format stands behind its samples"), std::string::npos) << text;
  text = error_text(ErrorCode::kBadFile, [&] { pipe_source(wav_file(kFormat)); });
  EXPECT_NE(text.find("without a data chunk"), std::string::npos) << text;
  text = error_text(ErrorCode::kBadFile, [&] { pipe_source(""); });
  EXPECT_NE(text.find("is empty"), std::string::npos) << text;
}

TEST(Pipe, GivesWhatTheFileGives) {
  const TempFolder folder;
  const std::filesystem::path file = folder.path() / "x";
  for (const int format : {SF_FORMAT_WAV | SF_FORMAT_PCM_24, SF_FORMAT_WAV | SF_FORMAT_IMA_ADPCM,
                           SF_FORMAT_FLAC | SF_FORMAT_PCM_16, SF_FORMAT_OGG | SF_FORMAT_VORBIS,
                           SF_FORMAT_OGG | SF_FORMAT_OPUS, SF_FORMAT_AIFF | SF_FORMAT_PCM_16,
                           SF_FORMAT_CAF | SF_FORMAT_PCM_16, SF_FORMAT_AU | SF_FORMAT_PCM_16,
                           SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III}) {
    // Without FFmpeg, compressed WAV needs libsndfile, which needs to seek behind our header.
    if (format == (SF_FORMAT_WAV | SF_FORMAT_IMA_ADPCM) && audio::ffmpeg_version().empty())
      continue;
    if (!write_sndfile(file, format, test_signal(100000))) continue;
    const std::vector<float> stored = read_file(file);
    const std::vector<float> piped = read_all(*pipe_source(bytes_of(file)));
    ASSERT_GE(stored.size(), 99000U) << std::hex << format;
    ASSERT_EQ(piped.size(), stored.size()) << std::hex << format;
    // libsndfile for the file and FFmpeg for the pipe round otherwise, ADPCM most of all.
    for (std::size_t i = 0; i < stored.size(); ++i)
      ASSERT_NEAR(piped[i], stored[i], 3e-3) << std::hex << format << " at " << std::dec << i;
  }
}

TEST(Pipe, StandardInputMayBeAFileReadInPart) {
  const TempFolder folder;
  const std::filesystem::path file = folder.path() / "x";
  write_bytes(file, "a line before\n" + wav_pcm16(test_signal(1001)));
  const int stdin_before = ::dup(STDIN_FILENO);
  FILE* in = std::fopen(file.c_str(), "r");
  ASSERT_NE(in, nullptr);
  ::dup2(::fileno(in), STDIN_FILENO);
  ::lseek(STDIN_FILENO, 14, SEEK_SET);
  const std::vector<float> read = read_file("-");
  ::dup2(stdin_before, STDIN_FILENO);
  ::close(stdin_before);
  std::fclose(in);
  EXPECT_EQ(read, pcm_values());
  EXPECT_EQ(audio::recording_name("-"), "stdin");
  EXPECT_EQ(audio::recording_name("a/b.c.wav"), "b.c");
}

TEST(Pipe, SharedPipesAreReadTwice) {
  const TempFolder folder;
  const std::filesystem::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::system(("mkfifo " + pipe.string()).c_str()), 0);
  std::thread writer([&] { write_bytes(pipe, wav_pcm16(test_signal(40000))); });
  const audio::SharedFile shared(pipe);
  writer.join();
  const auto one = shared.open({});
  const auto other = shared.open({});
  EXPECT_EQ(read_all(*one), pcm_values(40000));
  EXPECT_EQ(read_all(*other), pcm_values(40000));
}

TEST(Pipe, StretchesAndChannels) {
  const std::string bytes = wav_file(chunk("fmt ", wav_format({.channels = 2})) +
                                     chunk("data", pcm_bytes(64000), 0xFFFFFFFF));
  audio::SourceOptions options;
  options.audio.channel = 2;
  options.audio.from = 0.5;
  options.audio.to = 1.25;
  const std::vector<float> all = pcm_values(64000);
  std::vector<float> wanted;
  for (std::size_t i = 8000; i < 20000; ++i) wanted.push_back(all[2 * i + 1]);
  EXPECT_EQ(read_all(*pipe_source(bytes, options)), wanted);
}

}  // namespace
}  // namespace diarist::test
