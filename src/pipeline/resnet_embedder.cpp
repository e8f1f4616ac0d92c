// WeSpeaker ResNet34: one trunk pass per window serves the masks of its three local speakers.

#include "pipeline/resnet_embedder.hpp"

#include <algorithm>
#include <deque>

#include "base/error.hpp"
#include "timeline/grid.hpp"

namespace diarist::pipeline {
namespace {

using timeline::kFramesPerChunk;
using timeline::kLocalSpeakers;

constexpr int kDim = 256;
constexpr std::int64_t kMaskValues = std::int64_t{kLocalSpeakers} * kFramesPerChunk;
constexpr std::size_t kRow = std::size_t{kLocalSpeakers} * kDim;  // of a window

bool any_speech(std::span<const std::uint8_t> window) {
  return std::any_of(window.begin(), window.end(), [](std::uint8_t bits) { return bits != 0; });
}

class ResnetEmbedder final : public PairEmbedder {
 public:
  ResnetEmbedder(backend::Backend& backend, backend::Queue& queue, const model::Weights& weights,
                 int windows, Precision precision)
      : queue_(queue),
        batch_(std::min(windows, backend.preferred_items())),
        program_(backend.compile(model::resnet34_network(weights),
                                 {.max_items = batch_, .precision = precision})),
        output_(backend.allocate(static_cast<std::size_t>(batch_) * kRow * sizeof(float))),
        flags_(backend.allocate(static_cast<std::size_t>(batch_) * sizeof(std::uint32_t))),
        bias_(weights.at("resnet.seg_1.bias")) {
    const std::vector<std::byte> zeros(flags_->bytes());
    queue.upload(*flags_, 0, zeros);
  }

  int dim() const noexcept override { return kDim; }

  void enqueue(const PairBatch& batch) override {
    Pending pending;
    std::vector<std::int32_t> seconds, windows;  // of windows with speech
    std::int32_t window = 0;
    for (const PairRange& range : batch.ranges) {
      NetworkResult& result = range.recording->result;
      for (int i = 0; i < range.chunks; ++i, ++window) {
        const int chunk = range.first_chunk + i;
        const auto activity =
            std::span<const std::uint8_t>(result.activity)
                .subspan(static_cast<std::size_t>(chunk) * kFramesPerChunk, kFramesPerChunk);
        if (!any_speech(activity)) {
          fill_with_bias(rows_of(result, chunk));
          continue;
        }
        seconds.push_back(range.first_second + i * batch.step_seconds);
        windows.push_back(window);
        pending.targets.push_back({range.recording, chunk});
      }
    }
    for (std::size_t first = 0; first < seconds.size(); first += static_cast<std::size_t>(batch_))
      run(batch, std::span(seconds).subspan(first), std::span(windows).subspan(first), pending);
    pending_.push_back(std::move(pending));
  }

  void collect() override {
    Pending pending = std::move(pending_.front());
    pending_.pop_front();
    std::size_t target = 0;
    for (Part& part : pending.parts) {
      mend(part);
      for (std::size_t i = 0; i < part.flags.size(); ++i, ++target) {
        const auto [recording, chunk] = pending.targets[target];
        std::copy_n(part.embeddings.begin() + static_cast<std::ptrdiff_t>(i * kRow), kRow,
                    rows_of(recording->result, chunk).begin());
      }
    }
  }

  void reset() override { pending_.clear(); }

  std::vector<backend::Choice> choices() const override {
    return {program_->choices().begin(), program_->choices().end()};
  }

 private:
  // One run of the program: at most batch_ windows.
  struct Part {
    std::vector<std::int32_t> seconds, windows;
    backend::Run run;
    std::vector<float> embeddings;
    std::vector<std::uint32_t> flags;
  };
  struct Target {
    Recording* recording;
    int chunk;
  };
  struct Pending {
    std::vector<Target> targets;
    std::deque<Part> parts;  // their addresses stay
  };

  static std::span<float> rows_of(NetworkResult& result, int chunk) {
    return std::span(result.embeddings).subspan(static_cast<std::size_t>(chunk) * kRow, kRow);
  }

  // An empty mask pools to zero statistics, so the embedding is the head's bias.
  void fill_with_bias(std::span<float> rows) const {
    for (std::size_t speaker = 0; speaker < kLocalSpeakers; ++speaker)
      std::copy(bias_.values().begin(), bias_.values().end(),
                rows.begin() + static_cast<std::ptrdiff_t>(speaker * kDim));
  }

  void run(const PairBatch& batch, std::span<const std::int32_t> seconds,
           std::span<const std::int32_t> windows, Pending& pending) {
    const std::size_t count = std::min(seconds.size(), static_cast<std::size_t>(batch_));
    Part& part = pending.parts.emplace_back();
    part.seconds.assign(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(count));
    part.windows.assign(windows.begin(), windows.begin() + static_cast<std::ptrdiff_t>(count));
    part.embeddings.resize(count * kRow);
    part.flags.resize(count);
    part.run.items = static_cast<int>(count);
    part.run.inputs = {batch.tape.log_mel(batch.slot, part.seconds),
                       {batch.masks, 0, kMaskValues, 0, part.windows}};
    part.run.outputs = {{output_.get(), 0, static_cast<std::int64_t>(kRow), 0}};
    part.run.stop = batch.stop;
    part.run.flags = {flags_.get(), 0, 1, 0};
    program_->run(queue_, part.run);
    fetch(part);
  }

  void fetch(Part& part) {
    queue_.download(*output_, 0, std::as_writable_bytes(std::span(part.embeddings)));
    queue_.download(*flags_, 0, std::as_writable_bytes(std::span(part.flags)));
  }

  // Windows whose numbers left the range of half precision are computed again.
  void mend(Part& part) {
    std::vector<int> items;
    for (std::size_t i = 0; i < part.flags.size(); ++i)
      if (part.flags[i] != 0) items.push_back(static_cast<int>(i));
    if (items.empty()) return;
    program_->recompute(queue_, part.run, items);
    std::vector<float> again(part.embeddings.size());
    queue_.download(*output_, 0, std::as_writable_bytes(std::span(again)));
    queue_.wait();
    for (const int item : items)
      std::copy_n(
          again.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(item) * kRow), kRow,
          part.embeddings.begin() +
              static_cast<std::ptrdiff_t>(static_cast<std::size_t>(item) * kRow));
  }

  backend::Queue& queue_;
  int batch_;
  std::unique_ptr<backend::Program> program_;
  std::unique_ptr<backend::Buffer> output_, flags_;
  base::TensorF bias_;
  std::deque<Pending> pending_;
};

}  // namespace

std::unique_ptr<PairEmbedder> make_resnet_embedder(backend::Backend& backend, backend::Queue& queue,
                                                   const model::Weights& weights, int windows,
                                                   Precision precision) {
  return std::make_unique<ResnetEmbedder>(backend, queue, weights, windows, precision);
}

}  // namespace diarist::pipeline
