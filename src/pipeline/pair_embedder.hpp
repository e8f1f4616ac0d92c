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
#include "pipeline/recording.hpp"
#include "pipeline/tape.hpp"

namespace diarist::pipeline {

/// Neighbouring windows of one recording in a batch. Their activity is in its result already, and
/// rows for their embeddings are there.
struct PairRange {
  Recording* recording = nullptr;
  int first_chunk = 0;
  int chunks = 0;
  int first_second = 0;  // of the tape: where window first_chunk starts
  bool last = false;     // the recording ends with these windows
};

/// A batch of windows whose features are on the tape.
struct PairBatch {
  const Tape& tape;
  int slot = 0;
  int step_seconds = 1;
  std::span<const PairRange> ranges;
  /// Masks [windows of the batch, 3, 589] where the segmentation left them.
  backend::Buffer* masks = nullptr;
  std::stop_token stop;
};

/// Queues work for one batch after the other; results are fetched in the same order. Used by one
/// thread at a time.
class PairEmbedder {
 public:
  virtual ~PairEmbedder() = default;
  virtual int dim() const noexcept = 0;
  /// True when the preset checks turns and a recording must keep its log-mel rows.
  virtual bool checks_turns() const noexcept { return false; }
  /// What to keep of a recording between batches; may be null.
  virtual std::unique_ptr<PairState> start() { return nullptr; }
  /// Queues the work. The rows of these windows' pairs (or of earlier ones that had to wait for
  /// them) are filled by the matching collect().
  virtual void enqueue(const PairBatch& batch) = 0;
  /// Fills the rows of the oldest batch that is not collected; its work is done, its slot of the
  /// tape is as it was. A row of NaN means that the pair has no vector. After a recording's last
  /// batch all of its rows are filled.
  virtual void collect() = 0;
  /// Forgets batches that were not collected: the queue is empty, an error ended the run.
  virtual void reset() = 0;
  virtual std::vector<backend::Choice> choices() const = 0;
};

/// The embedder of a preset; of one without a kind of embedding one that makes none. `windows`:
/// largest batch; `tape_seconds`: what the tape holds.
std::unique_ptr<PairEmbedder> make_pair_embedder(backend::Backend& backend, backend::Queue& queue,
                                                 const model::Preset& preset,
                                                 const model::Weights& weights, int windows,
                                                 int tape_seconds, Precision precision);

}  // namespace diarist::pipeline
