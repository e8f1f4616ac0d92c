#pragma once
// Warp-level tensor-core instructions that exist from sm_75 on, and asynchronous copies (sm_80 on;
// plain loads and stores before).

#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>

namespace diarist::backend::cuda {

__device__ __forceinline__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// Copies 16 bytes to shared memory, or writes zeros when `valid` is false (the source is not
/// read).
__device__ __forceinline__ void copy_16(std::uint32_t target, const void* source, bool valid) {
#if __CUDA_ARCH__ >= 800
  const int bytes = valid ? 16 : 0;
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(target), "l"(source),
               "r"(bytes)
               : "memory");
#else
  uint4 value = make_uint4(0, 0, 0, 0);
  if (valid) value = __ldg(static_cast<const uint4*>(source));
  asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(target), "r"(value.x), "r"(value.y),
               "r"(value.z), "r"(value.w)
               : "memory");
#endif
}

__device__ __forceinline__ void commit_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits until at most `kPending` committed groups are still under way.
template <int kPending>
__device__ __forceinline__ void wait_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
#endif
}

/// Brings the line of an address into L2, without waiting.
__device__ __forceinline__ void prefetch_line(const void* address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}

/// Four 8x8 matrices of halves; lane l gives the address of row l%8 of matrix l/8.
__device__ __forceinline__ void load_matrices(std::uint32_t address, std::uint32_t (&r)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

/// Two values as halves in one word, the first one low.
__device__ __forceinline__ std::uint32_t packed_halves(float first, float second) {
  const __half2 pair = __floats2half2_rn(first, second);
  std::uint32_t word = 0;
  std::memcpy(&word, &pair, sizeof(word));
  return word;
}

__device__ __forceinline__ float2 unpacked_halves(std::uint32_t word) {
  __half2 pair;
  std::memcpy(&pair, &word, sizeof(word));
  return __half22float2(pair);
}

/// Both halves of a word clamped to the finite range; NaN becomes the largest half.
__device__ __forceinline__ std::uint32_t clamped_halves(std::uint32_t word) {
#if __CUDA_ARCH__ >= 800
  asm("min.f16x2 %0, %0, %1;" : "+r"(word) : "r"(0x7BFF7BFFU));
  asm("max.f16x2 %0, %0, %1;" : "+r"(word) : "r"(0xFBFFFBFFU));
#else
  if ((word & 0x7FFFU) > 0x7BFFU) word = (word & 0xFFFF8000U) | 0x7BFFU;
  if ((word & 0x7FFF0000U) > 0x7BFF0000U) word = (word & 0x8000FFFFU) | 0x7BFF0000U;
#endif
  return word;
}

/// Notices halves that are infinite or not a number.
class RangeWatch {
 public:
  __device__ __forceinline__ void see(std::uint32_t word) {
#if __CUDA_ARCH__ >= 800
    asm("abs.f16x2 %0, %0;" : "+r"(word));
    asm("max.NaN.f16x2 %0, %0, %1;" : "+r"(seen_) : "r"(word));
#else
    // The sum reaches the sign bit of a half from the exponent of infinity on.
    seen_ |= ((word & 0x7FFF7FFFU) + 0x04000400U) & 0x80008000U;
#endif
  }
  __device__ __forceinline__ bool overflowed() const {
#if __CUDA_ARCH__ >= 800
    return (seen_ & 0x7FFFU) > 0x7BFFU || (seen_ & 0x7FFF0000U) > 0x7BFF0000U;
#else
    return seen_ != 0;
#endif
  }

 private:
  std::uint32_t seen_ = 0;
};

/// d += a b, 16x8x16, halves with FP32 accumulation.
__device__ __forceinline__ void multiply_add(float (&d)[4], const std::uint32_t (&a)[4],
                                             std::uint32_t b0, std::uint32_t b1) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  // Turing has half the depth: two steps in the same order.
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b0));
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[2]), "r"(a[3]), "r"(b1));
#endif
}

}  // namespace diarist::backend::cuda
