// Stored stages stretched to a recording.

#include "pipeline/replay.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#include "diarist/error.hpp"
#include "timeline/grid.hpp"

namespace diarist::pipeline {
namespace {

constexpr std::size_t kFrames = timeline::kFramesPerChunk;

// Window w: activity w + 1 throughout; vectors of 8 numbers 10 * (w + 1) + speaker.
StageResults stored(int chunks) {
  StageResults stages{.chunks = chunks, .embedding_dim = 8};
  for (int window = 0; window < chunks; ++window) {
    stages.activity.insert(stages.activity.end(), kFrames, static_cast<std::uint8_t>(window + 1));
    for (int speaker = 0; speaker < timeline::kLocalSpeakers; ++speaker)
      stages.embeddings.insert(stages.embeddings.end(), 8,
                               static_cast<float>(10 * (window + 1) + speaker));
  }
  return stages;
}

TEST(Replay, RepeatsTheStoredWindowsAtTheStep) {
  const StageResults stages = stored(5);
  for (const int step : {1, 2, 5}) {
    const ReplayedStages replayed = replay_stages(stages, 13, step);
    ASSERT_EQ(replayed.activity.size(), 13 * kFrames);
    ASSERT_EQ(replayed.embeddings.size(), 13U * 3 * 8);
    for (std::size_t window = 0; window < 13; ++window) {
      const std::size_t from = window * static_cast<std::size_t>(step) % 5;
      EXPECT_EQ(replayed.activity[window * kFrames], from + 1);
      EXPECT_EQ(replayed.activity[(window + 1) * kFrames - 1], from + 1);
      for (std::size_t i = 0; i < 24; ++i) {
        // 2 % of the length of a vector of equal numbers are 2 % of each; even numbers end at
        // sqrt(3) of their deviation.
        const double value = stages.embeddings[from * 24 + i];
        EXPECT_NEAR(replayed.embeddings[window * 24 + i], value, 0.02 * std::sqrt(3.0) * value);
      }
    }
  }
}

TEST(Replay, TheNoiseHasTheSaidLengthAndNoTwoVectorsAreEqual) {
  StageResults stages = stored(1);
  const ReplayedStages replayed = replay_stages(stages, 400, 1);
  std::set<std::vector<float>> distinct;
  double sum = 0, mean = 0;
  for (std::size_t window = 0; window < 400; ++window) {
    const float* row = &replayed.embeddings[window * 24];
    distinct.insert(std::vector<float>(row, row + 8));
    for (int d = 0; d < 8; ++d) {
      const double moved = row[d] / 10.0 - 1;
      sum += moved * moved;
      mean += moved;
    }
  }
  EXPECT_EQ(distinct.size(), 400U);
  // 3200 even numbers: the deviation of their variance is 0.016 of it, that of their mean 0.018 of
  // theirs. Five of them.
  EXPECT_NEAR(sum / 3200, 0.0004, 5 * 0.016 * 0.0004);
  EXPECT_NEAR(mean / 3200, 0, 5 * 0.018 * 0.02);
}

TEST(Replay, EveryRunGivesTheSameBytesAndMoreWindowsTheSameStart) {
  const StageResults stages = stored(3);
  const ReplayedStages once = replay_stages(stages, 20, 2);
  const ReplayedStages longer = replay_stages(stages, 30, 2);
  EXPECT_EQ(std::memcmp(once.embeddings.data(), longer.embeddings.data(),
                        once.embeddings.size() * sizeof(float)),
            0);
  EXPECT_TRUE(replay_stages(stages, 0, 1).activity.empty());
}

TEST(Replay, AMissingVectorStaysMissing) {
  StageResults stages = stored(2);
  for (std::size_t d = 0; d < 8; ++d) stages.embeddings[24 + d] = std::nanf("");
  const ReplayedStages replayed = replay_stages(stages, 4, 1);
  for (std::size_t d = 0; d < 8; ++d) {
    EXPECT_TRUE(std::isnan(replayed.embeddings[24 + d]));
    EXPECT_TRUE(std::isnan(replayed.embeddings[3 * 24 + d]));
    EXPECT_FALSE(std::isnan(replayed.embeddings[32 + d]));
  }
}

TEST(Replay, StagesThatDoNotFitAreRefused) {
  const auto code = [](const StageResults& stages, int dim) {
    try {
      check_replay(stages, dim);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::kInternal;
  };
  EXPECT_NO_THROW(check_replay(stored(2), 8));
  EXPECT_EQ(code(stored(2), 256), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.chunks = 0, .embedding_dim = 8}, 8), ErrorCode::kInvalidArgument);
  StageResults incomplete = stored(2);
  incomplete.activity.pop_back();
  EXPECT_EQ(code(incomplete, 8), ErrorCode::kInvalidArgument);
  incomplete = stored(2);
  incomplete.embeddings.resize(24);
  EXPECT_EQ(code(incomplete, 8), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace diarist::pipeline
