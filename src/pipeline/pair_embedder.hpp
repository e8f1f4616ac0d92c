#pragma once
// One embedding per (window, local speaker): the part in which the presets differ.

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "model/bundle.hpp"
#include "pipeline/strip.hpp"

namespace diarist::pipeline {

/// A batch of windows whose activity is known and whose features are in the strip.
struct PairBatch {
  const Strip& strip;
  int first_chunk = 0;
  int chunks = 0;
  int step_seconds = 1;
  bool last = false;                       // the recording ends with this batch
  std::span<const std::uint8_t> activity;  // [all chunks so far, 589]
  std::span<float> embeddings;             // [all chunks so far, 3, D]; the embedder fills rows
  std::stop_token stop;
};

/// Used by one thread at a time; keeps state between the batches of one recording.
class PairEmbedder {
 public:
  virtual ~PairEmbedder() = default;
  virtual int dim() const noexcept = 0;
  /// Called before the first batch of a recording.
  virtual void restart() {}
  /// Fills the rows of this batch's pairs, or of earlier ones that had to wait for it. A row of NaN
  /// means that the pair has no vector. After the last batch all rows are filled.
  virtual void embed(const PairBatch& batch) = 0;
  /// Vectors of stretches of a recording's log-mel rows, each centred on its own mean: the turn
  /// check. rows: [*, 80]; pieces: first row and number of rows. Empty when not supported.
  virtual std::vector<float> embed_pieces(
      std::span<const float> rows, std::span<const std::pair<std::int64_t, std::int64_t>> pieces,
      const std::stop_token& stop);
  /// True when the preset checks turns and the session must keep the log-mel rows.
  virtual bool checks_turns() const noexcept { return false; }
};

/// The embedder of a preset. `windows`: largest batch.
std::unique_ptr<PairEmbedder> make_pair_embedder(backend::Backend& backend, backend::Queue& queue,
                                                 const model::Preset& preset,
                                                 const model::Weights& weights, int windows,
                                                 Precision precision);

}  // namespace diarist::pipeline
