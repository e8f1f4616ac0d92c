// An object whose content was moved away says so.

#include <gtest/gtest.h>

#include <utility>

#include "diarist/diarizer.hpp"
#include "diarist/embedder.hpp"
#include "diarist/segmenter.hpp"
#include "support/border.hpp"

namespace diarist::test {
namespace {

TEST(Moved, ObjectsThatWereMovedFromAreATypedError) {
  DIARIST_NEED(sample_wav());
  DIARIST_NEED(open_bundle());
  Diarizer diarizer(small_options(1));
  const Diarizer heir = std::move(diarizer);
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_EQ(code_of([&] { (void)diarizer.run(sample_wav()); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of([&] { (void)diarizer.run(AudioView{}); }), ErrorCode::kInvalidArgument);
  const std::filesystem::path files[] = {sample_wav()};
  EXPECT_EQ(code_of([&] { diarizer.run_files(files, {}, {}, [](FileOutcome) { return true; }); }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(diarizer.preset(), "");
  EXPECT_EQ(heir.preset(), "open-lite");

  Segmenter segmenter({.preset = "open", .models = models_folder(), .threads = 1});
  const Segmenter next = std::move(segmenter);
  EXPECT_EQ(code_of([&] { (void)segmenter.run(sample_wav()); }), ErrorCode::kInvalidArgument);

  Embedder embedder({.preset = "open", .models = models_folder(), .threads = 1});
  const Embedder last = std::move(embedder);
  EXPECT_EQ(code_of([&] { (void)embedder.embed(sample_wav()); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of([&] { (void)embedder.info(); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(embedder.dim(), 0);
  // NOLINTEND(bugprone-use-after-move)
}

}  // namespace
}  // namespace diarist::test
