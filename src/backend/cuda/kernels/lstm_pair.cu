// The recurrence on a pair of CTAs (lstm.hpp), for devices with clusters.
//
// A cluster of two CTAs serves one direction of kGroups times 8 windows; each CTA owns 64 units,
// each of its eight warps 8 of them with all weights, high and low parts, in 128 registers. The
// states of a step lie in the shared memory of both CTAs, in two buffers by the parity of the step.
// A warp writes its states to its own buffer with plain stores and to the partner's with stores
// that count on the partner's barrier. There is one barrier per group and buffer: eight arrivals of
// the own warps and 2048 bytes of the partner's. Nothing else waits. A buffer is written again only
// by warps that hold states made from all states of the step between, so everybody has read it.
// With two groups one group's states travel while the other group's products are made, and the
// warps take turns with the tensor cores: four of them, one per scheduler, multiply while the other
// four advance their cells.
// Input products come through a ring of four steps; a thread copies what it will read itself.

#include <cuda_fp16.h>

#include "backend/cuda/kernels/lstm_cell.cuh"
#include "backend/cuda/kernels/split_tile.cuh"

namespace diarist::backend::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kRing = 4;
constexpr int kPart = kLstmGroup * kStateRow * 2;  // bytes of one part of a group's states
constexpr int kBuffer = 2 * kPart;
constexpr int kPieces = 2 * kThreads * 16;  // bytes of a step's input products, per group
constexpr int kPartnerBytes = kLstmGroup * 64 * 2 * 2;
constexpr int kHalfUnits = kLstmUnits / 2;

template <int kGroups>
constexpr int kShared = 2 * kGroups* kBuffer + kRing* kGroups* kPieces + 2 * kGroups * 8;

#if __CUDA_ARCH__ >= 900
__device__ __forceinline__ std::uint32_t rank_in_cluster() {
  std::uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}

/// Address of the same place in another CTA of the cluster.
__device__ __forceinline__ std::uint32_t address_at(std::uint32_t address, std::uint32_t rank) {
  std::uint32_t mapped;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
  return mapped;
}

/// A word to another CTA; its four bytes count on that CTA's barrier.
__device__ __forceinline__ void send_word(std::uint32_t address, std::uint32_t word,
                                          std::uint32_t barrier) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(address),
      "r"(word), "r"(barrier)
      : "memory");
}

__device__ __forceinline__ void wait_states(std::uint32_t barrier, std::uint32_t parity) {
  asm volatile(
      "{\n.reg .pred p;\nWAIT:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      "@p bra DONE;\nbra WAIT;\nDONE:\n}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

/// Rows of an 8x8 matrix of halves become columns.
__device__ __forceinline__ std::uint32_t transposed(std::uint32_t word) {
  std::uint32_t out;
  asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(out) : "r"(word));
  return out;
}

__device__ __forceinline__ void store_word(std::uint32_t address, std::uint32_t word) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(word) : "memory");
}

__device__ __forceinline__ uint4 load_piece(std::uint32_t address) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(address)
               : "memory");
  return v;
}

// Turns at the tensor cores: half 0 begins; whoever has multiplied lets the other half go.
class Turns {
 public:
  __device__ explicit Turns(int half) : half_(half) {
    if (half_ == 1) pass();
  }
  __device__ __forceinline__ void take() const {
    asm volatile("bar.sync %0, %1;" ::"r"(1 + half_), "n"(kThreads) : "memory");
  }
  __device__ __forceinline__ void pass() const {
    asm volatile("bar.arrive %0, %1;" ::"r"(2 - half_), "n"(kThreads) : "memory");
  }
  /// Collects the last turn that was passed to nobody.
  __device__ void end() const {
    if (half_ == 0) take();
  }

 private:
  int half_;
};

// What every step needs.
template <int kGroups>
struct Place {
  std::uint32_t base;  // of shared memory
  int direction, window0, rank;
  __device__ std::uint32_t states(int group, int buffer) const {
    return base + (buffer * kGroups + group) * kBuffer;
  }
  __device__ std::uint32_t ring(int stage) const {
    return base + 2 * kGroups * kBuffer + stage * kGroups * kPieces;
  }
  __device__ std::uint32_t barrier(int group, int buffer) const {
    return base + 2 * kGroups * kBuffer + kRing * kGroups * kPieces + (group * 2 + buffer) * 8;
  }
};

// Brings this CTA's 64 units of a group's states from shared memory to the rows, 16 bytes per
// thread: threads 128*group and following (with one group the others have nothing to do).
template <int kGroups>
class StateWriter {
 public:
  __device__ StateWriter(const LstmArgs& args, const Place<kGroups>& place) {
    const int i = static_cast<int>(threadIdx.x & 127), group = static_cast<int>(threadIdx.x >> 7);
    const int piece = i & 7, window = (i >> 3) & 7, part = i >> 6;
    source_ = part * kPart + (window * kStateRow + place.rank * kHalfUnits + piece * 8) * 2;
    pitch_ = static_cast<std::int64_t>(args.windows) * (4 * kLstmUnits);
    target_ = args.rows + frame_of(args, place.direction, args.first) * pitch_ +
              (place.window0 + group * kLstmGroup + window) * (4 * kLstmUnits) +
              part * 2 * kLstmUnits + place.direction * kLstmUnits + place.rank * kHalfUnits +
              piece * 8;
    if (place.direction != 0) pitch_ = -pitch_;
  }
  __device__ __forceinline__ bool writes(int group) const {
    return static_cast<int>(threadIdx.x >> 7) == group;
  }
  __device__ __forceinline__ uint4 read(std::uint32_t states) const {
    return load_piece(states + source_);
  }
  /// The states of the stretch's next step.
  __device__ __forceinline__ void write(const uint4& states) {
    *reinterpret_cast<uint4*>(target_) = states;
    target_ += pitch_;
  }

 private:
  std::uint32_t source_;
  std::int64_t pitch_;
  __half* target_;
};

// States before the first step: zeros, or those of the last stretch.
template <int kGroups>
__device__ __forceinline__ void first_states(const LstmArgs& args, const Place<kGroups>& place) {
  for (int i = static_cast<int>(threadIdx.x); i < kGroups * 256; i += kThreads) {
    const int piece = i & 15, window = (i >> 4) & 7, part = (i >> 7) & 1, group = i >> 8;
    uint4 value = make_uint4(0, 0, 0, 0);
    if (args.first > 0) {
      const std::int64_t row =
          static_cast<std::int64_t>(frame_of(args, place.direction, args.first - 1)) *
              args.windows +
          place.window0 + group * kLstmGroup + window;
      value = *reinterpret_cast<const uint4*>(args.rows + row * (4 * kLstmUnits) +
                                              part * 2 * kLstmUnits + place.direction * kLstmUnits +
                                              piece * 8);
    }
    const std::uint32_t target =
        place.states(group, 0) + part * kPart + (window * kStateRow + piece * 8) * 2;
    asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(target), "r"(value.x), "r"(value.y),
                 "r"(value.z), "r"(value.w)
                 : "memory");
  }
}
#endif

template <int kGroups>
__global__ void __launch_bounds__(kThreads, 1) lstm_pair(LstmArgs args) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) std::uint8_t bytes[];
  const int lane = static_cast<int>(threadIdx.x & 31);
  const int warp = __shfl_sync(0xFFFFFFFFU, static_cast<int>(threadIdx.x >> 5), 0);
  const int pair = static_cast<int>(blockIdx.x >> 1);
  Place<kGroups> place;
  place.base = shared_address(bytes);
  place.rank = static_cast<int>(rank_in_cluster());
  place.direction = pair & 1;
  place.window0 = (pair >> 1) * kGroups * kLstmGroup;
  const int unit_block = place.rank * kWarps + warp, unit = 8 * unit_block + (lane >> 2);
  const auto partner = static_cast<std::uint32_t>(place.rank ^ 1);

  if (threadIdx.x == 0)
    for (int i = 0; i < 2 * kGroups; ++i)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place.barrier(i >> 1, i & 1)),
                   "r"(kWarps));
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  first_states<kGroups>(args, place);

  // This thread's input products: windows 2*(lane%4), + 1 of each group, four gates of its unit.
  const std::int64_t window_pitch = kLstmUnits * 4;
  const float* const products =
      args.products +
      (static_cast<std::int64_t>(place.direction) * args.steps * args.windows + place.window0 +
       2 * (lane & 3)) *
          window_pitch +
      unit * 4;
  const auto fetch = [&](int step) {
    if (step < args.steps) {
      const float* source =
          products + static_cast<std::int64_t>(product_row(args, place.direction, step)) *
                         args.windows * window_pitch;
      const std::uint32_t target = place.ring(step % kRing) + threadIdx.x * 16;
#pragma unroll
      for (int i = 0; i < 2 * kGroups; ++i)
        copy_16(target + i * kThreads * 16,
                source + ((i >> 1) * kLstmGroup + (i & 1)) * window_pitch, true);
    }
    commit_copies();
  };
#pragma unroll
  for (int step = 0; step < kRing - 1; ++step) fetch(step);

  WarpWeights weight, weight_low;
  load_weights(args.weights, place.direction, 0, unit_block, weight);
  load_weights(args.weights, place.direction, 1, unit_block, weight_low);
  float* const cells =
      args.cells +
      (static_cast<std::int64_t>(place.direction) * args.windows + place.window0 + 2 * (lane & 3)) *
          kLstmUnits +
      unit;
  float cell[kGroups][2];
#pragma unroll
  for (int group = 0; group < kGroups; ++group)
#pragma unroll
    for (int e = 0; e < 2; ++e)
      cell[group][e] = args.first > 0 ? cells[(group * kLstmGroup + e) * kLstmUnits] : 0.0F;
  const GateScale scale = gate_scale(args, place.direction);
  StateWriter<kGroups> writer(args, place);
  // Where this lane's words go: window lane/4, units 2*(lane%4), + 1 of the warp's eight.
  const std::uint32_t word_at = ((lane >> 2) * kStateRow + 8 * unit_block + 2 * (lane & 3)) * 2;
  const std::uint32_t partner_base = address_at(place.base, partner);
  __syncthreads();
  cluster_barrier();
  constexpr bool kTurns = kGroups > 1;
  const Turns turns(kTurns ? warp >> 2 : 0);

#pragma unroll 1
  for (int step = 0; step < args.steps; ++step) {
    const int from = step & 1, to = from ^ 1;
    wait_copies<kRing - 2>();
#pragma unroll
    for (int group = 0; group < kGroups; ++group) {
      if (step > 0) wait_states(place.barrier(group, from), ((step - 1) >> 1) & 1);
      if (kTurns) turns.take();
      const std::uint32_t states = place.states(group, from);
      const bool writes = step > 0 && writer.writes(group);
      uint4 written;
      if (writes) written = writer.read(states);
      const GateSums sums = recurrent_sums(
          weight, [&](int tile, int k) { return weight_low[tile][k]; }, states, states + kPart);
      if (kTurns) turns.pass();
      float4 product[2];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const uint4 v = load_piece(place.ring(step % kRing) + threadIdx.x * 16 +
                                   (2 * group + e) * kThreads * 16);
        product[e] = make_float4(__uint_as_float(v.x), __uint_as_float(v.y), __uint_as_float(v.z),
                                 __uint_as_float(v.w));
      }
      float state[2];
#pragma unroll
      for (int e = 0; e < 2; ++e)
        state[e] = advance_cell(sums, e, product[e], scale, cell[group][e]);
      std::uint32_t high, low;
      split_pair(state[0], state[1], high, low);
      high = transposed(high);
      low = transposed(low);
      const std::uint32_t target = place.states(group, to) + word_at;
      const std::uint32_t barrier = place.barrier(group, to);
      const std::uint32_t to_partner = partner_base - place.base;
      send_word(target + to_partner, high, barrier + to_partner);
      send_word(target + kPart + to_partner, low, barrier + to_partner);
      store_word(target, high);
      store_word(target + kPart, low);
      __syncwarp();
      if (lane == 0) {
        if (warp == 0)
          asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                       "r"(kPartnerBytes)
                       : "memory");
        else
          asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
      }
      if (writes) writer.write(written);
    }
    fetch(step + kRing - 1);
  }
  if (kTurns) turns.end();
#pragma unroll
  for (int group = 0; group < kGroups; ++group) {
    wait_states(place.barrier(group, args.steps & 1), ((args.steps - 1) >> 1) & 1);
    if (writer.writes(group)) writer.write(writer.read(place.states(group, args.steps & 1)));
#pragma unroll
    for (int e = 0; e < 2; ++e) cells[(group * kLstmGroup + e) * kLstmUnits] = cell[group][e];
  }
  // Neither may leave while the other still counts on its shared memory.
  cluster_barrier();
#endif
}

template <int kGroups>
cudaError_t prepare() {
  return cudaFuncSetAttribute(lstm_pair<kGroups>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              kShared<kGroups>);
}

template <int kGroups>
cudaError_t launch(const LstmArgs& args, cudaStream_t stream) {
  if (args.windows % (kGroups * kLstmGroup) != 0) return cudaErrorNotSupported;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(args.windows / (kGroups * kLstmGroup) * 4));
  config.blockDim = dim3(kThreads);
  config.dynamicSmemBytes = kShared<kGroups>;
  config.stream = stream;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 2;
  attribute.val.clusterDim.y = 1;
  attribute.val.clusterDim.z = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, lstm_pair<kGroups>, args);
}

}  // namespace

cudaError_t prepare_lstm_pair() {
  const cudaError_t error = prepare<1>();
  return error != cudaSuccess ? error : prepare<2>();
}

cudaError_t launch_lstm_pair(const LstmArgs& args, int groups, cudaStream_t stream) {
  if (args.steps <= 0 || args.windows <= 0) return cudaSuccess;
  return groups == 2 ? launch<2>(args, stream) : launch<1>(args, stream);
}

}  // namespace diarist::backend::cuda
