#include "pipeline/replay.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "base/error.hpp"
#include "timeline/grid.hpp"

namespace diarist::pipeline {
namespace {

constexpr double kNoise = 0.02;  // of a vector's length
constexpr std::size_t kFrames = timeline::kFramesPerChunk;
constexpr std::size_t kSpeakers = timeline::kLocalSpeakers;

// The output function of splitmix64: neighbouring numbers give unrelated bits.
std::uint64_t scramble(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

// From 0..65535 to a number of mean 0 and variance 1, nearly.
float evenly(std::uint64_t bits) {
  constexpr double kHalf = 32767.5;
  constexpr double kEdge = 1.7320508075688772;  // even numbers up to it have variance 1
  return static_cast<float>((static_cast<double>(bits & 0xffff) - kHalf) * (kEdge / kHalf));
}

// Norm of every row over the square root of its length: how large a number of it is.
std::vector<float> typical_values(std::span<const float> rows, std::size_t dim) {
  std::vector<float> values;
  values.reserve(rows.size() / dim);
  for (std::size_t begin = 0; begin < rows.size(); begin += dim) {
    double sum = 0;
    for (const float value : rows.subspan(begin, dim)) sum += static_cast<double>(value) * value;
    values.push_back(static_cast<float>(std::sqrt(sum / static_cast<double>(dim))));
  }
  return values;
}

}  // namespace

void check_replay(const StageResults& stages, int dim) {
  const std::size_t windows = static_cast<std::size_t>(std::max(stages.chunks, 0));
  if (stages.embedding_dim != dim)
    base::fail(ErrorCode::kInvalidArgument,
               "the stages to replay have vectors of {} numbers, the preset's have {}",
               stages.embedding_dim, dim);
  if (windows == 0 || stages.activity.size() != windows * kFrames ||
      stages.embeddings.size() != windows * kSpeakers * static_cast<std::size_t>(dim))
    base::fail(
        ErrorCode::kInvalidArgument,
        "the stages to replay are empty or incomplete: {} windows, {} of activity, {} numbers",
        stages.chunks, stages.activity.size() / kFrames, stages.embeddings.size());
}

ReplayedStages replay_stages(const StageResults& stages, int chunks, int step_seconds) {
  const std::size_t windows = static_cast<std::size_t>(chunks);
  const std::size_t stored = static_cast<std::size_t>(stages.chunks);
  const std::size_t dim = static_cast<std::size_t>(stages.embedding_dim);
  const std::vector<float> typical = typical_values(stages.embeddings, dim);
  ReplayedStages replayed;
  replayed.activity.resize(windows * kFrames);
  replayed.embeddings.resize(windows * kSpeakers * dim);
  for (std::size_t window = 0; window < windows; ++window) {
    const std::size_t from = window * static_cast<std::size_t>(step_seconds) % stored;
    std::copy_n(&stages.activity[from * kFrames], kFrames, &replayed.activity[window * kFrames]);
    for (std::size_t speaker = 0; speaker < kSpeakers; ++speaker) {
      const std::size_t row = window * kSpeakers + speaker;
      const float noise = static_cast<float>(kNoise) * typical[from * kSpeakers + speaker];
      const float* source = &stages.embeddings[(from * kSpeakers + speaker) * dim];
      float* target = &replayed.embeddings[row * dim];
      std::uint64_t bits = 0;
      for (std::size_t d = 0; d < dim; ++d) {
        bits = d % 4 == 0 ? scramble(row * dim + d) : bits >> 16;
        target[d] = source[d] + noise * evenly(bits);
      }
    }
  }
  return replayed;
}

}  // namespace diarist::pipeline
