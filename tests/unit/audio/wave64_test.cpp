// Sony Wave64: what libsndfile writes, and what pipes and cuts make of it.

#include "support/support.hpp"
#include "unit/audio/one_way.hpp"
#include "unit/audio/pcm_samples.hpp"
#include "unit/audio/read_all.hpp"

namespace diarist::test {
namespace {

const std::string kFormat = wave64_chunk("fmt ", wav_format({}));

// From a file and through a pipe.
void expect_reads(const std::string& file, const std::vector<float>& expected,
                  const std::string& warning = "") {
  EncodedSource stored(file);
  EXPECT_EQ(read_all(*stored), expected);
  const auto piped = pipe_source(file);
  EXPECT_EQ(read_all(*piped), expected);
  for (const std::vector<std::string>& warnings : {stored->warnings(), piped->warnings()}) {
    ASSERT_EQ(warnings.size(), warning.empty() ? 0U : 1U);
    if (!warning.empty()) {
      EXPECT_NE(warnings[0].find(warning), std::string::npos) << warnings[0];
    }
  }
}

TEST(Wave64, WhatLibsndfileWritesIsExact) {
  const TempFolder folder;
  const std::filesystem::path file = folder.path() / "x.w64";
  for (const int encoding : {SF_FORMAT_PCM_U8, SF_FORMAT_PCM_16, SF_FORMAT_PCM_24, SF_FORMAT_PCM_32,
                             SF_FORMAT_FLOAT, SF_FORMAT_DOUBLE, SF_FORMAT_ALAW, SF_FORMAT_ULAW}) {
    ASSERT_TRUE(write_sndfile(file, SF_FORMAT_W64 | encoding, test_signal(3001)));
    std::vector<float> theirs(3001);
    SF_INFO info{};
    SNDFILE* in = sf_open(file.c_str(), SFM_READ, &info);
    ASSERT_EQ(sf_read_float(in, theirs.data(), 3001), 3001) << sf_strerror(in);
    sf_close(in);
    expect_reads(bytes_of(file), theirs);
  }
}

TEST(Wave64, SizesOfPipesReachToTheEnd) {
  for (const std::int64_t size : {INT64_C(0), INT64_C(0x7fffffffffffffff), INT64_C(23)})
    expect_reads(wave64_file(kFormat + wave64_chunk("data", pcm_bytes(1000), size)),
                 pcm_values(1000));
  expect_reads(wave64_file(kFormat + wave64_chunk("data", pcm_bytes(1000), 24)), pcm_values(1000),
               "announces no samples");
}

TEST(Wave64, OddChunksArePaddedToEight) {
  expect_reads(wave64_file(wave64_chunk("summ", "list") + kFormat +
                           wave64_chunk("levl", std::string(13, 'x')) +
                           wave64_chunk("data", pcm_bytes()) + wave64_chunk("bext", "tail")),
               pcm_values());
  std::vector<float> twice = pcm_values();
  twice.insert(twice.end(), twice.begin(), twice.begin() + 1001);
  expect_reads(
      wave64_file(kFormat + wave64_chunk("data", pcm_bytes()) + wave64_chunk("data", pcm_bytes())),
      twice);
}

TEST(Wave64, SizeBeyondTheEndIsACut) {
  expect_reads(wave64_file(kFormat + wave64_chunk("data", pcm_bytes(16000), 24 + 64000)),
               pcm_values(16000), "announces 2.00 s, 1.00 s are there");
}

TEST(Wave64, EveryPrefixIsReadOrRefused) {
  const std::string whole = wave64_file(kFormat + wave64_chunk("data", pcm_bytes(100)));
  for (std::size_t length = 41; length < whole.size(); ++length) {
    try {
      EncodedSource source(whole.substr(0, length));
      EXPECT_LE(read_all(*source).size(), 100U);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadFile) << error.what();
    }
  }
}

TEST(Wave64, FormatBehindTheSamplesIsRefused) {
  const std::string text = error_text(ErrorCode::kBadFile, [&] {
    EncodedSource source(wave64_file(wave64_chunk("data", pcm_bytes()) + kFormat));
  });
  EXPECT_NE(text.find("format stands behind its samples"), std::string::npos) << text;
}

}  // namespace
}  // namespace diarist::test
