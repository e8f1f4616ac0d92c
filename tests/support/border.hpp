#pragma once
// What the border tests run: short, and on real speech.

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "diarist/error.hpp"
#include "diarist/options.hpp"
#include "diarist/waveform.hpp"
#include "support/support.hpp"

namespace diarist::test {

inline std::filesystem::path sample_wav() { return sample_folder() / "sample.wav"; }
inline std::filesystem::path open_bundle() { return models_folder() / "open"; }

/// The preset with the least work.
inline DiarizerOptions small_options(int threads = 2) {
  return {.preset = "open-lite", .models = models_folder(), .threads = threads};
}

/// 12 s in which two people speak: three windows.
inline RunOptions short_run() {
  RunOptions options;
  options.audio.from = 6;
  options.audio.to = 18;
  return options;
}

/// Seconds [from, to) of the sample recording, 16 kHz.
inline std::vector<std::int16_t> sample_pcm16(int from, int to) {
  const std::string wav = read_as_wav(sample_wav(), 1U << 24U);
  const std::size_t data = wav.find("data") + 8;
  std::vector<std::int16_t> samples;
  for (int i = from * 16000; i < to * 16000; ++i) {
    const std::size_t at = data + 2 * static_cast<std::size_t>(i);
    samples.push_back(static_cast<std::int16_t>(static_cast<unsigned char>(wav.at(at)) |
                                                static_cast<unsigned char>(wav.at(at + 1)) << 8));
  }
  return samples;
}

/// The code of the Error that a call throws; nothing is caught but that.
template <typename Call>
ErrorCode code_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()), "");
    return error.code();
  }
  ADD_FAILURE() << "no error";
  return ErrorCode{0};
}

}  // namespace diarist::test
