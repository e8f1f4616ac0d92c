#include "pipeline/chunk_network.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/run_control.hpp"

namespace diarist::pipeline {
namespace {

std::unique_ptr<backend::Buffer> allocate(backend::Backend& backend, std::int64_t values) {
  return backend.allocate(static_cast<std::size_t>(values) * sizeof(float));
}

template <typename T>
std::span<T> part(std::span<T> values, std::int64_t first, std::int64_t count,
                  std::int64_t per_chunk) {
  return values.subspan(static_cast<std::size_t>(first * per_chunk),
                        static_cast<std::size_t>(count * per_chunk));
}

void check_length(const char* buffer, std::int64_t actual, std::int64_t expected,
                  std::int64_t chunks, const char* shape) {
  if (actual == expected) return;
  base::fail(ErrorCode::kInvalidArgument, "{}: {} values given, {} expected ({} chunks of {})",
             buffer, actual, expected, chunks, shape);
}

}  // namespace

std::int64_t count_chunks(std::int64_t features, std::int64_t masks, std::int64_t embeddings) {
  if (features < 0 || features % kFeatureValues != 0)
    base::fail(ErrorCode::kInvalidArgument,
               "features: {} values given, a multiple of {} expected (chunks of 998 x 80)",
               features, kFeatureValues);
  const std::int64_t chunks = features / kFeatureValues;
  check_length("masks", masks, chunks * kMaskValues, chunks, "3 x 589");
  check_length("embeddings", embeddings, chunks * kEmbeddingValues, chunks, "3 x 256");
  return chunks;
}

ChunkNetwork::ChunkNetwork(backend::Backend& backend, const model::Weights& weights,
                           const backend::CompileOptions& options)
    : queue_(backend.make_queue()),
      program_(backend.compile(model::resnet34_on_features(weights), options)),
      features_(allocate(backend, options.max_items * kFeatureValues)),
      masks_(allocate(backend, options.max_items * kMaskValues)),
      embeddings_(allocate(backend, options.max_items * kEmbeddingValues)),
      batch_(options.max_items) {}

void ChunkNetwork::run(std::span<const float> features, std::span<const float> masks,
                       std::span<float> embeddings, const std::stop_token& stop) {
  const std::int64_t chunks = static_cast<std::int64_t>(features.size()) / kFeatureValues;
  for (std::int64_t first = 0; first < chunks; first += batch_) {
    base::check_stop(stop);
    const std::int64_t count = std::min(batch_, chunks - first);
    queue_->upload(*features_, 0, std::as_bytes(part(features, first, count, kFeatureValues)));
    queue_->upload(*masks_, 0, std::as_bytes(part(masks, first, count, kMaskValues)));
    backend::Run run;
    run.items = static_cast<int>(count);
    run.inputs = {{features_.get(), 0, kFeatureValues, 0}, {masks_.get(), 0, kMaskValues, 0}};
    run.outputs = {{embeddings_.get(), 0, kEmbeddingValues, 0}};
    run.stop = stop;
    program_->run(*queue_, run);
    do {
      queue_->download(*embeddings_, 0,
                       std::as_writable_bytes(part(embeddings, first, count, kEmbeddingValues)));
    } while (program_->settle(*queue_, run));
  }
}

void ChunkNetwork::run(backend::Queue& queue, backend::Buffer& features, backend::Buffer& masks,
                       backend::Buffer& embeddings, std::int64_t chunks) {
  for (std::int64_t first = 0; first < chunks; first += batch_) {
    backend::Run run;
    run.items = static_cast<int>(std::min(batch_, chunks - first));
    run.inputs = {{&features, first * kFeatureValues, kFeatureValues, 0},
                  {&masks, first * kMaskValues, kMaskValues, 0}};
    run.outputs = {{&embeddings, first * kEmbeddingValues, kEmbeddingValues, 0}};
    program_->run(queue, run);
    program_->settle(queue, run);
  }
}

std::size_t ChunkNetwork::buffer_bytes() const noexcept {
  return features_->bytes() + masks_->bytes() + embeddings_->bytes();
}

void run_with_taps(backend::Backend& backend, const model::Weights& weights,
                   backend::CompileOptions options, std::span<const float> features,
                   std::span<const float> masks, DeviceTensor::Kind kind, int device,
                   const std::function<void(const Tap&)>& callback) {
  const std::int64_t chunks = static_cast<std::int64_t>(features.size()) / kFeatureValues;
  const model::Graph graph = model::resnet34_taps(weights);
  options.max_items = static_cast<int>(chunks);
  const std::unique_ptr<backend::Program> program = backend.compile(graph, options);
  const std::unique_ptr<backend::Queue> queue = backend.make_queue();
  const auto features_buffer = allocate(backend, chunks * kFeatureValues);
  const auto masks_buffer = allocate(backend, chunks * kMaskValues);
  queue->upload(*features_buffer, 0, std::as_bytes(features));
  queue->upload(*masks_buffer, 0, std::as_bytes(masks));
  backend::Run run;
  run.items = static_cast<int>(chunks);
  run.inputs = {{features_buffer.get(), 0, kFeatureValues, 0},
                {masks_buffer.get(), 0, kMaskValues, 0}};
  std::vector<std::unique_ptr<backend::Buffer>> buffers;
  for (const model::ValueId id : graph.outputs) {
    const std::int64_t values =
        base::element_count(graph.values[static_cast<std::size_t>(id)].shape);
    buffers.push_back(allocate(backend, chunks * values));
    run.outputs.push_back({buffers.back().get(), 0, values, 0});
  }
  program->run(*queue, run);
  program->settle(*queue, run);
  std::vector<float> values;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const model::Value& value = graph.values[static_cast<std::size_t>(graph.outputs[i])];
    values.resize(static_cast<std::size_t>(chunks * run.outputs[i].item_stride));
    queue->download(*buffers[i], 0, std::as_writable_bytes(std::span(values)));
    queue->wait();
    std::vector<std::int64_t> shape = value.shape;
    if (shape.size() == 2) {
      shape[0] *= chunks;
    } else {
      shape.insert(shape.begin(), chunks);
    }
    callback({.name = value.name,
              .shape = shape,
              .values = values,
              .device = {.data = static_cast<float*>(buffers[i]->address()),
                         .elements = static_cast<std::int64_t>(values.size()),
                         .kind = kind,
                         .device = device}});
  }
}

}  // namespace diarist::pipeline
