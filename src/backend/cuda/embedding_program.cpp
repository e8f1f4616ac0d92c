#include "backend/cuda/embedding_program.hpp"

#include <algorithm>
#include <variant>

#include "backend/cuda/check.hpp"
#include "backend/cuda/kernels/conv.hpp"
#include "backend/cuda/kernels/embed_ends.hpp"
#include "base/run_control.hpp"

namespace diarist::backend::cuda {
namespace {

using model::Conv2d;
using model::MaskedStatsHead;
using model::Stem;

constexpr int kBands = 80;

DeviceMemory upload(int device, const base::TensorF& tensor, const char* what) {
  return to_device<float>(device, tensor.values(), what);
}

const float* input_rows(const View& view) {
  return reinterpret_cast<const float*>(static_cast<const CudaBuffer&>(*view.buffer).data()) +
         view.offset;
}

float* output_rows(const View& view) {
  return reinterpret_cast<float*>(static_cast<const CudaBuffer&>(*view.buffer).data()) +
         view.offset;
}

}  // namespace

EmbeddingProgram::EmbeddingProgram(int device, const model::Graph& graph,
                                   const CompileOptions& options)
    : device_(device),
      max_items_(options.max_items),
      split_(options.precision == Precision::kExact),
      values_(graph.values),
      inputs_(graph.inputs.begin(), graph.inputs.end()),
      outputs_(graph.outputs.begin(), graph.outputs.end()),
      maps_(graph.values.size()) {
  const DeviceGuard guard(device);
  check(prepare_conv_mma(), "convolution kernels");
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const int node = static_cast<int>(i);
    const model::Block& block = graph.nodes[i].block;
    if (std::holds_alternative<Stem>(block)) {
      add_stem(graph, node);
    } else if (std::holds_alternative<Conv2d>(block)) {
      add_convolution(graph, node);
    } else if (std::holds_alternative<MaskedStatsHead>(block)) {
      add_head(graph, node);
    } else {
      base::fail(ErrorCode::kUnsupported,
                 "{}: the CUDA backend has no kernel for {} yet; use --device cpu",
                 graph.nodes[i].name, model::block_name(block));
    }
  }
  place_values(graph);
  range_ =
      DeviceMemory(device, static_cast<std::size_t>(max_items_) * sizeof(std::uint32_t), "range");
}

void EmbeddingProgram::add_stem(const model::Graph& graph, int node) {
  const Stem& stem = std::get<Stem>(graph.nodes[static_cast<std::size_t>(node)].block);
  const int channels = static_cast<int>(stem.weight.dim(0));
  if (channels != 32)
    base::fail(ErrorCode::kUnsupported, "stem of {} channels: the CUDA kernel has 32", channels);
  std::vector<float> packed(static_cast<std::size_t>(9 * channels));
  for (int c = 0; c < channels; ++c)
    for (int tap = 0; tap < 9; ++tap)
      packed[static_cast<std::size_t>(tap * channels + c)] =
          stem.weight.values()[static_cast<std::size_t>(c * 9 + tap)];
  stem_weights_ = to_device<float>(device_, packed, "stem weights");
  stem_bias_ = upload(device_, stem.bias, "stem bias");
  means_ =
      DeviceMemory(device_, static_cast<std::size_t>(max_items_) * kBands * sizeof(float), "means");
  stem_output_ = graph.nodes[static_cast<std::size_t>(node)].output;
  choices_.push_back({graph.nodes[static_cast<std::size_t>(node)].name, "stem_ffma",
                      "mean removal and layout change in one pass"});
}

void EmbeddingProgram::add_convolution(const model::Graph& graph, int node) {
  const model::Node& source = graph.nodes[static_cast<std::size_t>(node)];
  const Conv2d& block = std::get<Conv2d>(source.block);
  const int cout = static_cast<int>(block.weight.dim(0)),
            cin = static_cast<int>(block.weight.dim(1));
  Convolution step;
  step.node = node;
  step.shape = {static_cast<int>(block.weight.dim(2) * block.weight.dim(3)), block.stride_frequency,
                block.stride_time};
  const float scale = conv_weight_scale(block.weight.data(), block.weight.values().size());
  const std::vector<std::uint16_t> packed =
      pack_conv_weights(block.weight.data(), cout, cin, step.shape.taps, split_, scale);
  step.weights = to_device<std::uint16_t>(device_, packed, "convolution weights");
  step.bias = upload(device_, block.bias, "convolution bias");
  step.unscale = 1 / scale;
  step.input = source.inputs[0];
  step.residual = source.inputs.size() > 1 ? source.inputs[1] : -1;
  step.output = source.output;
  step.relu = block.relu;
  choices_.push_back({source.name, split_ ? "conv_mma split" : "conv_mma half",
                      split_ ? "exact: three half products" : "fast: one half product"});
  convolutions_.push_back(std::move(step));
}

void EmbeddingProgram::add_head(const model::Graph& graph, int node) {
  const model::Node& source = graph.nodes[static_cast<std::size_t>(node)];
  const MaskedStatsHead& block = std::get<MaskedStatsHead>(source.block);
  head_weights_ = upload(device_, block.weight, "head weights");
  head_bias_ = upload(device_, block.bias, "head bias");
  head_input_ = source.inputs[0];
  head_output_ = source.output;
  speakers_ = block.speakers;
  dim_ = static_cast<int>(block.weight.dim(0));
  mask_frames_ =
      static_cast<int>(graph.values[static_cast<std::size_t>(source.inputs[1])].shape[1]);
  statistics_ = DeviceMemory(device_,
                             static_cast<std::size_t>(max_items_ * speakers_) *
                                 static_cast<std::size_t>(block.weight.dim(1)) * sizeof(float),
                             "statistics");
  choices_.push_back(
      {source.name, "masked_pool + head", "FP32; the map is read once for all masks"});
}

// A map's slot is free again after its last reader, unless it is handed out.
void EmbeddingProgram::place_values(const model::Graph& graph) {
  std::vector<int> last(values_.size(), -1);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    for (const int value : graph.nodes[n].inputs)
      last[static_cast<std::size_t>(value)] = static_cast<int>(n);
  for (const int value : outputs_)
    last[static_cast<std::size_t>(value)] = static_cast<int>(graph.nodes.size());
  struct Slot {
    std::size_t bytes;
    int free_after;
  };
  std::vector<Slot> slots;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const int output = graph.nodes[n].output;
    const base::Shape& shape = values_[static_cast<std::size_t>(output)].shape;
    if (shape.size() != 3) continue;  // only maps live in the arena
    Map& map = maps_[static_cast<std::size_t>(output)];
    map.channels = static_cast<int>(shape[0]);
    map.frequency = static_cast<int>(shape[1]);
    map.time = static_cast<int>(shape[2]);
    const std::size_t bytes = static_cast<std::size_t>(base::element_count(shape)) *
                              static_cast<std::size_t>(max_items_) * (split_ ? 2 : 1) *
                              sizeof(std::uint16_t);
    const int now = static_cast<int>(n);
    int best = -1;
    for (std::size_t s = 0; s < slots.size(); ++s) {
      if (slots[s].free_after >= now) continue;
      if (best < 0 || slots[s].bytes > slots[static_cast<std::size_t>(best)].bytes)
        best = static_cast<int>(s);
    }
    if (best < 0) {
      best = static_cast<int>(slots.size());
      slots.push_back({0, -1});
    }
    Slot& slot = slots[static_cast<std::size_t>(best)];
    slot.bytes = std::max(slot.bytes, bytes);
    slot.free_after = last[static_cast<std::size_t>(output)];
    map.slot = best;
  }
  for (const Slot& slot : slots) {
    slots_.emplace_back(device_, slot.bytes, "activation maps");
    workspace_ += slot.bytes;
  }
  workspace_ += means_.bytes() + statistics_.bytes();
}

__half* EmbeddingProgram::map_data(int value) const {
  return slots_[static_cast<std::size_t>(maps_[static_cast<std::size_t>(value)].slot)].as<__half>();
}

void EmbeddingProgram::launch_trunk(int items, cudaStream_t stream) const {
  for (const Convolution& step : convolutions_) {
    const Map& in = maps_[static_cast<std::size_t>(step.input)];
    const Map& out = maps_[static_cast<std::size_t>(step.output)];
    ConvArgs args;
    args.input = map_data(step.input);
    args.weights = step.weights.as<__half>();
    args.bias = step.bias.as<float>();
    args.residual = step.residual >= 0 ? map_data(step.residual) : nullptr;
    args.output = map_data(step.output);
    args.items = items;
    args.in_f = in.frequency;
    args.in_t = in.time;
    args.out_f = out.frequency;
    args.out_t = out.time;
    args.cin = in.channels;
    args.cout = out.channels;
    args.unscale = step.unscale;
    args.relu = step.relu;
    args.range = range_.as<std::uint32_t>();
    check(launch_conv_mma(step.shape, split_, args, stream), "convolution");
  }
}

void EmbeddingProgram::launch_output(std::size_t index, const View& view, int items,
                                     cudaStream_t stream) const {
  const int value = outputs_[index];
  if (value == head_output_) {
    const Map& map = maps_[static_cast<std::size_t>(head_input_)];
    HeadArgs args;
    args.statistics = statistics_.as<float>();
    args.weight = head_weights_.as<float>();
    args.bias = head_bias_.as<float>();
    args.embeddings = output_rows(view);
    args.item_stride = view.item_stride;
    args.items = items;
    args.speakers = speakers_;
    args.inputs = 2 * map.channels * map.frequency;
    args.outputs = dim_;
    check(launch_head(args, stream), "head");
    return;
  }
  const Map& map = maps_[static_cast<std::size_t>(value)];
  TapArgs args;
  args.map = map_data(value);
  args.output = output_rows(view);
  args.item_stride = view.item_stride;
  args.items = items;
  args.channels = map.channels;
  args.frequency = map.frequency;
  args.time = map.time;
  args.split = split_;
  check(launch_map_tap(args, stream), "tap");
}

void EmbeddingProgram::check_arguments(const Run& run) const {
  if (run.items < 1 || run.items > max_items_)
    base::fail(ErrorCode::kInvalidArgument, "batch of {} items; this program takes 1 to {}",
               run.items, max_items_);
  if (run.inputs.size() != inputs_.size() || run.outputs.size() != outputs_.size())
    base::fail(ErrorCode::kInvalidArgument, "{} inputs and {} outputs given, {} and {} expected",
               run.inputs.size(), run.outputs.size(), inputs_.size(), outputs_.size());
  const auto check_view = [&](const View& view, int value) {
    const model::Value& v = values_[static_cast<std::size_t>(value)];
    const std::int64_t need =
        (view.offset + (run.items - 1) * view.item_stride + base::element_count(v.shape)) * 4;
    if (view.buffer == nullptr || view.offset < 0 || view.item_stride < 0 ||
        need > static_cast<std::int64_t>(view.buffer->bytes()))
      base::fail(ErrorCode::kInvalidArgument, "buffer of {}: {} bytes needed, {} there", v.name,
                 need, view.buffer == nullptr ? 0 : view.buffer->bytes());
  };
  for (std::size_t i = 0; i < inputs_.size(); ++i) check_view(run.inputs[i], inputs_[i]);
  for (std::size_t i = 0; i < outputs_.size(); ++i) check_view(run.outputs[i], outputs_[i]);
}

void EmbeddingProgram::run(Queue& queue, const Run& run) {
  base::check_stop(run.stop);
  check_arguments(run);
  const DeviceGuard guard(device_);
  const cudaStream_t stream = static_cast<CudaQueue&>(queue).stream();
  check(cudaMemsetAsync(range_.data(), 0, range_.bytes(), stream), "range");
  const View& rows = run.inputs[0];
  const Map& first = maps_[static_cast<std::size_t>(stem_output_)];
  check(launch_band_means(input_rows(rows), rows.item_stride, run.items, first.time,
                          means_.as<float>(), stream),
        "band means");
  StemArgs stem;
  stem.rows = input_rows(rows);
  stem.item_stride = rows.item_stride;
  stem.means = means_.as<float>();
  stem.weights = stem_weights_.as<float>();
  stem.bias = stem_bias_.as<float>();
  stem.output = map_data(stem_output_);
  stem.items = run.items;
  stem.time = first.time;
  stem.split = split_;
  stem.range = range_.as<std::uint32_t>();
  check(launch_stem(stem, stream), "stem");
  launch_trunk(run.items, stream);
  if (head_input_ >= 0) {
    const Map& last = maps_[static_cast<std::size_t>(head_input_)];
    PoolArgs pool;
    pool.map = map_data(head_input_);
    pool.masks = input_rows(run.inputs[1]);
    pool.mask_stride = run.inputs[1].item_stride;
    pool.statistics = statistics_.as<float>();
    pool.items = run.items;
    pool.speakers = speakers_;
    pool.mask_frames = mask_frames_;
    pool.frequency = last.frequency;
    pool.time = last.time;
    pool.channels = last.channels;
    pool.split = split_;
    check(launch_masked_pool(pool, stream), "masked pooling");
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    launch_output(i, run.outputs[i], run.items, stream);
}

}  // namespace diarist::backend::cuda
