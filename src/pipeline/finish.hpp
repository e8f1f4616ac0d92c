#pragma once
// Everything after the networks: counts, clustering, turn check, turns, names.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "base/task_pool.hpp"
#include "cluster/speakers.hpp"
#include "diarist/options.hpp"
#include "diarist/result.hpp"
#include "model/bundle.hpp"

namespace diarist::pipeline {

/// Vectors of pieces of the recording (first log-mel row, rows) -> [pieces, D].
using EmbedPieces =
    std::function<std::vector<float>(std::span<const std::pair<std::int64_t, std::int64_t>>)>;

struct FinishInput {
  int chunks = 0;
  int step_seconds = 1;
  int dim = 0;
  double duration = 0;                     // seconds; 0: unknown
  std::span<const std::uint8_t> activity;  // [C, 589]
  std::span<const float> embeddings;       // [C, 3, D]
  EmbedPieces embed_pieces;                // empty: no turn check
  std::stop_token stop = {};               // looked at inside the steps too
};

/// Clustering parameters of a preset; the PLDA is checked here. \throws Error kBadModel.
cluster::Settings cluster_settings(const model::Preset& preset,
                                   const std::optional<model::PldaArrays>& plda);

/// Fills turns, speakers, warnings and (when asked) stages of the result; adds to its timings.
/// embed_pieces adds its own time to that of the embeddings. \throws Error kCancelled.
void finish(const FinishInput& input, const cluster::Settings& settings, const RunOptions& options,
            base::TaskPool* pool, Diarization& result);

}  // namespace diarist::pipeline
