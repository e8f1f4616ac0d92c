// Preset "open": for every active pair, the log-mel rows of its mask, gathered and centred, go
// through the whole of CAM++ as one input of their own length (campplus.md, step 3).

#include <algorithm>
#include <deque>
#include <limits>

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
constexpr std::size_t kFewestRows = 8;

class GatherEmbedder final : public PairEmbedder {
 public:
  GatherEmbedder(backend::Backend& backend, backend::Queue& queue, const model::Weights& weights,
                 int windows, Precision precision)
      : runner_(backend, queue, model::campplus_network(weights), windows * kLocalSpeakers, kDim,
                precision) {}

  int dim() const noexcept override { return kDim; }
  bool checks_turns() const noexcept override { return true; }

  void enqueue(const PairBatch& batch) override {
    Pending pending;
    GatherRunner::Lists lists;
    for (const PairRange& range : batch.ranges) {
      NetworkResult& result = range.recording->result;
      for (int i = 0; i < range.chunks; ++i) {
        const int chunk = range.first_chunk + i;
        const auto window =
            std::span<const std::uint8_t>(result.activity)
                .subspan(static_cast<std::size_t>(chunk) * kFramesPerChunk, kFramesPerChunk);
        const auto row0 = static_cast<std::int32_t>((range.first_second + i * batch.step_seconds) *
                                                    kMelPerSecond);
        for (int speaker = 0; speaker < kLocalSpeakers; ++speaker) {
          const std::size_t row = static_cast<std::size_t>(chunk * kLocalSpeakers + speaker) * kDim;
          std::fill_n(result.embeddings.begin() + static_cast<std::ptrdiff_t>(row), kDim,
                      std::numeric_limits<float>::quiet_NaN());
          std::vector<std::int32_t> rows = speaker_rows(window, speaker);
          if (rows.size() < kFewestRows) continue;
          for (std::int32_t& index : rows) index += row0;
          lists.push_back(std::move(rows));
          pending.targets.push_back({range.recording, row});
        }
      }
    }
    pending.passes =
        runner_.enqueue(batch.tape.all_log_mel(batch.slot), lists, std::nullopt, batch.stop);
    pending_.push_back(std::move(pending));
  }

  void collect() override {
    Pending pending = std::move(pending_.front());
    pending_.pop_front();
    runner_.mend(pending.passes);
    runner_.hand_out(pending.passes, [&](std::size_t item, std::span<const float> values) {
      const Target& target = pending.targets[item];
      std::copy(
          values.begin(), values.end(),
          target.recording->result.embeddings.begin() + static_cast<std::ptrdiff_t>(target.row));
    });
  }

  void reset() override { pending_.clear(); }

  std::vector<backend::Choice> choices() const override {
    const auto choices = runner_.program().choices();
    return {choices.begin(), choices.end()};
  }

 private:
  struct Target {
    Recording* recording;
    std::size_t row;  // first value
  };
  struct Pending {
    std::vector<Target> targets;
    GatherRunner::Passes passes;
  };

  GatherRunner runner_;
  std::deque<Pending> pending_;
};

}  // namespace

std::unique_ptr<PairEmbedder> make_gather_embedder(backend::Backend& backend, backend::Queue& queue,
                                                   const model::Weights& weights, int windows,
                                                   Precision precision) {
  return std::make_unique<GatherEmbedder>(backend, queue, weights, windows, precision);
}

}  // namespace diarist::pipeline
