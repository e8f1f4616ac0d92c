// Preset "open-lite": the trunk runs over the clean rows of every tenth second's window only (and
// of the last window, for the tail); every pair pools the frame vectors that fall into its mask
// (campplus.md, "block" variant). A frame vector stands for two log-mel rows: a half-row.
//
// The vectors stay on the device, in a ring; the host knows where each half-row's vector lies.
// Which vectors a pair pools follows from the activity alone, so a batch is two steps: all trunk
// passes, then all poolings.

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>

#include "model/networks.hpp"
#include "pipeline/campplus_embedder.hpp"
#include "pipeline/gather_runner.hpp"
#include "pipeline/row_masks.hpp"
#include "timeline/grid.hpp"

namespace diarist::pipeline {
namespace {

using timeline::kFramesPerChunk;
using timeline::kLocalSpeakers;

constexpr int kDim = 192;
constexpr int kFrameDim = 512;
constexpr std::size_t kFewestRows = 8;
constexpr std::size_t kFewestVectors = 4;
constexpr std::int64_t kHalfRowsPerSecond = 50;
constexpr std::int64_t kHalfRowsPerWindow = 499;
// Of a block: at most one speaker has a clean row, and every speaker rounds up.
constexpr std::int64_t kMostVectors = kHalfRowsPerWindow + kLocalSpeakers;
// A batch, and the two before it whose vectors may be asked for again.
constexpr std::int64_t kBatchesKept = 3;

/// Trunk windows that fit a tape: a recording of two windows takes eleven seconds and has two.
int most_trunk_windows(int tape_seconds) { return 2 * tape_seconds / 11 + 2; }

/// Places of frame vectors by absolute half-row; the front is forgotten when no window needs it.
class FramePlaces {
 public:
  bool has(std::int64_t half_row) const { return at(half_row) >= 0; }
  std::int32_t at(std::int64_t half_row) const {
    const std::int64_t i = half_row - first_;
    return i >= 0 && i < static_cast<std::int64_t>(places_.size())
               ? places_[static_cast<std::size_t>(i)]
               : -1;
  }
  void put(std::int64_t half_row, std::int32_t place) {
    const std::size_t i = static_cast<std::size_t>(half_row - first_);
    if (i >= places_.size()) places_.resize(i + 1, -1);
    places_[i] = place;
  }
  void forget_before(std::int64_t half_row) {
    const std::int64_t count =
        std::min(half_row - first_, static_cast<std::int64_t>(places_.size()));
    if (count <= 0) return;
    places_.erase(places_.begin(), places_.begin() + count);
    first_ += count;
  }

 private:
  std::int64_t first_ = 0;
  std::vector<std::int32_t> places_;
};

struct BlockState final : PairState {
  FramePlaces places;
  int pooled = 0;  // windows before it have their vectors
};

class BlockEmbedder final : public PairEmbedder {
 public:
  BlockEmbedder(backend::Backend& backend, backend::Queue& queue, const model::Weights& weights,
                int windows, int tape_seconds, Precision precision)
      : queue_(queue),
        trunk_(backend, queue, model::campplus_trunk(weights),
               most_trunk_windows(tape_seconds) * kLocalSpeakers, kFrameDim, precision),
        head_(backend, queue, model::campplus_gathered_head(weights), windows * kLocalSpeakers,
              kDim, precision, static_cast<int>(kHalfRowsPerWindow)),
        capacity_(kBatchesKept * most_trunk_windows(tape_seconds) * kMostVectors),
        frames_(backend.allocate(static_cast<std::size_t>(capacity_ * kFrameDim) * sizeof(float))) {
  }

  int dim() const noexcept override { return kDim; }
  bool checks_turns() const noexcept override { return true; }
  std::unique_ptr<PairState> start() override { return std::make_unique<BlockState>(); }

  void enqueue(const PairBatch& batch) override {
    Work work;
    std::int64_t most = 0;  // vectors this batch may add: its place in the ring is one piece
    for (const PairRange& range : batch.ranges)
      for (int i = 0; i < range.chunks; ++i)
        if (trunk_window(range, range.first_chunk + i, batch.step_seconds)) most += kMostVectors;
    if (next_ + most > capacity_) next_ = 0;
    work.first = next_;
    for (const PairRange& range : batch.ranges) plan(batch, range, work);
    Pending pending;
    pending.targets = std::move(work.targets);
    pending.pooled = std::move(work.pooled);
    pending.stop = batch.stop;
    pending.trunk =
        trunk_.enqueue(batch.tape.all_log_mel(batch.slot), work.lists,
                       backend::View{frames_.get(), work.first * kFrameDim, 0, 0}, batch.stop);
    pending.head = head_.enqueue(all_frames(), pending.pooled, std::nullopt, batch.stop);
    pending_.push_back(std::move(pending));
  }

  void collect() override {
    Pending pending = std::move(pending_.front());
    pending_.pop_front();
    // Vectors that changed may have been pooled by this batch and by the next one.
    const bool changed = trunk_.mend(pending.trunk);
    if (changed || changed_before_) {
      pending.head = head_.enqueue(all_frames(), pending.pooled, std::nullopt, pending.stop);
      queue_.wait();
    }
    changed_before_ = changed;
    head_.mend(pending.head);
    head_.hand_out(pending.head, [&](std::size_t item, std::span<const float> values) {
      const Target& target = pending.targets[item];
      std::copy(
          values.begin(), values.end(),
          target.recording->result.embeddings.begin() + static_cast<std::ptrdiff_t>(target.row));
    });
  }

  void reset() override {
    pending_.clear();
    changed_before_ = false;
  }

  std::vector<backend::Choice> choices() const override {
    const auto trunk = trunk_.program().choices(), head = head_.program().choices();
    std::vector<backend::Choice> all(trunk.begin(), trunk.end());
    all.insert(all.end(), head.begin(), head.end());
    return all;
  }

 private:
  struct Target {
    Recording* recording;
    std::size_t row;  // first value
  };
  /// What a batch has to do, as it is planned.
  struct Work {
    GatherRunner::Lists lists;   // rows of the tape, for the trunk
    GatherRunner::Lists pooled;  // places of vectors, per pair
    std::vector<Target> targets;
    std::int64_t first = 0;  // place of the trunk's first vector
  };
  struct Pending {
    std::vector<Target> targets;
    GatherRunner::Lists pooled;
    GatherRunner::Passes trunk, head;
    std::stop_token stop;
  };

  static bool starts_block(int chunk, int step_seconds) {
    return chunk * step_seconds % kBlockSeconds == 0;
  }
  static bool trunk_window(const PairRange& range, int chunk, int step_seconds) {
    return starts_block(chunk, step_seconds) ||
           (range.last && chunk == range.first_chunk + range.chunks - 1);
  }
  static std::span<const std::uint8_t> window(const PairRange& range, int chunk) {
    return std::span<const std::uint8_t>(range.recording->result.activity)
        .subspan(static_cast<std::size_t>(chunk) * kFramesPerChunk, kFramesPerChunk);
  }
  backend::View all_frames() const { return {frames_.get(), 0, 0, capacity_}; }

  void plan(const PairBatch& batch, const PairRange& range, Work& work) {
    auto& state = static_cast<BlockState&>(*range.recording->pairs);
    const int end = range.first_chunk + range.chunks;
    for (int chunk = range.first_chunk; chunk < end; ++chunk) {
      const int second = chunk * batch.step_seconds;
      if (starts_block(chunk, batch.step_seconds)) {
        // Windows before this one see nothing behind its block. It itself waits: if it is the last
        // block, the tail may still fill gaps near its end.
        plan_trunk(batch, range, chunk, std::nullopt, state, work);
        plan_pooling(batch, range, chunk, state, work);
      } else if (range.last && chunk == end - 1) {
        const int block = second / kBlockSeconds * kBlockSeconds;
        plan_trunk(batch, range, chunk, (block + kBlockSeconds) * kHalfRowsPerSecond - 10, state,
                   work);
      }
    }
    if (range.last) plan_pooling(batch, range, end, state, work);
  }

  // Frame vectors of one window's clean rows. With `from`, only half-rows from there on that are
  // still empty are used.
  void plan_trunk(const PairBatch& batch, const PairRange& range, int chunk,
                  std::optional<std::int64_t> from, BlockState& state, Work& work) {
    const std::int64_t row0 = std::int64_t{chunk} * batch.step_seconds * kMelPerSecond;
    const std::int64_t tape0 =
        std::int64_t{range.first_second + (chunk - range.first_chunk) * batch.step_seconds} *
        kMelPerSecond;
    std::vector<std::pair<std::int64_t, std::int32_t>> found;
    for (int speaker = 0; speaker < kLocalSpeakers; ++speaker) {
      std::vector<std::int32_t> rows = speaker_rows(window(range, chunk), speaker, true);
      if (rows.size() < kFewestRows) continue;
      for (std::size_t u = 0; 2 * u < rows.size(); ++u, ++next_) {
        const std::int64_t half_row = (rows[2 * u] + row0) / 2;
        // One speaker's half-rows are all different, so this asks about earlier passes.
        if (from && (half_row < *from || state.places.has(half_row))) continue;
        state.places.put(half_row, static_cast<std::int32_t>(next_));
      }
      for (std::int32_t& row : rows) row += static_cast<std::int32_t>(tape0);
      work.lists.push_back(std::move(rows));
    }
  }

  void plan_pooling(const PairBatch& batch, const PairRange& range, int end, BlockState& state,
                    Work& work) {
    std::vector<float>& embeddings = range.recording->result.embeddings;
    for (; state.pooled < end; ++state.pooled) {
      const std::int64_t first =
          std::int64_t{state.pooled} * batch.step_seconds * kHalfRowsPerSecond;
      for (int speaker = 0; speaker < kLocalSpeakers; ++speaker) {
        const std::size_t row =
            static_cast<std::size_t>(state.pooled * kLocalSpeakers + speaker) * kDim;
        std::fill_n(embeddings.begin() + static_cast<std::ptrdiff_t>(row), kDim,
                    std::numeric_limits<float>::quiet_NaN());
        std::vector<std::int32_t> places;
        for (const std::int32_t t : speaker_rows(window(range, state.pooled), speaker))
          if (t % 2 == 0 && state.places.has(first + t / 2))
            places.push_back(state.places.at(first + t / 2));
        if (places.size() < kFewestVectors) continue;
        work.pooled.push_back(std::move(places));
        work.targets.push_back({range.recording, row});
      }
    }
    state.places.forget_before(std::int64_t{state.pooled} * batch.step_seconds *
                               kHalfRowsPerSecond);
  }

  backend::Queue& queue_;
  GatherRunner trunk_, head_;
  std::int64_t capacity_;
  std::unique_ptr<backend::Buffer> frames_;
  std::int64_t next_ = 0;  // free place of the ring
  std::deque<Pending> pending_;
  bool changed_before_ = false;
};

}  // namespace

std::unique_ptr<PairEmbedder> make_block_embedder(backend::Backend& backend, backend::Queue& queue,
                                                  const model::Weights& weights, int windows,
                                                  int step_seconds, Precision precision) {
  return std::make_unique<BlockEmbedder>(backend, queue, weights, windows, step_seconds, precision);
}

}  // namespace diarist::pipeline
