// diarist embed as a user runs it.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/npy.hpp"
#include "diarist/embedder.hpp"
#include "support/odd_audio.hpp"
#include "support/program.hpp"
#include "support/synthetic_embedder.hpp"

namespace diarist::test {
namespace {

/// A recording of 12 s, weights that need no installation, and a place for results.
class ProgramEmbed : public testing::Test {
 protected:
  void SetUp() override { write_bytes(audio(), wav_pcm16(test_signal(16000 * 12))); }

  std::filesystem::path audio() const { return folder_.path() / "talk.wav"; }
  std::filesystem::path out() const { return folder_.path() / "out.npy"; }
  std::string rttm(const std::string& text) const {
    const std::filesystem::path file = folder_.path() / "talk.rttm";
    write_bytes(file, text);
    return file.string();
  }
  ProgramResult run(std::vector<std::string> more, const std::string& kind = "campplus") const {
    std::vector<std::string> arguments = {"embed",
                                          audio().string(),
                                          "--out",
                                          out().string(),
                                          "--weights",
                                          synthetic_weight_file(kind).string(),
                                          "--allow-unknown-weights"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments);
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_.path()), {}));
  }
  TempFolder folder_;
};

TEST_F(ProgramEmbed, OneRowPerTurnInTheOrderOfTheFile) {
  const std::string segments = rttm(
      "SPEAKER talk 1 6.000 1.500 <NA> <NA> B <NA> <NA>\n"
      "SPEAKER talk 1 0.500 11.000 <NA> <NA> A <NA> <NA>\n"
      "SPEAKER talk 1 2.000 0.250 <NA> <NA> B <NA> <NA>\n");
  const std::vector<TimeSpan> spans = {{6.0, 7.5}, {0.5, 11.5}, {2.0, 2.25}};
  for (const char* kind : {"campplus", "wespeaker-resnet34"}) {
    const ProgramResult result = run({"--segments", segments}, kind);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, "");
    const Embedder embedder(synthetic_embedder(kind));
    const base::NpyArray array = base::read_npy(out());
    EXPECT_EQ(array.descr, "<f4");
    EXPECT_EQ(array.shape, (base::Shape{3, embedder.dim()}));
    EXPECT_EQ(array.as<float>("out"), embedder.embed(audio(), spans)) << kind;
  }
}

TEST_F(ProgramEmbed, WithoutTurnsOneRowForEverything) {
  const ProgramResult result = run({});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const base::NpyArray array = base::read_npy(out());
  EXPECT_EQ(array.shape, (base::Shape{1, 192}));
  EXPECT_EQ(array.as<float>("out"), Embedder(synthetic_embedder("campplus")).embed(audio()));
}

TEST_F(ProgramEmbed, InfoTellsTheKernelOfEveryLayerAndWhy) {
  const std::vector<std::string> arguments = {"info", "--choices", "--weights",
                                              synthetic_weight_file("wespeaker-resnet34").string(),
                                              "--allow-unknown-weights"};
  const ProgramResult result = run_program(arguments);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const EmbedderInfo info = Embedder(synthetic_embedder("wespeaker-resnet34")).info();
  ASSERT_FALSE(info.layers.empty());
  for (const LayerChoice& layer : info.layers)
    for (const std::string& word : {layer.layer, layer.kernel, layer.reason})
      EXPECT_NE(result.out.find(word), std::string::npos) << word << "\n" << result.out;
  std::vector<std::string> tuned = arguments;
  tuned.insert(tuned.end(), {"--tune-file", "absent.tune"});
  EXPECT_EQ(run_program(tuned).exit_code, 2);
}

TEST_F(ProgramEmbed, ThreadsDoNotChangeTheBytes) {
  ASSERT_EQ(run({"--threads", "1"}).exit_code, 0);
  const std::vector<float> one = base::read_npy(out()).as<float>("out");
  ASSERT_EQ(run({"--threads", "3"}).exit_code, 0);
  EXPECT_EQ(base::read_npy(out()).as<float>("out"), one);
}

TEST_F(ProgramEmbed, NoTurnsAreNoRows) {
  const ProgramResult result = run({"--segments", rttm("")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(base::read_npy(out()).shape, (base::Shape{0, 192}));
}

TEST_F(ProgramEmbed, ATurnTooShortNamesFilesTurnAndCure) {
  const std::string segments = rttm(
      "SPEAKER talk 1 1.000 1.000 <NA> <NA> A <NA> <NA>\n"
      "SPEAKER talk 1 3.000 0.249 <NA> <NA> A <NA> <NA>\n");
  const ProgramResult result = run({"--segments", segments});
  EXPECT_EQ(result.exit_code, 1);
  for (const char* part : {"talk.wav", "talk.rttm", "span 2", "3.000", "0.25 s", "leave the span"})
    EXPECT_NE(result.err.find(part), std::string::npos) << part << ": " << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_EQ(files(), 2U);  // audio and RTTM
}

TEST_F(ProgramEmbed, TurnsOfAnotherRecordingAreNamed) {
  const ProgramResult two =
      run({"--segments", rttm("SPEAKER left 1 1.000 1.000 <NA> <NA> A <NA> <NA>\n"
                              "SPEAKER right 1 1.000 1.000 <NA> <NA> A <NA> <NA>\n")});
  EXPECT_EQ(two.exit_code, 1);
  EXPECT_NE(two.err.find("left, right and none of talk"), std::string::npos) << two.err;
  const ProgramResult late =
      run({"--segments", rttm("SPEAKER x 1 100.0 1.000 <NA> <NA> A <NA> <NA>\n")});
  EXPECT_EQ(late.exit_code, 1);
  EXPECT_NE(late.err.find("begins after the end"), std::string::npos) << late.err;
  // Among several recordings the one with the name of the audio is meant.
  const ProgramResult named =
      run({"--segments", rttm("SPEAKER left 1 1.000 0.100 <NA> <NA> A <NA> <NA>\n"
                              "SPEAKER talk 1 1.000 1.000 <NA> <NA> A <NA> <NA>\n")});
  EXPECT_EQ(named.exit_code, 0) << named.err;
  EXPECT_EQ(base::read_npy(out()).shape, (base::Shape{1, 192}));
}

TEST_F(ProgramEmbed, AnEndBehindTheRecordingIsAWarning) {
  const ProgramResult result =
      run({"--segments", rttm("SPEAKER talk 1 10.000 5.000 <NA> <NA> A <NA> <NA>\n")});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.err.find("talk.wav: warning: span 1"), std::string::npos) << result.err;
}

TEST_F(ProgramEmbed, ExitCodesAreThoseOfTheOtherVerbs) {
  EXPECT_EQ(run_program({"embed", audio().string()}).exit_code, 2);  // no --out
  EXPECT_EQ(run({"--precision", "sloppy"}).exit_code, 2);
  EXPECT_EQ(run({"--tune-file", "tune.json"}).exit_code, 2);
  EXPECT_EQ(run({"--precision", "tf32"}).exit_code, 1);
  const TempFolder empty;
  const ProgramResult models = run_program(
      {"embed", audio().string(), "--out", out().string(), "--models", empty.path().string()});
  EXPECT_EQ(models.exit_code, 3);
  EXPECT_NE(models.err.find("diarist models pull open"), std::string::npos) << models.err;
  write_bytes(audio(), wav_pcm16(test_signal(3999)));
  const ProgramResult brief = run({});
  EXPECT_EQ(brief.exit_code, 1);
  EXPECT_NE(brief.err.find("talk.wav"), std::string::npos) << brief.err;
  std::filesystem::remove(audio());
  EXPECT_EQ(run({}).exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(out()));
}

TEST_F(ProgramEmbed, AnOutputThatCannotBeWrittenIsAnError) {
  const ProgramResult result = run_program(
      {"embed", audio().string(), "--out", (folder_.path() / "no" / "x.npy").string(), "--weights",
       synthetic_weight_file("campplus").string(), "--allow-unknown-weights"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("x.npy"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace diarist::test
