// Preset "open": for every active pair, the log-mel rows of its mask, gathered and centred, go
// through the whole of CAM++ as one input of their own length (campplus.md, step 3).

#include <algorithm>
#include <limits>

#include "pipeline/campplus_embedder.hpp"
#include "pipeline/gather_runner.hpp"
#include "pipeline/piece_embedder.hpp"
#include "pipeline/row_masks.hpp"
#include "timeline/grid.hpp"

namespace diarist::pipeline {
namespace {

using timeline::kFramesPerChunk;
using timeline::kLocalSpeakers;

constexpr int kDim = 192;
constexpr std::size_t kFewestRows = 8;

class GatherEmbedder final : public PairEmbedder {
 public:
  GatherEmbedder(backend::Backend& backend, backend::Queue& queue, const model::Weights& weights,
                 int windows, Precision precision)
      : runner_(backend, queue, model::campplus_network(weights), windows * kLocalSpeakers, kDim,
                false, precision),
        pieces_(backend, queue) {}

  int dim() const noexcept override { return kDim; }
  bool checks_turns() const noexcept override { return true; }

  void embed(const PairBatch& batch) override {
    lists_.clear();
    targets_.clear();
    const std::int64_t strip_row = batch.strip.begin() / kSecond * kMelPerSecond;
    for (int chunk = batch.first_chunk; chunk < batch.first_chunk + batch.chunks; ++chunk) {
      const auto window = batch.activity.subspan(static_cast<std::size_t>(chunk) * kFramesPerChunk,
                                                 kFramesPerChunk);
      const std::int64_t first =
          std::int64_t{chunk} * batch.step_seconds * kMelPerSecond - strip_row;
      for (int speaker = 0; speaker < kLocalSpeakers; ++speaker) {
        const std::size_t row = static_cast<std::size_t>(chunk * kLocalSpeakers + speaker) * kDim;
        std::fill_n(batch.embeddings.begin() + static_cast<std::ptrdiff_t>(row), kDim,
                    std::numeric_limits<float>::quiet_NaN());
        std::vector<std::int32_t> rows = speaker_rows(window, speaker);
        if (rows.size() < kFewestRows) continue;
        for (std::int32_t& index : rows) index += static_cast<std::int32_t>(first);
        lists_.push_back(std::move(rows));
        targets_.push_back(row);
      }
    }
    runner_.run(
        batch.strip.all_log_mel(), lists_,
        [&](std::size_t item, std::span<const float> values) {
          std::copy(values.begin(), values.end(),
                    batch.embeddings.begin() + static_cast<std::ptrdiff_t>(targets_[item]));
        },
        batch.stop);
  }

  std::vector<float> embed_pieces(std::span<const float> rows,
                                  std::span<const std::pair<std::int64_t, std::int64_t>> pieces,
                                  const std::stop_token& stop) override {
    return pieces_.run(runner_, rows, pieces, stop);
  }

 private:
  GatherRunner runner_;
  PieceEmbedder pieces_;
  std::vector<std::vector<std::int32_t>> lists_;
  std::vector<std::size_t> targets_;
};

}  // namespace

std::unique_ptr<PairEmbedder> make_gather_embedder(backend::Backend& backend, backend::Queue& queue,
                                                   const model::Weights& weights, int windows,
                                                   Precision precision) {
  return std::make_unique<GatherEmbedder>(backend, queue, weights, windows, precision);
}

}  // namespace diarist::pipeline
