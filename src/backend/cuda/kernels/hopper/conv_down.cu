// 3x3 stride-2 convolution C -> 2C with bias and ReLU, and the block's 1x1 stride-2 shortcut with
// bias, in one kernel.
//
// A warpgroup owns a strip of 64 output pixels along time and 64 output channels. Input rows come
// as two boxes with an element stride of 2: even pixels 2j and odd pixels 2j - 1, so every tap is a
// plain shift by a row of the operand. The centre tap's operand makes the shortcut as well. Each
// output row takes three input rows, of which the last is the next row's first: a ring of rows. All
// weights of the group stay in shared memory; the grid is persistent over (item, piece, strip), one
// grid row per group of 64 output channels.

#include "backend/cuda/kernels/hopper/conv_down.hpp"
#include "backend/cuda/kernels/hopper/product.cuh"
#include "backend/cuda/kernels/hopper/ptx.cuh"
#include "backend/cuda/kernels/hopper/tensor_map.hpp"

namespace diarist::backend::cuda::hopper {
namespace {

constexpr int kStrip = 64, kOut = 64;  // output pixels and channels of a warpgroup

template <int kChannels_, int kWalkers_, int kRing_>
struct DownTraits {
  static constexpr int kChannels = kChannels_, kWalkers = kWalkers_, kRing = kRing_;
  static constexpr int kThreads = kWalkers * 128;
  static constexpr int kRow = kChannels * 2;
  static constexpr int kEvenBytes = kStrip * kRow;
  static constexpr int kOddSpace = ((kStrip + 1) * kRow + 1023) / 1024 * 1024;
  static constexpr int kSlot = kEvenBytes + kOddSpace;
  static constexpr int kTapBytes = kOut * kRow;
  static constexpr int kWeightBytes = 10 * kTapBytes;
  static constexpr int kBox = kStrip * 128;  // one output row
  static constexpr int kWalkerBytes = kRing * kSlot + 2 * kBox;
  static constexpr int kBarriersAt = kWeightBytes + kWalkers * kWalkerBytes;
  static constexpr int kShared = kBarriersAt + kWalkers * kRing * 8 + 1024;
  static_assert(kShared <= 231000 && kWeightBytes % 1024 == 0);
};

template <typename T>
__global__ void __launch_bounds__(T::kThreads, 1) conv_down(const __grid_constant__ DownPlan plan) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ std::uint8_t raw[];
  __shared__ __align__(8) float biases[2 * kOut];
  const std::uint32_t base = (shared_address(raw) + 1023) & ~1023U;
  std::uint8_t* const bytes = raw + (base - shared_address(raw));
  const int walker = __shfl_sync(0xFFFFFFFFU, static_cast<int>(threadIdx.x >> 7), 0);
  const int thread = threadIdx.x & 127, lane = thread & 31, warp = thread >> 5;
  const int channel0 = static_cast<int>(blockIdx.y) * kOut;
  constexpr int kPieces = T::kRow / 16;
  const uint4* const weights = static_cast<const uint4*>(plan.weights) +
                               static_cast<std::size_t>(blockIdx.y) * (T::kWeightBytes / 16);
  for (int i = threadIdx.x; i < T::kWeightBytes / 16; i += T::kThreads) {
    const int row = i / kPieces;
    *reinterpret_cast<uint4*>(bytes + row / kOut * T::kTapBytes +
                              swizzled<T::kRow>(row % kOut, i % kPieces)) = weights[i];
  }
  if (threadIdx.x < kOut) {
    biases[threadIdx.x] = plan.bias[channel0 + threadIdx.x];
    biases[kOut + threadIdx.x] = plan.shortcut_bias[channel0 + threadIdx.x];
  }
  const std::uint32_t slots = base + T::kWeightBytes + walker * T::kWalkerBytes;
  const std::uint32_t boxes = slots + T::kRing * T::kSlot;
  const std::uint32_t barriers = base + T::kBarriersAt + walker * T::kRing * 8;
  if (thread == 0)
    for (int i = 0; i < T::kRing; ++i) barrier_init(barriers + i * 8, 1);
  fence_async();
  __syncthreads();
  const int walks = plan.strips * plan.pieces * plan.items;
  const int first = static_cast<int>(blockIdx.x) * T::kWalkers + walker;
  const int stride = static_cast<int>(gridDim.x) * T::kWalkers;
  const int steps = 2 * plan.rows + 1;  // input rows of a walk
  const int total = first < walks ? ((walks - first - 1) / stride + 1) * steps : 0;
  int load_walk = first, load_step = 0, loaded = 0;
  const auto load = [&]() {
    if (loaded >= total) return;
    const int slot = loaded % T::kRing, rest = load_walk / plan.strips;
    const int row = 2 * (rest % plan.pieces * plan.rows) - 1 + load_step;
    const int item = rest / plan.pieces, time = load_walk % plan.strips * 2 * kStrip;
    const std::uint32_t barrier = barriers + slot * 8, target = slots + slot * T::kSlot;
    barrier_expect(barrier, (2 * kStrip + 1) * T::kRow);
    load_box(target, &plan.even, barrier, 0, time, row, item);
    load_box(target + T::kEvenBytes, &plan.odd, barrier, 0, time - 1, row, item);
    ++loaded;
    if (++load_step == steps) {
      load_step = 0;
      load_walk += stride;
    }
  };
  if (thread == 0)
    for (int i = 0; i < T::kRing; ++i) load();
  float sum[kOut / 2], shortcut[kOut / 2];
  int n = 0;  // input rows taken so far; row n waits for parity (n / ring) & 1
  for (int walk = first; walk < walks; walk += stride) {
    const int rest = walk / plan.strips, time = walk % plan.strips * kStrip;
    const int start = rest % plan.pieces * plan.rows, item = rest / plan.pieces;
    std::uint32_t peak = 0;
#pragma unroll 1
    for (int step = 0; step < plan.rows; ++step, n += 2) {
      const int row = start + step;
      if (step == 0) barrier_wait(barriers + n % T::kRing * 8, (n / T::kRing) & 1);
      barrier_wait(barriers + (n + 1) % T::kRing * 8, ((n + 1) / T::kRing) & 1);
      barrier_wait(barriers + (n + 2) % T::kRing * 8, ((n + 2) / T::kRing) & 1);
      products_begin();
#pragma unroll
      for (int tap_f = 0; tap_f < 3; ++tap_f) {
        const std::uint32_t even = slots + (n + tap_f) % T::kRing * T::kSlot;
        const std::uint32_t odd = even + T::kEvenBytes;
#pragma unroll
        for (int tap_t = 0; tap_t < 3; ++tap_t) {
          const std::uint32_t pixel = tap_t == 1 ? even : tap_t == 0 ? odd : odd + T::kRow;
          const std::uint32_t tap = base + (tap_f * 3 + tap_t) * T::kTapBytes;
#pragma unroll
          for (int k = 0; k < T::kChannels / 16; ++k)
            Product<kOut>::add(sum, operand<T::kRow>(pixel + k * 32),
                               operand<T::kRow>(tap + k * 32), (tap_f | tap_t | k) != 0);
        }
        if (tap_f == 1) {
#pragma unroll
          for (int k = 0; k < T::kChannels / 16; ++k)
            Product<kOut>::add(shortcut, operand<T::kRow>(even + k * 32),
                               operand<T::kRow>(base + 9 * T::kTapBytes + k * 32), k != 0);
        }
      }
      products_commit();
      products_wait<0>();
      if (thread == 0) wait_stores_read<0>();
      named_barrier(1 + walker, 128);
      // Slots of the two rows that no later output row needs.
      if (thread == 0) {
        load();
        load();
        if (step == plan.rows - 1) load();
      }
      const bool inside = row < plan.frequency;
#pragma unroll
      for (int j = 0; j < kOut / 16; ++j) {
        const std::uint32_t at = swizzled<128>(16 * warp + (lane & 15), 2 * j + (lane >> 4));
        std::uint32_t v[4], s[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int channel = 16 * j + (i >> 1) * 8 + 2 * (lane & 3);
          const float2 b = *reinterpret_cast<const float2*>(biases + channel);
          const float2 c = *reinterpret_cast<const float2*>(biases + kOut + channel);
          v[i] = pack_relu(fmaf(sum[8 * j + 2 * i], plan.unscale, b.x),
                           fmaf(sum[8 * j + 2 * i + 1], plan.unscale, b.y));
          s[i] = pack(fmaf(shortcut[8 * j + 2 * i], plan.shortcut_unscale, c.x),
                      fmaf(shortcut[8 * j + 2 * i + 1], plan.shortcut_unscale, c.y));
          if (inside) {
            keep_peak(peak, v[i]);
            keep_peak_signed(peak, s[i]);
          }
        }
        store_matrices(boxes + at, v);
        store_matrices(boxes + T::kBox + at, s);
      }
      fence_async();
      named_barrier(1 + walker, 128);
      if (thread == 0) {
        if (inside) {
          store_box(&plan.output, boxes, channel0, time, row, item);
          store_box(&plan.shortcut, boxes + T::kBox, channel0, time, row, item);
        }
        commit_stores();
      }
    }
    n += 1;
    if (left_range(peak)) plan.range[item] = 1;
  }
  if (thread == 0) wait_stores<0>();
#endif
}

using Down32 = DownTraits<32, 3, 5>;
using Down64 = DownTraits<64, 2, 3>;

template <typename T>
cudaError_t prepare() {
  return cudaFuncSetAttribute(conv_down<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              T::kShared);
}

template <typename T>
cudaError_t launch(const DownPlan& plan, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(plan.grid), static_cast<unsigned>(plan.groups));
  conv_down<T><<<grid, T::kThreads, T::kShared, stream>>>(plan);
  return cudaGetLastError();
}

}  // namespace

cudaError_t plan_conv_down(DownPlan* plan, const ConvArgs& args, const ShortcutArgs& shortcut,
                           int multiprocessors) {
  if ((args.cin != 32 && args.cin != 64) || args.cout != 2 * args.cin || !args.relu ||
      args.residual != nullptr || args.out_f != (args.in_f + 1) / 2 ||
      args.out_t != (args.in_t + 1) / 2)
    return cudaErrorNotSupported;
  const HalfMap in{const_cast<__half*>(args.input), args.cin, args.in_t, args.in_f, args.items};
  const HalfMap out{args.output, args.cout, args.out_t, args.out_f, args.items};
  HalfMap beside = out;
  beside.data = shortcut.output;
  cudaError_t error = make_tensor_map(&plan->even, in, {args.cin, 2 * kStrip - 1, 1, 2});
  if (error == cudaSuccess)
    error = make_tensor_map(&plan->odd, in, {args.cin, 2 * kStrip + 1, 1, 2});
  if (error == cudaSuccess) error = make_tensor_map(&plan->output, out, {64, kStrip});
  if (error == cudaSuccess) error = make_tensor_map(&plan->shortcut, beside, {64, kStrip});
  if (error != cudaSuccess) return error;
  plan->weights = args.weights;
  plan->bias = args.bias;
  plan->shortcut_bias = shortcut.bias;
  plan->unscale = args.unscale;
  plan->shortcut_unscale = shortcut.unscale;
  plan->channels = args.cin;
  plan->frequency = args.out_f;
  plan->items = args.items;
  plan->strips = (args.out_t + kStrip - 1) / kStrip;
  plan->groups = args.cout / kOut;
  const int walkers = args.cin == 32 ? Down32::kWalkers : Down64::kWalkers;
  const int ctas_per_group = multiprocessors / plan->groups;
  const int walks = plan->strips * args.items;
  int pieces = 1;
  while (walks * (pieces + 1) <= ctas_per_group * walkers && pieces * 4 < args.out_f) ++pieces;
  plan->rows = (args.out_f + pieces - 1) / pieces;
  plan->pieces = (args.out_f + plan->rows - 1) / plan->rows;
  const int ctas = (walks * plan->pieces + walkers - 1) / walkers;
  plan->grid = ctas < ctas_per_group ? ctas : ctas_per_group;
  plan->range = args.range;
  return cudaSuccess;
}

cudaError_t launch_conv_down(const DownPlan& plan, cudaStream_t stream) {
  return plan.channels == 32 ? launch<Down32>(plan, stream) : launch<Down64>(plan, stream);
}

cudaError_t prepare_conv_down() {
  const cudaError_t error = prepare<Down32>();
  return error != cudaSuccess ? error : prepare<Down64>();
}

}  // namespace diarist::backend::cuda::hopper
