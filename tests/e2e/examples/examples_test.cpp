// Every file of examples/ does what its first line says.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/border.hpp"
#include "support/program.hpp"

namespace diarist::test {
namespace {

ProgramResult run_example(const std::string& name, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(),
                   (std::filesystem::path(DIARIST_EXAMPLES) / ("example_" + name)).string());
  return run_command(arguments, {{"DIARIST_MODELS", models_folder().string()}});
}

std::string read(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// What the program says of the sample.
std::string rttm_of_program() {
  const ProgramResult result =
      run_program({"run", "--preset", "open", "--quiet", sample_wav().string()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_FALSE(result.out.empty());
  return result.out;
}

#define NEED_SAMPLE_AND_MODEL() \
  DIARIST_NEED(sample_wav());   \
  DIARIST_NEED(open_bundle())

TEST(Examples, WithoutArgumentsTheyTellTheirUse) {
  for (const char* name :
       {"minimal", "batch", "progress", "embed", "stages", "score", "stream", "c"}) {
    const ProgramResult result = run_example(name, {});
    EXPECT_EQ(result.exit_code, 2) << name;
    EXPECT_EQ(result.err.rfind("usage: ", 0), 0U) << result.err;
  }
}

TEST(Examples, WhatIsMissingIsOneLine) {
  DIARIST_NEED(open_bundle());
  for (const char* name : {"minimal", "c"}) {
    const ProgramResult result = run_example(name, {"/no/such/file.wav"});
    EXPECT_EQ(result.exit_code, 1) << name;
    EXPECT_EQ(lines(result.err), 1U) << result.err;
    EXPECT_NE(result.err.find("not_found"), std::string::npos) << result.err;
  }
}

TEST(Examples, MinimalBatchAndCGiveTheTurnsOfTheProgram) {
  NEED_SAMPLE_AND_MODEL();
  const std::string wanted = rttm_of_program();
  const ProgramResult minimal = run_example("minimal", {sample_wav().string()});
  EXPECT_EQ(minimal.exit_code, 0) << minimal.err;
  EXPECT_EQ(lines(minimal.out), lines(wanted));
  EXPECT_NE(minimal.out.find("SPEAKER_01"), std::string::npos) << minimal.out;

  const ProgramResult c = run_example("c", {sample_wav().string()});
  EXPECT_EQ(c.exit_code, 0) << c.err;
  EXPECT_EQ(c.out, wanted);
  EXPECT_NE(c.err.find("SPEAKER_00 speaks for "), std::string::npos) << c.err;
  EXPECT_NE(c.err.find("networks: "), std::string::npos) << c.err;

  const TempFolder folder;
  const ProgramResult batch =
      run_example("batch", {folder.path().string(), sample_wav().string(), "/no/such/file.wav"});
  EXPECT_EQ(batch.exit_code, 1);
  EXPECT_EQ(batch.out, "1 of 2 recordings, 30 s of audio\n");
  EXPECT_EQ(lines(batch.err), 1U) << batch.err;
  EXPECT_EQ(read(folder.path() / "sample.rttm"), wanted);
}

TEST(Examples, ProgressShowsAndStops) {
  NEED_SAMPLE_AND_MODEL();
  const ProgramResult whole = run_example("progress", {sample_wav().string(), "600"});
  EXPECT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_NE(whole.out.find("clustering: 30 of 30 s"), std::string::npos) << whole.out;
  EXPECT_NE(whole.out.find(" turns\n"), std::string::npos) << whole.out;
  const ProgramResult stopped = run_example("progress", {sample_wav().string(), "0"});
  EXPECT_EQ(stopped.exit_code, 3) << stopped.err;
  EXPECT_NE(stopped.out.find("stopped\n"), std::string::npos) << stopped.out;
}

TEST(Examples, EmbedComparesVoices) {
  NEED_SAMPLE_AND_MODEL();
  const ProgramResult same = run_example("embed", {sample_wav().string(), sample_wav().string()});
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_EQ(same.out, "192 numbers each, cosine 1.0000\n");
}

TEST(Examples, StagesTellTheSame) {
  NEED_SAMPLE_AND_MODEL();
  const TempFolder folder;
  const std::filesystem::path samples = folder.path() / "samples.s16";
  const std::vector<std::int16_t> pcm = sample_pcm16(0, 30);
  std::ofstream(samples, std::ios::binary)
      .write(reinterpret_cast<const char*>(pcm.data()),
             static_cast<std::streamsize>(2 * pcm.size()));
  const ProgramResult result = run_example("stages", {samples.string()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out.rfind("21 windows of 589 frames, ", 0), 0U) << result.out;
  EXPECT_NE(result.out.find("21 windows with 3 embeddings of 192 numbers"), std::string::npos);
  EXPECT_NE(result.out.find("the segmentations are the same\n"), std::string::npos);
}

TEST(Examples, StreamTellsOnTheWayAndGivesTheTurnsOfTheProgram) {
  NEED_SAMPLE_AND_MODEL();
  const TempFolder folder;
  const std::filesystem::path samples = folder.path() / "samples.s16";
  const std::vector<std::int16_t> pcm = sample_pcm16(0, 30);
  std::ofstream(samples, std::ios::binary)
      .write(reinterpret_cast<const char*>(pcm.data()),
             static_cast<std::streamsize>(2 * pcm.size()));
  const std::filesystem::path example = std::filesystem::path(DIARIST_EXAMPLES) / "example_stream";
  const ProgramResult result =
      run_command({"sh", "-c", "exec \"$0\" 12 < \"$1\"", example.string(), samples.string()},
                  {{"DIARIST_MODELS", models_folder().string()}});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("12.0 s: SPEAKER_00 has spoken for "), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("24.0 s: SPEAKER_01 has spoken for "), std::string::npos) << result.err;
  std::string wanted = rttm_of_program();
  for (std::size_t at = 0; (at = wanted.find(" sample ", at)) != std::string::npos;)
    wanted.replace(at, 8, " stream ");
  EXPECT_EQ(result.out, wanted);
}

TEST(Examples, ScoreNeedsNoModels) {
  DIARIST_NEED(sample_folder() / "sample.rttm");
  const std::string file = (sample_folder() / "sample.rttm").string();
  const ProgramResult result = run_example("score", {file, file});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out.rfind("DER 0.00 %, JER 0.00 %\n", 0), 0U) << result.out;
  EXPECT_NE(result.out.find(" --> "), std::string::npos);
}

}  // namespace
}  // namespace diarist::test
