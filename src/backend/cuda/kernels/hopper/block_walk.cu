// A whole basic block of 32 channels: the hidden map stays in shared memory.
//
// A pair of warpgroups owns a strip of 126 output pixels along time (128 hidden ones) and walks
// down the frequencies as conv_walk does. In step i the pair starts conv1 on input row y = first +
// i and conv2 on hidden row y - 2, writes hidden row y - 1 while conv2 still runs, and finishes
// output row y - 3 with input row y - 3, still in the ring of five, as residual. Hidden pixels
// outside the image are zero: they are padding, not conv1 of padding. Two pairs per CTA fill each
// other's gaps. The stem stays outside: made here, row by row with mma.sync while the products run,
// it cost more than its own kernel and the reading of its map together (1.07 ms against 0.95 at
// batch 128).

#include "backend/cuda/kernels/hopper/block_walk.hpp"
#include "backend/cuda/kernels/hopper/conv_walk.hpp"
#include "backend/cuda/kernels/hopper/product.cuh"
#include "backend/cuda/kernels/hopper/ptx.cuh"
#include "backend/cuda/kernels/hopper/tensor_map.hpp"

namespace diarist::backend::cuda::hopper {
namespace {

constexpr int kChannels = 32, kRow = 64;  // bytes of a pixel
constexpr int kStrip = 126, kHidden = 128, kInput = 130;
constexpr int kPairs = 2, kRing = 5, kThreads = kPairs * 256;
constexpr int kInputSpace = (kInput * kRow + 511) / 512 * 512;
constexpr int kOutputBytes = kHidden * kRow;
constexpr int kStored = 5 * kChannels, kWeightBytes = 3 * kStored * kRow;
constexpr int kPairBytes = kRing * kInputSpace + 2 * kInputSpace + 2 * kOutputBytes;
constexpr int kPairsAt = 2 * kWeightBytes;
constexpr int kBarriersAt = kPairsAt + kPairs * kPairBytes;
constexpr int kShared = kBarriersAt + kPairs * kRing * 8 + 1024;
constexpr int kLead = 5;  // rows that a piece walks beyond those it makes

struct Place {
  int time, start, end, first, item;
};

__device__ __forceinline__ Place place_of(const BlockPlan& plan, int walk) {
  const int rest = walk / plan.strips;
  Place place;
  place.time = walk % plan.strips * kStrip;
  place.start = rest % plan.pieces * plan.rows;
  place.end = min(place.start + plan.rows, plan.args.frequency);
  place.first = place.start == 0 ? 0 : place.start - 2;  // input row of step 0
  place.item = rest / plan.pieces;
  return place;
}

__global__ void __launch_bounds__(kThreads, 1) block_walk(const __grid_constant__ BlockPlan plan) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ std::uint8_t raw[];
  __shared__ __align__(8) float biases[2 * kChannels];  // scaled like the weights
  const std::uint32_t base = (shared_address(raw) + 1023) & ~1023U;
  std::uint8_t* const bytes = raw + (base - shared_address(raw));
  const int pair = __shfl_sync(0xFFFFFFFFU, static_cast<int>(threadIdx.x >> 8), 0);
  const int thread = threadIdx.x & 255, lane = thread & 31, warp = (thread >> 5) & 3;
  const int group = __shfl_sync(0xFFFFFFFFU, thread >> 7, 0);
  for (int i = threadIdx.x; i < 3 * kStored * 4; i += kThreads) {
    const int row = i / 4;
    const std::uint32_t at = row / kStored * kStored * kRow + swizzled<kRow>(row % kStored, i % 4);
    *reinterpret_cast<uint4*>(bytes + at) = static_cast<const uint4*>(plan.args.weights[0])[i];
    *reinterpret_cast<uint4*>(bytes + kWeightBytes + at) =
        static_cast<const uint4*>(plan.args.weights[1])[i];
  }
  if (threadIdx.x < kChannels) {
    biases[threadIdx.x] = plan.args.bias[0][threadIdx.x] / plan.args.unscale[0];
    biases[kChannels + threadIdx.x] = plan.args.bias[1][threadIdx.x] / plan.args.unscale[1];
  }
  const std::uint32_t inputs = base + kPairsAt + pair * kPairBytes;
  const std::uint32_t hiddens = inputs + kRing * kInputSpace, outputs = hiddens + 2 * kInputSpace;
  const std::uint32_t barriers = base + kBarriersAt + pair * kRing * 8;
  if (thread == 0)
    for (int i = 0; i < kRing; ++i) barrier_init(barriers + i * 8, 1);
  fence_async();
  __syncthreads();
  const int walks = plan.strips * plan.pieces * plan.args.items;
  const int first = static_cast<int>(blockIdx.x) * kPairs + pair;
  const int stride = static_cast<int>(gridDim.x) * kPairs;
  const int total = first < walks ? ((walks - first - 1) / stride + 1) * plan.steps : 0;
  int load_walk = first, load_step = 0, loaded = 0;
  const auto load = [&]() {
    if (loaded >= total) return;
    const int slot = loaded % kRing;
    const Place place = place_of(plan, load_walk);
    barrier_expect(barriers + slot * 8, kInput * kRow);
    load_box(inputs + slot * kInputSpace, &plan.input, barriers + slot * 8, 0, place.time - 2,
             place.first + load_step, place.item);
    ++loaded;
    if (++load_step == plan.steps) {
      load_step = 0;
      load_walk += stride;
    }
  };
  if (thread == 0)
    for (int i = 0; i < kRing; ++i) load();
  float sum1[48], sum2[48];
  const float* const bias1 = biases + 2 * (lane & 3);
  const float* const bias2 = bias1 + kChannels;
  int slot = 0, done = 0;
  std::uint32_t parity = 0;
  for (int walk = first; walk < walks; walk += stride) {
    const Place place = place_of(plan, walk);
    std::uint32_t peak = 0;
#pragma unroll
    for (int j = 0; j < 48; ++j) {
      sum1[j] = bias1[((j % 16) / 4) * 8 + (j & 1)];
      sum2[j] = bias2[((j % 16) / 4) * 8 + (j & 1)];
    }
#pragma unroll 1
    for (int step3 = 0; step3 < plan.steps; step3 += 3) {
#pragma unroll
      for (int phase = 0; phase < 3; ++phase, ++done) {
        const int step = step3 + phase, y = place.first + step;
        barrier_wait(barriers + slot * 8, parity);
        const std::uint32_t input = inputs + slot * kInputSpace + group * 64 * kRow;
        // Hidden row y - 2 lies in the buffer of its parity.
        const std::uint32_t hidden = hiddens + (step & 1) * kInputSpace + group * 64 * kRow;
        products_begin();
#pragma unroll
        for (int tap = 0; tap < 3; ++tap)
#pragma unroll
          for (int k = 0; k < 2; ++k)
            Product<96>::add(sum1, operand<kRow>(input + tap * kRow + k * 32),
                             operand<kRow>(base + tap * kStored * kRow +
                                           (2 * phase + 1) % 3 * kChannels * kRow + k * 32));
        products_commit();
#pragma unroll
        for (int tap = 0; tap < 3; ++tap)
#pragma unroll
          for (int k = 0; k < 2; ++k)
            Product<96>::add(
                sum2, operand<kRow>(hidden + tap * kRow + k * 32),
                operand<kRow>(base + kWeightBytes + tap * kStored * kRow +
                              (2 * ((phase + 1) % 3) + 1) % 3 * kChannels * kRow + k * 32));
        products_commit();
        products_wait<1>();
        {  // hidden row y - 1
          const int row = y - 1, pixel = 64 * group + 16 * warp + (lane >> 2);
          const int time = place.time - 1 + pixel;
          const bool row_inside = row >= 0 && row < plan.args.frequency;
          const bool inside0 = row_inside && time >= 0 && time < plan.args.time;
          const bool inside1 = row_inside && time + 8 >= 0 && time + 8 < plan.args.time;
          // The first hidden rows of a piece that starts inside the image lack an input row; they
          // reach only output rows that the piece does not make.
          const bool whole = row >= place.start - 1;
          const std::uint32_t target = hiddens + ((step + 1) & 1) * kInputSpace;
#pragma unroll
          for (int j = 0; j < 2; ++j) {
            float* const d = sum1 + (phase + 2) % 3 * 16 + j * 8;
            const float u = plan.args.unscale[0];
            std::uint32_t v[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
              v[i] = pack_relu(d[2 * i] * u, d[2 * i + 1] * u);
              if (!(i & 1 ? inside1 : inside0)) v[i] = 0;
              if (whole) keep_peak(peak, v[i]);
            }
            store_matrices(
                target + swizzled<kRow>(64 * group + 16 * warp + (lane & 15), 2 * j + (lane >> 4)),
                v);
          }
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            const float2 b = *reinterpret_cast<const float2*>(bias1 + 8 * j);
            float* const d = sum1 + (phase + 2) % 3 * 16 + 4 * j;
            d[0] = d[2] = b.x;
            d[1] = d[3] = b.y;
          }
        }
        products_wait<0>();
        {  // output row y - 3
          const int row = y - 3;
          const bool made = row >= place.start && row < place.end;
          const int past = slot < 3 ? slot - 3 + kRing : slot - 3;
          const std::uint32_t residual = inputs + past * kInputSpace;
          const std::uint32_t target = outputs + (step & 1) * kOutputBytes;
#pragma unroll
          for (int j = 0; j < 2; ++j) {
            const int pixel = 64 * group + 16 * warp + (lane & 15);
            float* const d = sum2 + phase * 16 + j * 8;
            const float u = plan.args.unscale[1];
            std::uint32_t v[4];
            load_matrices(residual + swizzled<kRow>(pixel + 2, 2 * j + (lane >> 4)), v);
#pragma unroll
            for (int i = 0; i < 4; ++i) {
              const float2 r = unpack(v[i]);
              v[i] = pack_relu(fmaf(d[2 * i], u, r.x), fmaf(d[2 * i + 1], u, r.y));
            }
            store_matrices(target + swizzled<kRow>(pixel, 2 * j + (lane >> 4)), v);
            // The last two pixels are not the strip's; their fragments hold what others make whole.
            const int own = 64 * group + 16 * warp + (lane >> 2);
            if (made) {
              if (own < kStrip) {
                keep_peak(peak, v[0]);
                keep_peak(peak, v[2]);
              }
              if (own + 8 < kStrip) {
                keep_peak(peak, v[1]);
                keep_peak(peak, v[3]);
              }
            }
          }
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            const float2 b = *reinterpret_cast<const float2*>(bias2 + 8 * j);
            float* const d = sum2 + phase * 16 + 4 * j;
            d[0] = d[2] = b.x;
            d[1] = d[3] = b.y;
          }
          if (thread == 0) wait_stores_read<0>();
          fence_async();
          named_barrier(1 + pair, 256);
          if (thread == 0) {
            if (made) {
              store_box(&plan.output, target, 0, place.time, row, place.item);
              commit_stores();
            }
            if (loaded <= done - 3 + kRing) load();  // the residual's slot is free now
          }
        }
        if (++slot == kRing) {
          slot = 0;
          parity ^= 1;
        }
      }
    }
    if (left_range(peak)) plan.args.range[place.item] = 1;
  }
  if (thread == 0) wait_stores<0>();
#endif
}

}  // namespace

cudaError_t plan_block_walk(BlockPlan* plan, const BlockArgs& args, int multiprocessors) {
  const HalfMap in{const_cast<__half*>(args.input), kChannels, args.time, args.frequency,
                   args.items};
  HalfMap out = in;
  out.data = args.output;
  // The store's box has the strip's 126 pixels; the two beyond them belong to the next strip.
  cudaError_t error = make_tensor_map(&plan->output, out, {kChannels, kStrip});
  if (error == cudaSuccess) error = make_tensor_map(&plan->input, in, {kChannels, kInput});
  if (error != cudaSuccess) return error;
  plan->args = args;
  plan->strips = (args.time + kStrip - 1) / kStrip;
  plan->rows =
      walk_rows(args.frequency, plan->strips * args.items, multiprocessors * kPairs, kLead);
  plan->pieces = (args.frequency + plan->rows - 1) / plan->rows;
  // A walk from the top needs no rows before it: 3 more than it makes.
  plan->steps = (plan->rows + (plan->pieces == 1 ? 3 : kLead) + 2) / 3 * 3;
  const int ctas = (plan->strips * plan->pieces * args.items + kPairs - 1) / kPairs;
  plan->grid = ctas < multiprocessors ? ctas : multiprocessors;
  return cudaSuccess;
}

cudaError_t launch_block_walk(const BlockPlan& plan, cudaStream_t stream) {
  block_walk<<<static_cast<unsigned>(plan.grid), kThreads, kShared, stream>>>(plan);
  return cudaGetLastError();
}

cudaError_t prepare_block_walk() {
  return cudaFuncSetAttribute(block_walk, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared);
}

}  // namespace diarist::backend::cuda::hopper
