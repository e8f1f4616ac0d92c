// Preset "open-lite": the trunk runs over the clean rows of every tenth second's window only (and
// of the last window, for the tail); every pair pools the frame vectors that fall into its mask
// (campplus.md, "block" variant). A frame vector stands for two log-mel rows: a half-row.

#include <algorithm>
#include <limits>
#include <optional>

#include "pipeline/campplus_embedder.hpp"
#include "pipeline/gather_runner.hpp"
#include "pipeline/piece_embedder.hpp"
#include "pipeline/row_masks.hpp"
#include "timeline/activity.hpp"
#include "timeline/grid.hpp"

namespace diarist::pipeline {
namespace {

using timeline::kFramesPerChunk;
using timeline::kLocalSpeakers;

constexpr int kDim = 192;
constexpr int kFrameDim = 512;
constexpr std::size_t kFewestRows = 8;
constexpr std::size_t kFewestVectors = 4;
constexpr int kMaxPairs = 8;        // pooled in one run
constexpr int kMaxPieceRows = 320;  // the turn check looks at 3 s at most
constexpr int kBlockSeconds = 10;
constexpr std::int64_t kHalfRowsPerSecond = 50;
constexpr std::int64_t kHalfRowsPerWindow = 499;

// Frame vectors by absolute half-row; the front is forgotten when no window needs it any more.
class FrameVectors {
 public:
  void restart() {
    first_ = 0;
    values_.clear();
    present_.clear();
  }
  bool has(std::int64_t half_row) const {
    const std::int64_t i = half_row - first_;
    return i >= 0 && i < static_cast<std::int64_t>(present_.size()) &&
           present_[static_cast<std::size_t>(i)] != 0;
  }
  void put(std::int64_t half_row, std::span<const float> vector) {
    const std::size_t i = static_cast<std::size_t>(half_row - first_);
    if (i >= present_.size()) {
      present_.resize(i + 1, 0);
      values_.resize((i + 1) * kFrameDim);
    }
    present_[i] = 1;
    std::copy(vector.begin(), vector.end(),
              values_.begin() + static_cast<std::ptrdiff_t>(i * kFrameDim));
  }
  std::span<const float> get(std::int64_t half_row) const {
    return std::span<const float>(values_).subspan(
        static_cast<std::size_t>(half_row - first_) * kFrameDim, kFrameDim);
  }
  void forget_before(std::int64_t half_row) {
    const std::int64_t count =
        std::min(half_row - first_, static_cast<std::int64_t>(present_.size()));
    if (count <= 0) return;
    present_.erase(present_.begin(), present_.begin() + count);
    values_.erase(values_.begin(), values_.begin() + count * kFrameDim);
    first_ += count;
  }

 private:
  std::int64_t first_ = 0;
  std::vector<float> values_;
  std::vector<std::uint8_t> present_;
};

class BlockEmbedder final : public PairEmbedder {
 public:
  BlockEmbedder(backend::Backend& backend, backend::Queue& queue, const model::Weights& weights,
                Precision precision)
      : queue_(queue),
        trunk_(backend, queue, model::campplus_trunk(weights), kLocalSpeakers, kFrameDim, true,
               precision),
        whole_(backend, queue, model::campplus_network(weights), 16, kDim, false, precision,
               kMaxPieceRows),
        pieces_(backend, queue),
        head_(backend.compile(
            model::campplus_head(weights),
            {.max_items = kMaxPairs, .max_length = kHalfRowsPerWindow, .precision = precision})),
        frames_(backend.allocate(static_cast<std::size_t>(kMaxPairs) * kHalfRowsPerWindow *
                                 kFrameDim * sizeof(float))),
        output_(backend.allocate(static_cast<std::size_t>(kMaxPairs) * kDim * sizeof(float))) {}

  int dim() const noexcept override { return kDim; }
  bool checks_turns() const noexcept override { return true; }

  void restart() override {
    vectors_.restart();
    pooled_ = 0;
  }

  void embed(const PairBatch& batch) override {
    const int end = batch.first_chunk + batch.chunks;
    for (int chunk = batch.first_chunk; chunk < end; ++chunk) {
      const int second = chunk * batch.step_seconds;
      if (second % kBlockSeconds == 0) {
        // Windows before this one see nothing behind its block. It itself waits: if it is the last
        // block, the tail may still fill gaps near its end.
        run_trunk(batch, chunk, std::nullopt);
        pool(batch, chunk);
      } else if (batch.last && chunk == end - 1) {
        const int block = second / kBlockSeconds * kBlockSeconds;
        run_trunk(batch, chunk, (block + kBlockSeconds) * kHalfRowsPerSecond - 10);
      }
    }
    if (batch.last) pool(batch, end);
  }

  std::vector<float> embed_pieces(std::span<const float> rows,
                                  std::span<const std::pair<std::int64_t, std::int64_t>> pieces,
                                  const std::stop_token& stop) override {
    return pieces_.run(whole_, rows, pieces, stop);
  }

 private:
  static std::span<const std::uint8_t> window(const PairBatch& batch, int chunk) {
    return batch.activity.subspan(static_cast<std::size_t>(chunk) * kFramesPerChunk,
                                  kFramesPerChunk);
  }

  // Frame vectors of one window's clean rows. With `from`, only half-rows from there on that are
  // still empty are written.
  void run_trunk(const PairBatch& batch, int chunk, std::optional<std::int64_t> from) {
    const std::int64_t row0 = std::int64_t{chunk} * batch.step_seconds * kMelPerSecond;
    const std::int64_t strip_row = batch.strip.begin() / kSecond * kMelPerSecond;
    std::vector<std::vector<std::int32_t>> lists;
    for (int speaker = 0; speaker < kLocalSpeakers; ++speaker) {
      std::vector<std::int32_t> rows = speaker_rows(window(batch, chunk), speaker, true);
      if (rows.size() < kFewestRows) continue;
      for (std::int32_t& row : rows) row += static_cast<std::int32_t>(row0 - strip_row);
      lists.push_back(std::move(rows));
    }
    trunk_.run(
        batch.strip.all_log_mel(), lists,
        [&](std::size_t item, std::span<const float> values) {
          const std::vector<std::int32_t>& rows = lists[item];
          for (std::size_t u = 0; 2 * u < rows.size(); ++u) {
            const std::int64_t half_row = (rows[2 * u] + strip_row) / 2;
            // One speaker's half-rows are all different, so this asks about earlier passes.
            if (from && (half_row < *from || vectors_.has(half_row))) continue;
            vectors_.put(half_row, values.subspan(u * kFrameDim, kFrameDim));
          }
        },
        batch.stop);
  }

  void pool(const PairBatch& batch, int end) {
    std::vector<std::size_t> targets;
    std::vector<std::int32_t> lengths;
    staging_.clear();
    for (; pooled_ < end; ++pooled_) {
      const std::int64_t first = std::int64_t{pooled_} * batch.step_seconds * kHalfRowsPerSecond;
      for (int speaker = 0; speaker < kLocalSpeakers; ++speaker) {
        const std::size_t row = static_cast<std::size_t>(pooled_ * kLocalSpeakers + speaker) * kDim;
        std::fill_n(batch.embeddings.begin() + static_cast<std::ptrdiff_t>(row), kDim,
                    std::numeric_limits<float>::quiet_NaN());
        const std::size_t before = staging_.size();
        for (const std::int32_t t : speaker_rows(window(batch, pooled_), speaker)) {
          if (t % 2 != 0 || !vectors_.has(first + t / 2)) continue;
          const std::span<const float> vector = vectors_.get(first + t / 2);
          staging_.insert(staging_.end(), vector.begin(), vector.end());
        }
        const std::size_t count = (staging_.size() - before) / kFrameDim;
        if (count < kFewestVectors) {
          staging_.resize(before);
          continue;
        }
        targets.push_back(row);
        lengths.push_back(static_cast<std::int32_t>(count));
        if (static_cast<int>(targets.size()) == kMaxPairs) run_head(batch, targets, lengths);
      }
    }
    run_head(batch, targets, lengths);
    vectors_.forget_before(std::int64_t{pooled_} * batch.step_seconds * kHalfRowsPerSecond);
  }

  void run_head(const PairBatch& batch, std::vector<std::size_t>& targets,
                std::vector<std::int32_t>& lengths) {
    if (targets.empty()) return;
    queue_.upload(*frames_, 0, std::as_bytes(std::span<const float>(staging_)));
    backend::Run run;
    run.items = static_cast<int>(targets.size());
    run.inputs = {{frames_.get(), 0, 0, 0}};
    run.outputs = {{output_.get(), 0, kDim, 0}};
    run.lengths = lengths;
    run.stop = batch.stop;
    head_->run(queue_, run);
    for (std::size_t i = 0; i < targets.size(); ++i)
      queue_.download(*output_, i * kDim * sizeof(float),
                      std::as_writable_bytes(batch.embeddings.subspan(targets[i], kDim)));
    queue_.wait();
    targets.clear();
    lengths.clear();
    staging_.clear();
  }

  backend::Queue& queue_;
  GatherRunner trunk_, whole_;
  PieceEmbedder pieces_;
  std::unique_ptr<backend::Program> head_;
  std::unique_ptr<backend::Buffer> frames_, output_;
  FrameVectors vectors_;
  std::vector<float> staging_;
  int pooled_ = 0;  // windows before it have their vectors
};

}  // namespace

std::unique_ptr<PairEmbedder> make_block_embedder(backend::Backend& backend, backend::Queue& queue,
                                                  const model::Weights& weights,
                                                  Precision precision) {
  return std::make_unique<BlockEmbedder>(backend, queue, weights, precision);
}

}  // namespace diarist::pipeline
