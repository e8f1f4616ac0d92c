// What a result says when there is nothing to cluster.

#include "pipeline/finish.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "timeline/grid.hpp"

namespace diarist::pipeline {
namespace {

// A recording of `chunks` windows in which nobody speaks.
Diarization finish_silence(int chunks, const RunOptions& options) {
  const std::size_t windows = static_cast<std::size_t>(chunks);
  const std::vector<std::uint8_t> activity(windows * timeline::kFramesPerChunk, 0);
  const std::vector<float> embeddings(windows * timeline::kLocalSpeakers * 4,
                                      std::numeric_limits<float>::quiet_NaN());
  Diarization result;
  finish({.chunks = chunks,
          .step_seconds = 1,
          .dim = 4,
          .duration = 10,
          .activity = activity,
          .embeddings = embeddings,
          .embed_pieces = {}},
         {.method = cluster::Method::kVbxIsotropic}, options, nullptr, result);
  return result;
}

TEST(Finish, SilenceMissesARequestedMinimumAndSaysSo) {
  for (const int chunks : {0, 1, 5})
    for (const SpeakerHints& hints : {SpeakerHints{.min = 2}, SpeakerHints{.num = 2}}) {
      const Diarization result = finish_silence(chunks, {.speakers = hints});
      EXPECT_TRUE(result.turns.empty());
      ASSERT_EQ(result.warnings.size(), 1U) << chunks << " windows";
      EXPECT_EQ(result.warnings[0], "at least 2 speakers asked for, 0 found");
    }
}

TEST(Finish, SilenceIsANormalResultOtherwise) {
  EXPECT_TRUE(finish_silence(5, {}).warnings.empty());
  EXPECT_TRUE(finish_silence(5, {.speakers = {.max = 3}}).warnings.empty());
  EXPECT_TRUE(finish_silence(5, {.speakers = {.min = 2}, .reference = true}).warnings.empty());
}

}  // namespace
}  // namespace diarist::pipeline
