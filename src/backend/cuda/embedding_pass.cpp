#include "backend/cuda/embedding_pass.hpp"

#include <cuda_fp16.h>

#include <algorithm>
#include <memory>

#include "backend/cuda/check.hpp"
#include "backend/cuda/kernels/conv_ffma.hpp"
#include "backend/cuda/kernels/embed_ends.hpp"
#include "backend/cuda/kernels/features.hpp"
#include "backend/cuda/kernels/stem_mma.hpp"

namespace diarist::backend::cuda {
namespace {

std::size_t floats(std::int64_t count) { return static_cast<std::size_t>(count) * sizeof(float); }

int stem_layer(const EmbeddingModel& model) {
  const std::vector<ConvLayer>& layers = model.layers();
  const auto stem = std::find_if(layers.begin(), layers.end(),
                                 [](const ConvLayer& layer) { return layer.shape.stem(); });
  return static_cast<int>(stem - layers.begin());
}

}  // namespace

PassBuffers::PassBuffers(const EmbeddingModel& model, int max_items) : queue(model.device()) {
  const int device = model.device();
  const auto items = static_cast<std::int64_t>(max_items);
  const DeviceGuard guard(device);
  if (model.format() == MapFormat::kFloat) {
    means = DeviceMemory(device, floats(items * 80), "means");
    const base::Shape& rows = model.values()[static_cast<std::size_t>(model.inputs()[0])].shape;
    gathered = DeviceMemory(device, floats(items * base::element_count(rows)), "features");
  } else {
    plane_halves = static_cast<std::size_t>(items) * kFeatureRows * kFeatureColumns;
    features = DeviceMemory(device, plane_halves * (model.split() ? 2 : 1) * sizeof(std::uint16_t),
                            "features");
    check(cudaMemsetAsync(features.data(), 0, features.bytes(), queue.stream()), "features");
    queue.wait();  // other streams don't
  }
  std::int64_t statistics_floats = 0, result_width = 0;
  for (const HeadWeights& head : model.heads()) {
    const base::Shape& shape = model.values()[static_cast<std::size_t>(head.masks)].shape;
    mask_floats = static_cast<int>(shape[0] * shape[1]);
    statistics_floats = std::int64_t{head.speakers} * head.statistics;
    if (head.weights.bytes() > 0) result_width = std::int64_t{head.speakers} * head.dim;
  }
  positions = DeviceMemory(device, floats(2 * items), "positions");
  masks = DeviceMemory(device, floats(items * mask_floats), "masks");
  statistics = DeviceMemory(device, floats(items * statistics_floats), "statistics");
  slices = DeviceMemory(device, floats(items * result_width * kHeadSlices), "head slices");
  result_floats = static_cast<std::size_t>(items * result_width);
  result = DeviceMemory(device, floats(items * (result_width + 1)), "embeddings");
}

std::size_t PassBuffers::bytes() const {
  return features.bytes() + means.bytes() + gathered.bytes() + positions.bytes() + masks.bytes() +
         statistics.bytes() + slices.bytes() + result.bytes();
}

EmbeddingPass::EmbeddingPass(const EmbeddingModel& model, int items, ActivationStore& store,
                             PassBuffers& buffers, LibraryConvolutions* library)
    : model_(model),
      items_(items),
      choice_(model.choice_for(items)),
      store_(store),
      buffers_(buffers),
      library_(library) {
  place();
}

EmbeddingPass::~EmbeddingPass() { forget_graph(); }

// Steps are layers in launch order; the number of layers is the heads'.
void EmbeddingPass::place() {
  const int end = static_cast<int>(model_.layers().size());
  std::vector<Lifetime> lifetimes(model_.values().size());
  for (int i = 0; i < end; ++i) {
    const ConvLayer& layer = model_.layers()[static_cast<std::size_t>(i)];
    const LayerChoice& choice = choice_.layers[static_cast<std::size_t>(i)];
    const bool fused = model_.fused(layer.output);
    if (!fused || model_.taps_hidden()) {
      const base::Shape& shape = model_.values()[static_cast<std::size_t>(layer.output)].shape;
      Lifetime& life = lifetimes[static_cast<std::size_t>(layer.output)];
      life.bytes = static_cast<std::size_t>(base::element_count(shape)) *
                   static_cast<std::size_t>(items_) * model_.number_bytes();
      // A stem in FP32 reads the caller's rows, so prepare() launches it.
      const bool before = layer.shape.stem() && model_.format() == MapFormat::kFloat;
      life.first = before ? -1 : choice.launched_by;
      life.last = fused ? end : life.first;
    }
    for (const int read : {layer.input, layer.residual}) {
      if (read < 0) continue;
      Lifetime& life = lifetimes[static_cast<std::size_t>(read)];
      life.last = std::max(life.last, choice.launched_by);
    }
  }
  for (const HeadWeights& head : model_.heads())
    lifetimes[static_cast<std::size_t>(head.map)].last = end;
  for (const int value : model_.outputs()) lifetimes[static_cast<std::size_t>(value)].last = end;
  placement_ = place_maps(lifetimes);
}

std::byte* EmbeddingPass::map(int value) const {
  return store_.data() + placement_.offsets[static_cast<std::size_t>(value)];
}

__half* EmbeddingPass::half_map(int value) const { return reinterpret_cast<__half*>(map(value)); }

float* EmbeddingPass::float_map(int value) const { return reinterpret_cast<float*>(map(value)); }

void EmbeddingPass::bind(cudaStream_t stream) {
  store_.reserve(placement_.bytes, stream);
  const auto library_generation = [&] {
    return library_ != nullptr ? library_->workspace_generation() : 0;
  };
  if (generation_ == store_.generation() && library_generation_ == library_generation() &&
      !launches_.empty())
    return;
  forget_graph();
  launches_.clear();
  const DeviceGuard guard(model_.device());
  for (int i = 0; i < static_cast<int>(model_.layers().size()); ++i) {
    const LayerChoice& choice = choice_.layers[static_cast<std::size_t>(i)];
    const bool stem = model_.layers()[static_cast<std::size_t>(i)].shape.stem();
    if (stem && model_.format() != MapFormat::kFloat) add_stem(i);
    if (!stem && choice.launched_by == i) add_layer(i, stream);
    if (!stem && model_.taps_hidden() &&
        model_.fused(model_.layers()[static_cast<std::size_t>(i)].output))
      add_tap_layer(i);
  }
  add_heads();
  generation_ = store_.generation();
  library_generation_ = library_generation();
}

void EmbeddingPass::prepare(const float* rows, std::int64_t item_stride,
                            const std::int32_t* positions, int count, cudaStream_t stream) {
  bind(stream);
  const ConvLayer& layer = model_.layers()[static_cast<std::size_t>(stem_layer(model_))];
  check(cudaMemsetAsync(buffers_.range(), 0, static_cast<std::size_t>(items_) * 4, stream),
        "range words");
  FeaturesArgs features;
  features.rows = rows;
  features.item_stride = item_stride;
  features.positions = positions;
  features.items = count;
  features.time = layer.shape.time;
  features.remove_mean = model_.remove_mean();
  features.range = buffers_.range();
  if (model_.format() != MapFormat::kFloat) {
    features.features = buffers_.features.as<__half>();
    if (model_.split()) features.low_features = features.features + buffers_.plane_halves;
    check(launch_features(features, stream), "features");
    return;
  }
  if (positions != nullptr) {
    GatherArgs gather;
    gather.source = rows;
    gather.item_stride = item_stride;
    gather.positions = positions;
    gather.target = buffers_.gathered.as<float>();
    gather.items = count;
    gather.width = std::int64_t{layer.shape.time} * layer.shape.frequency;
    check(launch_gather(gather, stream), "gathered features");
    features.rows = rows = gather.target;
    features.item_stride = item_stride = gather.width;
    features.positions = nullptr;
  }
  features.means = buffers_.means.as<float>();
  check(launch_features(features, stream), "means");
  const LayerWeights& weights = model_.weights(stem_layer(model_));
  StemFfmaArgs stem;
  stem.rows = rows;
  stem.item_stride = item_stride;
  stem.means = features.means;
  stem.weights = weights.weights.as<float>();
  stem.bias = weights.bias.as<float>();
  stem.output = float_map(layer.output);
  stem.items = count;
  stem.time = layer.shape.time;
  stem.range = features.range;
  check(launch_stem_ffma(stem, stream), "stem");
}

void EmbeddingPass::launch_all(cudaStream_t stream) {
  for (const Launch& launch : launches_) check(launch.run(stream), launch.layer.c_str());
}

// On a stream of our own: the default stream can't be recorded, and on a stream that waits for it
// any use of the default stream by another thread would spoil the recording.
void EmbeddingPass::record_graph() {
  const cudaStream_t stream = buffers_.queue.stream();
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "recording");
  cudaGraph_t graph = nullptr;
  // Recording is ended whatever happens in between, so that the stream stays usable.
  try {
    launch_all(stream);
  } catch (...) {
    cudaStreamEndCapture(stream, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaGetLastError();
    throw;
  }
  check(cudaStreamEndCapture(stream, &graph), "recording");
  cudaGraphExec_t made = nullptr;
  const cudaError_t error = cudaGraphInstantiate(&made, graph, 0);
  cudaGraphDestroy(graph);
  check(error, "recorded graph");
  graph_ = made;
}

void EmbeddingPass::forget_graph() noexcept {
  if (graph_ == nullptr) return;
  cudaGraphExecDestroy(graph_);
  graph_ = nullptr;
}

void EmbeddingPass::run(cudaStream_t stream, bool record) {
  bind(stream);
  if (record && graph_ != nullptr) {
    check(cudaGraphLaunch(graph_, stream), "recorded graph");
    return;
  }
  // Before a recording as well: code is loaded at its first launch, which must not be recorded.
  launch_all(stream);
  if (record) record_graph();
}

void EmbeddingPass::tap(int value, float* output, std::int64_t item_stride, int count,
                        cudaStream_t stream) const {
  const base::Shape& shape = model_.values()[static_cast<std::size_t>(value)].shape;
  const auto fill = [&](auto& args) {
    args.output = output;
    args.item_stride = item_stride;
    args.items = count;
    args.channels = static_cast<int>(shape[0]);
    args.frequency = static_cast<int>(shape[1]);
    args.time = static_cast<int>(shape[2]);
  };
  if (model_.format() == MapFormat::kFloat) {
    TapFfmaArgs args;
    fill(args);
    args.map = float_map(value);
    check(launch_map_tap_ffma(args, stream), "tap");
    return;
  }
  TapArgs args;
  fill(args);
  args.map = half_map(value);
  args.split = model_.split();
  check(launch_map_tap(args, stream), "tap");
}

}  // namespace diarist::backend::cuda
