#pragma once
// What the border tests run: short, and on real speech.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "diarist/error.hpp"
#include "diarist/options.hpp"
#include "support/support.hpp"

namespace diarist::test {

inline std::filesystem::path sample_wav() { return sample_folder() / "sample.wav"; }
inline std::filesystem::path open_bundle() { return models_folder() / "open"; }

/// The preset with the least work.
inline DiarizerOptions small_options(int threads = 2) {
  return {.preset = "open-lite", .models = models_folder(), .threads = threads};
}

/// 14 s in which two people speak: five windows.
inline RunOptions short_run() {
  RunOptions options;
  options.audio.from = 6;
  options.audio.to = 20;
  return options;
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
