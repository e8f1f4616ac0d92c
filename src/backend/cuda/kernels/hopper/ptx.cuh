#pragma once
// Hopper's own instructions in small wrappers: tensor copies, their barriers, warpgroup products.

#include <cuda.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace diarist::backend::cuda::hopper {

__device__ __forceinline__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// ---- barriers in shared memory: a phase ends when `arrivals` threads arrived and the expected
// bytes came; waiters name the parity of the phase they wait for.

__device__ __forceinline__ void barrier_init(std::uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}

__device__ __forceinline__ void barrier_expect(std::uint32_t barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void barrier_arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void barrier_wait(std::uint32_t barrier, std::uint32_t parity) {
  asm volatile(
      "{\n.reg .pred p;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra "
      "DONE;\nbra WAIT;\nDONE:\n}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

/// Barrier of `threads` threads of the CTA; ids 1 to 15.
__device__ __forceinline__ void named_barrier(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Counts this thread at a barrier without waiting there.
__device__ __forceinline__ void arrive_at_barrier(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// ---- tensor copies. Coordinates: channel, time, frequency, item; what lies outside the map is
// read as zero and not written.

__device__ __forceinline__ void load_box(std::uint32_t target, const CUtensorMap* map,
                                         std::uint32_t barrier, int channel, int time,
                                         int frequency, int item) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%3,%4,%5,%6}], [%2];" ::"r"(target),
      "l"(map), "r"(barrier), "r"(channel), "r"(time), "r"(frequency), "r"(item)
      : "memory");
}

__device__ __forceinline__ void store_box(const CUtensorMap* map, std::uint32_t source, int channel,
                                          int time, int frequency, int item) {
  asm volatile(
      "cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%2,%3,%4,%5}], [%1];" ::"l"(
          map),
      "r"(source), "r"(channel), "r"(time), "r"(frequency), "r"(item)
      : "memory");
}

/// Contiguous bytes (a multiple of 16) from global to shared memory.
__device__ __forceinline__ void load_bytes(std::uint32_t target, const void* source,
                                           std::uint32_t bytes, std::uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(target),
      "l"(source), "r"(bytes), "r"(barrier)
      : "memory");
}

__device__ __forceinline__ void commit_stores() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// Waits until at most kLeft groups of stores still read shared memory.
template <int kLeft>
__device__ __forceinline__ void wait_stores_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kLeft) : "memory");
}

template <int kLeft>
__device__ __forceinline__ void wait_stores() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kLeft) : "memory");
}

/// Makes ordinary writes to shared memory visible to tensor copies and warpgroup products; each
/// writing thread calls it before the barrier.
__device__ __forceinline__ void fence_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// ---- 8x8 matrices between registers and shared memory

__device__ __forceinline__ void store_matrices(std::uint32_t address, const std::uint32_t (&v)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(address),
               "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3])
               : "memory");
}

__device__ __forceinline__ void load_matrices(std::uint32_t address, std::uint32_t (&v)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
               : "r"(address)
               : "memory");
}

// ---- halves

/// max(x, 0) and max(y, 0) as a pair of halves, x in the low one. Too large values become infinite.
__device__ __forceinline__ std::uint32_t pack_relu(float x, float y) {
  std::uint32_t pair;
  asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(y), "f"(x));
  return pair;
}

__device__ __forceinline__ std::uint32_t pack(float x, float y) {
  std::uint32_t pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(y), "f"(x));
  return pair;
}

__device__ __forceinline__ float2 unpack(std::uint32_t pair) {
  return __half22float2(*reinterpret_cast<const __half2*>(&pair));
}

/// Keeps the largest value seen of pairs that are not negative; NaN wins.
__device__ __forceinline__ void keep_peak(std::uint32_t& peak, std::uint32_t pair) {
  asm("max.NaN.f16x2 %0, %0, %1;" : "+r"(peak) : "r"(pair));
}

/// The same for pairs of any sign.
__device__ __forceinline__ void keep_peak_signed(std::uint32_t& peak, std::uint32_t pair) {
  keep_peak(peak, pair & 0x7FFF7FFFU);
}

/// True when a kept peak is infinite or NaN: the value did not fit a half.
__device__ __forceinline__ bool left_range(std::uint32_t peak) {
  return (peak & 0x7C00U) == 0x7C00U || (peak & 0x7C000000U) == 0x7C000000U;
}

// ---- warpgroup products

/// Descriptor of an operand whose rows are kRow bytes (64 or 128) of consecutive K values, swizzled
/// over kRow bytes, eight rows per group. The address may start at any row of a buffer that is
/// aligned to its swizzle pattern: the hardware swizzles absolute address bits.
template <int kRow>
__device__ __forceinline__ std::uint64_t operand(std::uint32_t address) {
  return static_cast<std::uint64_t>((address & 0x3FFFF) >> 4) | (1ULL << 16) |
         (static_cast<std::uint64_t>((8 * kRow) >> 4) << 32) |
         (static_cast<std::uint64_t>(kRow == 128 ? 1 : 2) << 62);
}

/// Descriptor of an operand that is not swizzled: columns of eight K values are arrays of 16-byte
/// rows, any of which may be the first one; `eighth` bytes lie between two columns.
__device__ __forceinline__ std::uint64_t plain_operand(std::uint32_t address, int eighth) {
  return static_cast<std::uint64_t>((address & 0x3FFFF) >> 4) |
         (static_cast<std::uint64_t>(eighth >> 4) << 16) | (static_cast<std::uint64_t>(8) << 32);
}

/// Byte offset of a 16-byte piece in swizzled rows.
template <int kRow>
__device__ __forceinline__ std::uint32_t swizzled(int row, int piece) {
  return static_cast<std::uint32_t>(
      row * kRow + ((kRow == 128 ? (piece ^ (row & 7)) : (piece ^ ((row >> 1) & 3))) << 4));
}

__device__ __forceinline__ void products_begin() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void products_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kLeft>
__device__ __forceinline__ void products_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}

}  // namespace diarist::backend::cuda::hopper
