// A run can be stopped in every stage, at once, and leaves the object as good as before.

#include <gtest/gtest.h>

#include <stop_token>
#include <string>
#include <vector>

#include "diarist/diarizer.hpp"
#include "diarist/embedder.hpp"
#include "diarist/formats.hpp"
#include "diarist/segmenter.hpp"
#include "support/border.hpp"

namespace diarist::test {
namespace {

TEST(Cancel, InEveryStageOfARun) {
  DIARIST_NEED(sample_wav());
  DIARIST_NEED(open_bundle());
  // Batches of one window: the stop may come between any two.
  DiarizerOptions options = small_options();
  options.batch = 1;
  const Diarizer diarizer(options);
  const std::string wanted = to_rttm(diarizer.run(sample_wav(), short_run()));

  std::vector<std::string> stages;
  RunControl control;
  control.progress = [&](const Progress& now) { stages.emplace_back(now.stage); };
  EXPECT_EQ(to_rttm(diarizer.run(sample_wav(), short_run(), control)), wanted);
  ASSERT_GE(stages.size(), 4U);
  EXPECT_EQ(stages.front(), "networks");
  EXPECT_EQ(stages.back(), "clustering");

  for (std::size_t at = 0; at < stages.size(); ++at) {
    std::stop_source stop;
    std::size_t calls = 0, calls_after = 0;
    control.stop = stop.get_token();
    control.progress = [&](const Progress&) {
      if (stop.stop_requested()) ++calls_after;
      if (calls++ == at) stop.request_stop();
    };
    EXPECT_EQ(code_of([&] { (void)diarizer.run(sample_wav(), short_run(), control); }),
              ErrorCode::kCancelled)
        << "at call " << at << ", " << stages[at];
    EXPECT_LE(calls_after, 3U);  // batches under way
  }
  EXPECT_EQ(to_rttm(diarizer.run(sample_wav(), short_run())), wanted);
}

TEST(Cancel, BeforeTheStart) {
  DIARIST_NEED(sample_wav());
  DIARIST_NEED(open_bundle());
  std::stop_source stop;
  stop.request_stop();
  const RunControl control{.stop = stop.get_token()};
  const Diarizer diarizer(small_options());
  EXPECT_EQ(code_of([&] { (void)diarizer.run(sample_wav(), {}, control); }), ErrorCode::kCancelled);
  const std::filesystem::path files[] = {sample_wav()};
  EXPECT_EQ(code_of([&] {
              diarizer.run_files(files, {}, control, [](FileOutcome) {
                ADD_FAILURE() << "an outcome";
                return true;
              });
            }),
            ErrorCode::kCancelled);
  const Embedder embedder({.preset = "open", .models = models_folder(), .threads = 1});
  EXPECT_EQ(code_of([&] { (void)embedder.embed(sample_wav(), {}, control); }),
            ErrorCode::kCancelled);
  const Segmenter segmenter({.preset = "open", .models = models_folder(), .threads = 1});
  EXPECT_EQ(code_of([&] { (void)segmenter.run(sample_wav(), {}, control); }),
            ErrorCode::kCancelled);
}

TEST(Cancel, ManyFilesStopAtTheSecond) {
  DIARIST_NEED(sample_wav());
  DIARIST_NEED(open_bundle());
  const Diarizer diarizer(small_options());
  const std::vector<std::filesystem::path> files(3, sample_wav());
  std::stop_source stop;
  int outcomes = 0;
  EXPECT_EQ(code_of([&] {
              diarizer.run_files(files, short_run(), {.stop = stop.get_token()}, [&](FileOutcome) {
                ++outcomes;
                stop.request_stop();
                return true;
              });
            }),
            ErrorCode::kCancelled);
  EXPECT_EQ(outcomes, 1);
}

}  // namespace
}  // namespace diarist::test
