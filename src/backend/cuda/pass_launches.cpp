// The launches of a pass: one per layer, fused group, pooling and head.

#include <cuda_fp16.h>

#include <memory>

#include "backend/cuda/check.hpp"
#include "backend/cuda/embedding_pass.hpp"
#include "backend/cuda/kernels/conv.hpp"
#include "backend/cuda/kernels/conv_ffma.hpp"
#include "backend/cuda/kernels/embed_ends.hpp"
#include "backend/cuda/kernels/hopper/block_walk.hpp"
#include "backend/cuda/kernels/hopper/conv_down.hpp"
#include "backend/cuda/kernels/hopper/conv_stride.hpp"
#include "backend/cuda/kernels/hopper/conv_tile.hpp"
#include "backend/cuda/kernels/hopper/conv_walk.hpp"
#include "backend/cuda/kernels/stem_mma.hpp"
#include "backend/cuda/library/map_passes.hpp"

namespace diarist::backend::cuda {
namespace {

// A plan outlives the call that made it; tensor maps want 64-byte addresses, which new gives.
template <typename Plan, typename Make, typename Start>
std::function<cudaError_t(cudaStream_t)> planned(const char* what, Make make, Start start) {
  auto plan = std::make_shared<Plan>();
  check(make(plan.get()), what);
  return [plan, start](cudaStream_t stream) { return start(*plan, stream); };
}

// What ConvArgs and ConvFfmaArgs share.
template <typename Args>
void describe(Args& args, const ConvLayer& layer, int items, std::uint32_t* range) {
  args.items = items;
  args.in_f = layer.shape.frequency;
  args.in_t = layer.shape.time;
  args.out_f = layer.shape.out_frequency();
  args.out_t = layer.shape.out_time();
  args.cin = layer.shape.cin;
  args.cout = layer.shape.cout;
  args.relu = layer.relu;
  args.range = range;
}

}  // namespace

ConvArgs EmbeddingPass::conv_args(int index) const {
  const ConvLayer& layer = model_.layers()[static_cast<std::size_t>(index)];
  const LayerWeights& weights = model_.weights(index);
  ConvArgs args;
  args.input = half_map(layer.input);
  args.weights = weights.weights.as<__half>();
  args.bias = weights.bias.as<float>();
  args.residual = layer.residual >= 0 ? half_map(layer.residual) : nullptr;
  args.output = half_map(layer.output);
  args.unscale = weights.unscale;
  describe(args, layer, items_, buffers_.range());
  return args;
}

void EmbeddingPass::add_stem(int index) {
  const ConvLayer& layer = model_.layers()[static_cast<std::size_t>(index)];
  const LayerWeights& weights = model_.weights(index);
  StemMmaArgs stem;
  stem.features = buffers_.features.as<__half>();
  stem.low_features = stem.features + (model_.split() ? buffers_.plane_halves : 0);
  stem.weights = weights.weights.data();
  stem.bias = weights.bias.as<float>();
  stem.unscale = weights.unscale;
  stem.output = half_map(layer.output);
  stem.items = items_;
  stem.time = layer.shape.time;
  stem.split = model_.split();
  stem.range = buffers_.range();
  launches_.push_back({layer.name, choice_.layers[static_cast<std::size_t>(index)].name,
                       [stem](cudaStream_t stream) { return launch_stem_mma(stem, stream); }});
}

void EmbeddingPass::add_layer(int index, cudaStream_t stream) {
  const ConvLayer& layer = model_.layers()[static_cast<std::size_t>(index)];
  const LayerChoice& choice = choice_.layers[static_cast<std::size_t>(index)];
  const ConvArgs args = conv_args(index);
  const bool split = model_.split();
  const int multiprocessors = model_.facts().multiprocessors;
  const char* what = layer.name.c_str();
  Launch launch{layer.name, choice.name, {}};
  switch (choice.kernel) {
    case KernelId::kBlockWalk: {
      const int first = choice_.beside(index);
      const int input = model_.layers()[static_cast<std::size_t>(first)].input;
      hopper::BlockArgs block;
      block.output = args.output;
      for (int i = 0; i < 2; ++i) {
        const LayerWeights& weights = model_.weights(i == 0 ? first : index);
        block.weights[i] = weights.weights.data();
        block.bias[i] = weights.bias.as<float>();
        block.unscale[i] = weights.unscale;
      }
      block.input = half_map(input);
      block.items = items_;
      block.frequency = args.out_f;
      block.time = args.out_t;
      block.range = args.range;
      launch.run = planned<hopper::BlockPlan>(
          what,
          [&](hopper::BlockPlan* plan) {
            return hopper::plan_block_walk(plan, block, multiprocessors);
          },
          hopper::launch_block_walk);
      break;
    }
    case KernelId::kConvWalk:
      launch.run = planned<hopper::WalkPlan>(
          what,
          [&](hopper::WalkPlan* plan) {
            return hopper::plan_conv_walk(plan, args, split, multiprocessors);
          },
          hopper::launch_conv_walk);
      break;
    case KernelId::kConvTile: {
      const bool narrow = choice.variant == 1;
      launch.run = planned<hopper::TilePlan>(
          what,
          [&](hopper::TilePlan* plan) {
            return hopper::plan_conv_tile(plan, args, split, narrow, multiprocessors);
          },
          hopper::launch_conv_tile);
      break;
    }
    case KernelId::kConvStride:
      launch.run = planned<hopper::StridePlan>(
          what,
          [&](hopper::StridePlan* plan) {
            return hopper::plan_conv_stride(plan, args, split, choice.variant == 1,
                                            multiprocessors);
          },
          hopper::launch_conv_stride);
      break;
    case KernelId::kConvDown: {
      const int beside = choice_.beside(index);
      hopper::ShortcutArgs shortcut;
      shortcut.bias = model_.weights(beside).bias.as<float>();
      shortcut.unscale = model_.weights(beside).unscale;
      shortcut.output = half_map(model_.layers()[static_cast<std::size_t>(beside)].output);
      launch.run = planned<hopper::DownPlan>(
          what,
          [&](hopper::DownPlan* plan) {
            return hopper::plan_conv_down(plan, args, shortcut, multiprocessors);
          },
          hopper::launch_conv_down);
      break;
    }
    case KernelId::kConvMma: {
      ConvDevice device;
      check(query_conv_device(&device), "GPU");
      launch.run = [tile = choice.variant, device, split, args](cudaStream_t queue) {
        return launch_conv_mma_tile(tile, device, split, args, queue);
      };
      break;
    }
    case KernelId::kConvFfma:
      add_ffma(index);
      return;
    case KernelId::kLibrary:
      add_library(index, stream);
      return;
    default:
      base::fail(ErrorCode::kUnsupported, "{}: {} is not in this build", layer.name, choice.name);
  }
  launches_.push_back(std::move(launch));
}

void EmbeddingPass::add_tap_layer(int index) {
  const ConvLayer& layer = model_.layers()[static_cast<std::size_t>(index)];
  ConvArgs args = conv_args(index);
  args.weights = model_.tap_weights(index).weights.as<__half>();
  args.bias = model_.tap_weights(index).bias.as<float>();
  args.unscale = model_.tap_weights(index).unscale;
  const ConvShape shape{layer.shape.taps, layer.shape.stride_f, layer.shape.stride_t};
  const bool split = model_.split();
  launches_.push_back({layer.name, "conv_mma for a tap", [shape, split, args](cudaStream_t stream) {
                         return launch_conv_mma(shape, split, args, stream);
                       }});
}

void EmbeddingPass::add_ffma(int index) {
  const ConvLayer& layer = model_.layers()[static_cast<std::size_t>(index)];
  const LayerWeights& weights = model_.weights(index);
  ConvFfmaArgs args;
  args.input = float_map(layer.input);
  args.weights = weights.weights.as<float>();
  args.bias = weights.bias.as<float>();
  args.residual = layer.residual >= 0 ? float_map(layer.residual) : nullptr;
  args.output = float_map(layer.output);
  describe(args, layer, items_, buffers_.range());
  const ConvShape shape{layer.shape.taps, layer.shape.stride_f, layer.shape.stride_t};
  launches_.push_back({layer.name, "conv_ffma", [shape, args](cudaStream_t stream) {
                         return launch_conv_ffma(shape, args, stream);
                       }});
}

void EmbeddingPass::add_library(int index, cudaStream_t stream) {
  const ConvLayer& layer = model_.layers()[static_cast<std::size_t>(index)];
  LibraryArgs args;
  args.input = map(layer.input);
  args.weights = model_.weights(index).weights.data();
  args.bias = model_.weights(index).bias.data();
  args.residual = layer.residual >= 0 ? map(layer.residual) : nullptr;
  args.output = map(layer.output);
  const LibraryPlan& plan = library_->plan(layer, items_, args, stream);
  MapArgs out;
  out.map = args.output;
  out.halves = model_.format() == MapFormat::kHalf;
  out.items = items_;
  out.values =
      std::int64_t{layer.shape.cout} * layer.shape.out_frequency() * layer.shape.out_time();
  launches_.push_back(
      {layer.name, "library",
       [library = library_, &plan, args, out, range = buffers_.range()](cudaStream_t queue) {
         library->run(plan, args, queue);
         return out.halves ? launch_range_scan(out, range, queue) : cudaSuccess;
       }});
}

void EmbeddingPass::add_pooling(const HeadWeights& head) {
  const base::Shape& shape = model_.values()[static_cast<std::size_t>(head.map)].shape;
  const auto fill = [&](auto& pool) {
    pool.range = buffers_.range();
    pool.masks = buffers_.masks.as<float>();
    pool.mask_stride = buffers_.mask_floats;
    pool.statistics = buffers_.statistics.as<float>();
    pool.items = items_;
    pool.speakers = head.speakers;
    pool.mask_frames = buffers_.mask_floats / head.speakers;
    pool.channels = static_cast<int>(shape[0]);
    pool.frequency = static_cast<int>(shape[1]);
    pool.time = static_cast<int>(shape[2]);
  };
  if (model_.format() == MapFormat::kFloat) {
    PoolFfmaArgs pool;
    fill(pool);
    pool.map = float_map(head.map);
    launches_.push_back({"pooling", "masked_pool_ffma", [pool](cudaStream_t stream) {
                           return launch_masked_pool_ffma(pool, stream);
                         }});
    return;
  }
  PoolArgs pool;
  fill(pool);
  pool.map = half_map(head.map);
  pool.split = model_.split();
  launches_.push_back({"pooling", "masked_pool",
                       [pool](cudaStream_t stream) { return launch_masked_pool(pool, stream); }});
}

void EmbeddingPass::add_heads() {
  for (const HeadWeights& head : model_.heads()) {
    add_pooling(head);
    if (head.weights.bytes() == 0) continue;
    HeadArgs args;
    args.statistics = buffers_.statistics.as<float>();
    args.weight = head.weights.as<float>();
    args.bias = head.bias.as<float>();
    args.slices = buffers_.slices.as<float>();
    args.embeddings = buffers_.embeddings();
    args.item_stride = std::int64_t{head.speakers} * head.dim;
    args.items = items_;
    args.speakers = head.speakers;
    args.inputs = head.statistics;
    args.outputs = head.dim;
    launches_.push_back(
        {"head", "head", [args](cudaStream_t stream) { return launch_head(args, stream); }});
  }
}

}  // namespace diarist::backend::cuda
