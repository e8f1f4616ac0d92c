// Instances of the portable convolution and their launches.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "backend/cuda/kernels/conv.hpp"
#include "backend/cuda/kernels/conv_mma.cuh"

namespace diarist::backend::cuda {
namespace {

using Kernel = void (*)(ConvArgs, int);

template <int kIndex, bool kSplit>
constexpr Kernel instance() {
  constexpr ConvMmaTile kTile = kConvMmaTiles[kIndex];
  if constexpr (kSplit ? kTile.split : kTile.halves) {
    return conv_mma<ConvTraits<kIndex, kSplit>>;
  } else {
    return nullptr;
  }
}

struct Instances {
  Kernel halves, split;
};

template <int... kIndices>
Instances instances_of(int tile, std::integer_sequence<int, kIndices...>) {
  static constexpr Instances kInstances[] = {
      {instance<kIndices, false>(), instance<kIndices, true>()}...};
  return kInstances[tile];
}

Kernel kernel_of(int tile, bool split) {
  const Instances found = instances_of(tile, std::make_integer_sequence<int, kConvMmaTileCount>());
  return split ? found.split : found.halves;
}

int slabs_of(int cin, bool split) { return cin / (split ? 16 : 32); }

int ceil_div(int a, int b) { return (a + b - 1) / b; }

}  // namespace

int choose_conv_mma(const ConvShape& shape, bool split, int cin, int cout, int shared_per_block,
                    int after) {
  for (int i = after + 1; i < kConvMmaTileCount; ++i) {
    const ConvMmaTile& tile = kConvMmaTiles[i];
    if (shape.stride_f == shape.stride_t &&
        tile.serves(shape.taps, shape.stride_f, cin, cout, split) &&
        tile.shared_bytes(slabs_of(cin, split)) <= static_cast<std::size_t>(shared_per_block))
      return i;
  }
  return -1;
}

cudaError_t launch_conv_mma_tile(int tile_index, const ConvDevice& device, bool split,
                                 const ConvArgs& args, cudaStream_t stream) {
  const ConvMmaTile& tile = kConvMmaTiles[tile_index];
  // Offsets inside a map are counted in 32 bits.
  const std::int64_t largest =
      std::max(std::int64_t{args.in_f} * args.in_t * args.cin,
               std::int64_t{args.out_f + tile.tile_rows()} * args.out_t * args.cout) *
      (split ? 2 : 1);
  const std::int64_t works = std::int64_t{ceil_div(args.out_f, tile.tile_rows())} *
                             ceil_div(args.out_t, tile.columns()) * (args.cout / tile.cout) *
                             args.items;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max() / 2;
  if (largest > kMost || works > kMost) return cudaErrorNotSupported;
  const std::size_t shared = tile.shared_bytes(slabs_of(args.cin, split));
  // 1 KiB per CTA is the system's.
  const int room = static_cast<int>(static_cast<std::size_t>(device.shared_per_multiprocessor) /
                                    (shared + 1024));
  const int per_multiprocessor = std::clamp(room, 1, tile.min_blocks);
  const auto ctas = static_cast<unsigned>(
      std::min(works, std::int64_t{device.multiprocessors} * per_multiprocessor));
  int count = static_cast<int>(works);
  ConvArgs copy = args;
  void* arguments[] = {&copy, &count};
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel_of(tile_index, split)), dim3(ctas),
                          dim3(static_cast<unsigned>(tile.threads())), arguments, shared, stream);
}

cudaError_t query_conv_device(ConvDevice* device) {
  int index = 0;
  cudaError_t error = cudaGetDevice(&index);
  const auto read = [&](int* value, cudaDeviceAttr attribute) {
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(value, attribute, index);
  };
  read(&device->multiprocessors, cudaDevAttrMultiProcessorCount);
  read(&device->shared_per_block, cudaDevAttrMaxSharedMemoryPerBlockOptin);
  read(&device->shared_per_multiprocessor, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  return error;
}

cudaError_t launch_conv_mma(const ConvShape& shape, bool split, const ConvArgs& args,
                            cudaStream_t stream) {
  ConvDevice device;
  const cudaError_t error = query_conv_device(&device);
  if (error != cudaSuccess) return error;
  const int tile = choose_conv_mma(shape, split, args.cin, args.cout, device.shared_per_block, -1);
  if (tile < 0) return cudaErrorNotSupported;
  return launch_conv_mma_tile(tile, device, split, args, stream);
}

cudaError_t prepare_conv_mma() {
  ConvDevice device;
  cudaError_t error = query_conv_device(&device);
  for (int i = 0; i < kConvMmaTileCount; ++i)
    for (const bool split : {false, true}) {
      const Kernel kernel = kernel_of(i, split);
      if (kernel == nullptr) continue;
      const auto* function = reinterpret_cast<const void*>(kernel);
      if (error == cudaSuccess)
        error = cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout,
                                     cudaSharedmemCarveoutMaxShared);
      if (error == cudaSuccess)
        error = cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     device.shared_per_block);
    }
  return error;
}

}  // namespace diarist::backend::cuda
