// Program, C++ and C give the same bytes.

#include <gtest/gtest.h>

#include <string>

#include "diarist/diarist.h"
#include "diarist/diarizer.hpp"
#include "diarist/formats.hpp"
#include "support/border.hpp"
#include "support/program.hpp"

namespace diarist::test {
namespace {

std::string text_of_c(const char* preset, const char* format) {
  const std::string models = models_folder().string();
  diarist_options options;
  EXPECT_EQ(diarist_options_init(&options, sizeof options), DIARIST_OK);
  options.preset = preset;
  options.models = models.c_str();
  diarist_diarizer* diarizer = nullptr;
  diarist_result* result = nullptr;
  char* text = nullptr;
  EXPECT_EQ(diarist_diarizer_create(&options, &diarizer), DIARIST_OK) << diarist_last_error();
  EXPECT_EQ(diarist_diarizer_run_file(diarizer, sample_wav().c_str(), nullptr, &result), DIARIST_OK)
      << diarist_last_error();
  EXPECT_EQ(diarist_result_to_text(result, format, &text, nullptr), DIARIST_OK);
  const std::string copy = text == nullptr ? "" : text;
  diarist_text_free(text);
  EXPECT_EQ(diarist_result_destroy(result), DIARIST_OK);
  EXPECT_EQ(diarist_diarizer_destroy(diarizer), DIARIST_OK);
  return copy;
}

TEST(SameBytes, OfProgramCppAndC) {
  DIARIST_NEED(sample_wav());
  DIARIST_NEED(open_bundle());
  for (const char* preset : {"open", "open-lite"}) {
    const Diarizer diarizer({.preset = preset, .models = models_folder()});
    const Diarization result = diarizer.run(sample_wav());
    ASSERT_FALSE(result.turns.empty());
    for (const char* format : {"rttm", "csv"}) {
      const ProgramResult program = run_program(
          {"run", "--preset", preset, "--format", format, "--quiet", sample_wav().string()});
      ASSERT_EQ(program.exit_code, 0) << program.err;
      EXPECT_EQ(to_text(result, format_of_name(format).value()), program.out);
      EXPECT_EQ(text_of_c(preset, format), program.out);
    }
  }
}

}  // namespace
}  // namespace diarist::test
