#pragma once
// What every audio test needs: a whole source as one vector, and files written by libsndfile.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sndfile.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "audio/bytes.hpp"
#include "audio/source.hpp"
#include "diarist/error.hpp"

namespace diarist::test {

/// Reads to the end in blocks of `block`; checks that only the last one is short.
inline std::vector<float> read_all(audio::Source& source, std::size_t block = 10007) {
  std::vector<float> samples;
  std::vector<float> part(block);
  while (true) {
    const std::size_t count = source.read(part);
    samples.insert(samples.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(count));
    if (count < block) break;
  }
  EXPECT_EQ(source.read(part), 0U);
  return samples;
}

inline std::vector<float> read_file(const std::filesystem::path& file,
                                    const audio::SourceOptions& options = {}) {
  return read_all(*audio::open_file(file, options));
}

/// A source over a copy of encoded bytes.
class EncodedSource {
 public:
  explicit EncodedSource(std::string bytes, const audio::SourceOptions& options = {})
      : bytes_(std::move(bytes)),
        source_(audio::open_encoded(audio::memory_bytes(std::as_bytes(std::span(bytes_)), "input"),
                                    options)) {}
  audio::Source& operator*() { return *source_; }
  audio::Source* operator->() { return source_.get(); }

 private:
  std::string bytes_;
  std::unique_ptr<audio::Source> source_;
};

/// Text of the error a call throws; fails the test when it has another code or none comes.
template <typename Call>
std::string error_text(ErrorCode code, Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error_code_name(error.code()), std::string(error_code_name(code))) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

/// Writes interleaved samples through libsndfile. False when this libsndfile can't write `format`.
inline bool write_sndfile(const std::filesystem::path& file, int format,
                          std::span<const float> samples, int rate = 16000, int channels = 1) {
  SF_INFO info{};
  info.format = format;
  info.samplerate = rate;
  info.channels = channels;
  if (sf_format_check(&info) == 0) return false;
  SNDFILE* out = sf_open(file.c_str(), SFM_WRITE, &info);
  if (out == nullptr) return false;
  sf_command(out, SFC_SET_CLIPPING, nullptr, SF_TRUE);
  const auto count = static_cast<sf_count_t>(samples.size());
  const bool good = sf_write_float(out, samples.data(), count) == count;
  return sf_close(out) == 0 && good;
}

}  // namespace diarist::test
