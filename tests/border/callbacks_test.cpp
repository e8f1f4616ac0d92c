// Exceptions of the caller's own functions come out as what they are, and leave nothing behind.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diarist/diarizer.hpp"
#include "diarist/embedder.hpp"
#include "diarist/formats.hpp"
#include "diarist/segmenter.hpp"
#include "support/border.hpp"

namespace diarist::test {
namespace {

// No exception of the library or of the standard.
struct MyOwn {
  int number;
};

TEST(Callbacks, ProgressMayThrowAnythingInAnyStage) {
  DIARIST_NEED(sample_wav());
  DIARIST_NEED(open_bundle());
  const Diarizer diarizer(small_options());
  const std::string wanted = to_rttm(diarizer.run(sample_wav(), short_run()));
  for (const char* stage : {"networks", "clustering"}) {
    RunControl control;
    control.progress = [&](const Progress& now) {
      if (now.stage == stage) throw MyOwn{42};
    };
    try {
      (void)diarizer.run(sample_wav(), short_run(), control);
      ADD_FAILURE() << "nothing was thrown in " << stage;
    } catch (const MyOwn& mine) {
      EXPECT_EQ(mine.number, 42);
    }
    EXPECT_EQ(to_rttm(diarizer.run(sample_wav(), short_run())), wanted);
  }
}

TEST(Callbacks, LogAndSinkMayThrow) {
  DIARIST_NEED(sample_wav());
  DIARIST_NEED(open_bundle());
  const Diarizer diarizer(small_options());
  RunOptions behind_the_end;
  behind_the_end.audio.from = 3600;
  RunControl control;
  control.log = [](LogLevel, std::string_view) { throw MyOwn{1}; };
  EXPECT_THROW((void)diarizer.run(sample_wav(), behind_the_end, control), MyOwn);
  const std::filesystem::path files[] = {sample_wav(), sample_wav()};
  EXPECT_THROW(diarizer.run_files(files, behind_the_end, control, [](FileOutcome) { return true; }),
               MyOwn);
  int outcomes = 0;
  EXPECT_THROW(diarizer.run_files(files, short_run(), {},
                                  [&](FileOutcome) -> bool {
                                    ++outcomes;
                                    throw MyOwn{2};
                                  }),
               MyOwn);
  EXPECT_EQ(outcomes, 1);
  EXPECT_FALSE(diarizer.run(sample_wav(), short_run()).turns.empty());
}

TEST(Callbacks, OfASegmenterAndAnEmbedder) {
  DIARIST_NEED(sample_wav());
  DIARIST_NEED(open_bundle());
  const Segmenter segmenter({.preset = "open", .models = models_folder(), .threads = 1});
  SegmentOptions options;
  options.audio.to = 12;
  RunControl control;
  control.progress = [](const Progress&) { throw MyOwn{3}; };
  EXPECT_THROW((void)segmenter.run(sample_wav(), options, control), MyOwn);
  EXPECT_EQ(segmenter.run(sample_wav(), options).windows, 3);

  const Embedder embedder({.preset = "open", .models = models_folder(), .threads = 1});
  control.log = [](LogLevel, std::string_view) { throw MyOwn{4}; };
  const TimeSpan behind_the_end[] = {{28, 3600}};
  EXPECT_THROW((void)embedder.embed(sample_wav(), behind_the_end, control), MyOwn);
}

}  // namespace
}  // namespace diarist::test
