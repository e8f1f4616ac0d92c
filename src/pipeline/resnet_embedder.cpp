// WeSpeaker ResNet34: one trunk pass per window serves the masks of its three local speakers.

#include "pipeline/resnet_embedder.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "timeline/activity.hpp"
#include "timeline/grid.hpp"

namespace diarist::pipeline {
namespace {

using timeline::kFramesPerChunk;
using timeline::kLocalSpeakers;

constexpr int kDim = 256;
constexpr std::int64_t kMaskValues = std::int64_t{kLocalSpeakers} * kFramesPerChunk;

bool any_speech(std::span<const std::uint8_t> window) {
  return std::any_of(window.begin(), window.end(), [](std::uint8_t bits) { return bits != 0; });
}

class ResnetEmbedder final : public PairEmbedder {
 public:
  ResnetEmbedder(backend::Backend& backend, backend::Queue& queue, const model::Weights& weights,
                 int windows, Precision precision)
      : queue_(queue),
        program_(backend.compile(model::resnet34_network(weights),
                                 {.max_items = windows, .precision = precision})),
        masks_(backend.allocate(static_cast<std::size_t>(windows * kMaskValues) * sizeof(float))),
        output_(backend.allocate(static_cast<std::size_t>(windows) * kLocalSpeakers * kDim *
                                 sizeof(float))),
        host_masks_(static_cast<std::size_t>(windows * kMaskValues)),
        bias_(weights.at("resnet.seg_1.bias")) {}

  int dim() const noexcept override { return kDim; }

  void embed(const PairBatch& batch) override {
    const auto window = [&](int chunk) {
      return batch.activity.subspan(static_cast<std::size_t>(chunk) * kFramesPerChunk,
                                    kFramesPerChunk);
    };
    const int end = batch.first_chunk + batch.chunks;
    for (int chunk = batch.first_chunk; chunk < end;) {
      if (!any_speech(window(chunk))) {
        fill_with_bias(batch, chunk++);
        continue;
      }
      int stop = chunk + 1;
      while (stop < end && any_speech(window(stop))) ++stop;
      run(batch, chunk, stop - chunk);
      chunk = stop;
    }
  }

 private:
  std::span<float> rows(const PairBatch& batch, int chunk, int chunks) const {
    constexpr std::size_t kRow = std::size_t{kLocalSpeakers} * kDim;
    return batch.embeddings.subspan(static_cast<std::size_t>(chunk) * kRow,
                                    static_cast<std::size_t>(chunks) * kRow);
  }

  // An empty mask pools to zero statistics, so the embedding is the head's bias.
  void fill_with_bias(const PairBatch& batch, int chunk) const {
    const std::span<float> out = rows(batch, chunk, 1);
    for (int speaker = 0; speaker < kLocalSpeakers; ++speaker)
      std::copy(bias_.values().begin(), bias_.values().end(),
                out.begin() + static_cast<std::ptrdiff_t>(speaker) * kDim);
  }

  void run(const PairBatch& batch, int chunk, int chunks) {
    for (int i = 0; i < chunks; ++i)
      for (int speaker = 0; speaker < kLocalSpeakers; ++speaker)
        timeline::embedding_mask(
            batch.activity.subspan(static_cast<std::size_t>(chunk + i) * kFramesPerChunk,
                                   kFramesPerChunk),
            speaker,
            std::span(host_masks_)
                .subspan(static_cast<std::size_t>(i * kMaskValues) +
                             static_cast<std::size_t>(speaker) * kFramesPerChunk,
                         kFramesPerChunk));
    const std::span<const float> masks =
        std::span(host_masks_).first(static_cast<std::size_t>(chunks * kMaskValues));
    queue_.upload(*masks_, 0, std::as_bytes(masks));
    const std::int64_t stride = batch.step_seconds * kSecond;
    backend::Run run;
    run.items = chunks;
    run.inputs = {batch.strip.log_mel(chunk * stride, stride), {masks_.get(), 0, kMaskValues, 0}};
    run.outputs = {{output_.get(), 0, kLocalSpeakers * kDim, 0}};
    run.stop = batch.stop;
    program_->run(queue_, run);
    do {
      queue_.download(*output_, 0, std::as_writable_bytes(rows(batch, chunk, chunks)));
    } while (program_->settle(queue_, run));
  }

  backend::Queue& queue_;
  std::unique_ptr<backend::Program> program_;
  std::unique_ptr<backend::Buffer> masks_, output_;
  std::vector<float> host_masks_;
  base::TensorF bias_;
};

}  // namespace

std::unique_ptr<PairEmbedder> make_resnet_embedder(backend::Backend& backend, backend::Queue& queue,
                                                   const model::Weights& weights, int windows,
                                                   Precision precision) {
  return std::make_unique<ResnetEmbedder>(backend, queue, weights, windows, precision);
}

}  // namespace diarist::pipeline
