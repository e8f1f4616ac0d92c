// 3x3 stride-1 convolution for few channels: one warpgroup walks down the frequencies.
//
// A warpgroup owns a strip of 64 pixels along time and reads each input row (66 pixels) once: the
// row touches the three output rows around it, so one product of 64 x 3C serves all three, with A
// the row shifted by the tap in time (an offset of its start address) and B the weights of the
// three taps in frequency side by side. Output row r lives in accumulator group r mod 3 of the
// walk; the weights are stored as taps 2,1,0,2,1 so that any rotation is one run of rows. The
// weights stay in shared memory for the whole launch; the grid is persistent over (item, piece,
// strip). One thread of the warpgroup copies rows and sends finished ones off; the residual arrives
// in the place of the output row. Split mode (C = 32): a pixel is [high 32 | low 32], products high
// x high, low x high, high x low weights.

#include "backend/cuda/kernels/hopper/conv_walk.hpp"
#include "backend/cuda/kernels/hopper/product.cuh"
#include "backend/cuda/kernels/hopper/ptx.cuh"
#include "backend/cuda/kernels/hopper/tensor_map.hpp"

namespace diarist::backend::cuda::hopper {
namespace {

constexpr int kStrip = 64, kHalo = kStrip + 2;

template <int kChannels_, int kWalkers_, int kRows_, bool kSplit_>
struct WalkTraits {
  static constexpr int kChannels = kChannels_;  // 32 or 64
  static constexpr int kWalkers = kWalkers_;    // warpgroups
  static constexpr int kRows = kRows_;          // input rows in flight per walker
  static constexpr bool kSplit = kSplit_;
  static constexpr int kThreads = kWalkers * 128;
  static constexpr int kPixel = kChannels * 2 * (kSplit ? 2 : 1);  // bytes: 128
  static constexpr int kWeightRow = kChannels * 2;
  static constexpr int kColumns = 3 * kChannels, kStored = 5 * kChannels;
  static constexpr int kWeightBytes = 3 * kStored * kWeightRow;
  static constexpr int kInputSpace = (kHalo * kPixel + 1023) / 1024 * 1024;
  static constexpr int kOutputBytes = kStrip * kPixel;
  static constexpr int kSlot = kInputSpace + kOutputBytes;
  static constexpr int kSlotsAt = kWeightBytes * (kSplit ? 2 : 1);
  static constexpr int kBarriersAt = kSlotsAt + kWalkers * kRows * kSlot;
  static constexpr int kShared = kBarriersAt + kWalkers * kRows * 8 + 1024;
  static_assert(kPixel == 128 && kSlotsAt % 1024 == 0 && kShared <= 232448);
};

template <typename T, bool kResidual>
__global__ void __launch_bounds__(T::kThreads, 1) conv_walk(const __grid_constant__ WalkPlan plan) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  constexpr int kGroup = T::kChannels / 2;  // accumulators per output row
  extern __shared__ std::uint8_t raw[];
  const std::uint32_t base = (shared_address(raw) + 1023) & ~1023U;
  std::uint8_t* const bytes = raw + (base - shared_address(raw));
  const int walker = __shfl_sync(0xFFFFFFFFU, static_cast<int>(threadIdx.x >> 7), 0);
  const int thread = threadIdx.x & 127, lane = thread & 31, warp = thread >> 5;
  constexpr int kPieces = T::kWeightRow / 16;
  for (int i = threadIdx.x; i < T::kSlotsAt / 16; i += T::kThreads) {
    const int row = i / kPieces, block = row / T::kStored;
    *reinterpret_cast<uint4*>(bytes + block * T::kStored * T::kWeightRow +
                              swizzled<T::kWeightRow>(row % T::kStored, i % kPieces)) =
        static_cast<const uint4*>(plan.weights)[i];
  }
  const std::uint32_t slots = base + T::kSlotsAt + walker * T::kRows * T::kSlot;
  const std::uint32_t barriers = base + T::kBarriersAt + walker * T::kRows * 8;
  if (thread == 0)
    for (int i = 0; i < T::kRows; ++i) barrier_init(barriers + i * 8, 1);
  fence_async();
  __syncthreads();
  float bias[T::kChannels / 4];  // scaled like the weights
  const float scale = 1.0F / plan.unscale;
#pragma unroll
  for (int j = 0; j < T::kChannels / 8; ++j) {
    bias[2 * j] = plan.bias[8 * j + 2 * (lane & 3)] * scale;
    bias[2 * j + 1] = plan.bias[8 * j + 2 * (lane & 3) + 1] * scale;
  }
  const int walks = plan.strips * plan.pieces * plan.items;
  const int first = static_cast<int>(blockIdx.x) * T::kWalkers + walker;
  const int stride = static_cast<int>(gridDim.x) * T::kWalkers;
  // Step i reads input row start - 1 + i and finishes output row start - 2 + i.
  const int steps = (plan.rows + 4) / 3 * 3;
  const int total = first < walks ? ((walks - first - 1) / stride + 1) * steps : 0;
  int load_walk = first, load_step = 0, loaded = 0;
  const auto load = [&]() {
    if (loaded >= total) return;
    const int slot = loaded % T::kRows, rest = load_walk / plan.strips;
    const int start = rest % plan.pieces * plan.rows, item = rest / plan.pieces;
    const int time = load_walk % plan.strips * kStrip;
    const std::uint32_t barrier = barriers + slot * 8, target = slots + slot * T::kSlot;
    barrier_expect(barrier, (kHalo + (kResidual ? kStrip : 0)) * T::kPixel);
    load_box(target, &plan.input, barrier, 0, time - 1, start - 1 + load_step, item);
    if (kResidual)
      load_box(target + T::kInputSpace, &plan.residual, barrier, 0, time, start - 2 + load_step,
               item);
    ++loaded;
    if (++load_step == steps) {
      load_step = 0;
      load_walk += stride;
    }
  };
  if (thread == 0)
    for (int i = 0; i < T::kRows - 1; ++i) load();
  float sum[T::kColumns / 2];
  int slot = 0;
  std::uint32_t parity = 0;
  for (int walk = first; walk < walks; walk += stride) {
    const int rest = walk / plan.strips, time = walk % plan.strips * kStrip;
    const int start = rest % plan.pieces * plan.rows, item = rest / plan.pieces;
    const int end = min(start + plan.rows, plan.frequency);
    std::uint32_t peak = 0;
#pragma unroll
    for (int j = 0; j < 3 * kGroup; ++j) sum[j] = bias[((j % kGroup) / 4) * 2 + (j & 1)];
#pragma unroll 1
    for (int step3 = 0; step3 < steps; step3 += 3) {
#pragma unroll
      for (int phase = 0; phase < 3; ++phase) {
        const int row = start - 2 + step3 + phase;  // finished in this step
        const bool inside = row >= start && row < end;
        const std::uint32_t input = slots + slot * T::kSlot, output = input + T::kInputSpace;
        const int turn = (2 * phase + 1) % 3 * T::kChannels * T::kWeightRow;
        barrier_wait(barriers + slot * 8, parity);
        products_begin();
#pragma unroll
        for (int tap = 0; tap < 3; ++tap) {
          const std::uint32_t weights = base + tap * T::kStored * T::kWeightRow + turn;
#pragma unroll
          for (int k = 0; k < T::kChannels / 16; ++k) {
            const std::uint32_t pixel = input + tap * T::kPixel + k * 32;
            Product<T::kColumns>::add(sum, operand<T::kPixel>(pixel),
                                      operand<T::kWeightRow>(weights + k * 32));
            if (T::kSplit) {
              Product<T::kColumns>::add(sum, operand<T::kPixel>(pixel + 64),
                                        operand<T::kWeightRow>(weights + k * 32));
              Product<T::kColumns>::add(sum, operand<T::kPixel>(pixel),
                                        operand<T::kWeightRow>(weights + T::kWeightBytes + k * 32));
            }
          }
        }
        products_commit();
        products_wait<0>();
#pragma unroll
        for (int j = 0; j < T::kChannels / 16; ++j) {
          float* const d = sum + (phase + 2) % 3 * kGroup + j * 8;
          const int pixel = 16 * warp + (lane & 15);
          const std::uint32_t high_at = output + swizzled<128>(pixel, 2 * j + (lane >> 4));
          const std::uint32_t low_at = output + swizzled<128>(pixel, 4 + 2 * j + (lane >> 4));
          float x[8];
#pragma unroll
          for (int i = 0; i < 8; ++i) {
            x[i] = d[i] * plan.unscale;
            d[i] = bias[((8 * j + i) / 4) * 2 + (i & 1)];
          }
          std::uint32_t v[4];
          if (kResidual) {
            load_matrices(high_at, v);
#pragma unroll
            for (int i = 0; i < 4; ++i) {
              const float2 r = unpack(v[i]);
              x[2 * i] += r.x;
              x[2 * i + 1] += r.y;
            }
            if (T::kSplit) {
              load_matrices(low_at, v);
#pragma unroll
              for (int i = 0; i < 4; ++i) {
                const float2 r = unpack(v[i]);
                x[2 * i] += r.x;
                x[2 * i + 1] += r.y;
              }
            }
          }
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            v[i] = pack_relu(x[2 * i], x[2 * i + 1]);
            if (inside) keep_peak(peak, v[i]);
          }
          store_matrices(high_at, v);
          if (T::kSplit) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
              const float2 h = unpack(v[i]);
              v[i] = pack(fmaxf(x[2 * i], 0.0F) - h.x, fmaxf(x[2 * i + 1], 0.0F) - h.y);
            }
            store_matrices(low_at, v);
          }
        }
        fence_async();
        named_barrier(1 + walker, 128);
        if (thread == 0) {
          if (inside) store_box(&plan.output, output, 0, time, row, item);
          commit_stores();
          wait_stores_read<1>();
          load();
        }
        if (++slot == T::kRows) {
          slot = 0;
          parity ^= 1;
        }
      }
    }
    if (left_range(peak)) plan.range[item] = 1;
  }
  if (thread == 0) wait_stores<0>();
#endif
}

using Walk64 = WalkTraits<64, 2, 3, false>;
using Walk32Split = WalkTraits<32, 3, 3, true>;

template <typename T, bool kResidual>
cudaError_t launch(const WalkPlan& plan, cudaStream_t stream) {
  conv_walk<T, kResidual>
      <<<static_cast<unsigned>(plan.grid), T::kThreads, T::kShared, stream>>>(plan);
  return cudaGetLastError();
}

template <typename T>
cudaError_t launch(const WalkPlan& plan, cudaStream_t stream) {
  return plan.has_residual ? launch<T, true>(plan, stream) : launch<T, false>(plan, stream);
}

template <typename T, bool kResidual>
cudaError_t prepare() {
  return cudaFuncSetAttribute(conv_walk<T, kResidual>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              T::kShared);
}

}  // namespace

int walk_rows(int frequency, int walks, int workers, int lead) {
  int rows = frequency;
  for (int pieces = 2; walks * pieces <= workers && rows > 4; ++pieces) {
    // Steps of a piece: a multiple of three that its rows and lead fill.
    const int needed = (frequency + pieces - 1) / pieces;
    rows = (needed + lead + 2) / 3 * 3 - lead;
  }
  return rows < frequency ? rows : frequency;
}

cudaError_t plan_conv_walk(WalkPlan* plan, const ConvArgs& args, bool split, int multiprocessors) {
  if (args.cin != args.cout || args.cin != (split ? 32 : 64) || !args.relu ||
      args.in_f != args.out_f || args.in_t != args.out_t)
    return cudaErrorNotSupported;
  const int walkers = split ? Walk32Split::kWalkers : Walk64::kWalkers;
  const HalfMap in{const_cast<__half*>(args.input), 64, args.in_t, args.in_f, args.items};
  HalfMap out = in, residual = in;
  out.data = args.output;
  residual.data = const_cast<__half*>(args.residual);
  cudaError_t error = make_tensor_map(&plan->input, in, {64, kHalo});
  if (error == cudaSuccess) error = make_tensor_map(&plan->output, out, {64, kStrip});
  if (error == cudaSuccess && args.residual != nullptr)
    error = make_tensor_map(&plan->residual, residual, {64, kStrip});
  if (error != cudaSuccess) return error;
  plan->weights = args.weights;
  plan->bias = args.bias;
  plan->unscale = args.unscale;
  plan->frequency = args.out_f;
  plan->strips = (args.out_t + kStrip - 1) / kStrip;
  plan->items = args.items;
  plan->rows = walk_rows(args.out_f, plan->strips * args.items, multiprocessors * walkers, 2);
  plan->pieces = (args.out_f + plan->rows - 1) / plan->rows;
  plan->has_residual = args.residual != nullptr;
  plan->split = split;
  const int ctas = (plan->strips * plan->pieces * plan->items + walkers - 1) / walkers;
  plan->grid = ctas < multiprocessors ? ctas : multiprocessors;
  plan->range = args.range;
  return cudaSuccess;
}

cudaError_t launch_conv_walk(const WalkPlan& plan, cudaStream_t stream) {
  return plan.split ? launch<Walk32Split>(plan, stream) : launch<Walk64>(plan, stream);
}

cudaError_t prepare_conv_walk() {
  for (const cudaError_t error : {prepare<Walk64, false>(), prepare<Walk64, true>(),
                                  prepare<Walk32Split, false>(), prepare<Walk32Split, true>()})
    if (error != cudaSuccess) return error;
  return cudaSuccess;
}

}  // namespace diarist::backend::cuda::hopper
