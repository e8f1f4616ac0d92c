#include "backend/cpu/packed_weights.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstddef>

#include "base/error.hpp"

namespace diarist::backend::cpu {
namespace {

/// Maps of several megabytes are read in many streams at once: with pages of 4 kB every few tiles
/// wait for an address. Only a hint; where the system has no large pages nothing changes.
void prefer_large_pages(void* memory, std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t kPage = std::uintptr_t{2} << 20;
  const auto first = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t start = (first + kPage - 1) / kPage * kPage;
  const std::uintptr_t end = (first + bytes) / kPage * kPage;
  if (start >= end) return;
  madvise(static_cast<std::byte*>(memory) + (start - first), end - start, MADV_HUGEPAGE);
#else
  static_cast<void>(memory);
  static_cast<void>(bytes);
#endif
}

template <typename T>
Aligned<T> allocate(std::int64_t count) {
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(count, 1));
  auto memory = hwy::AllocateAligned<T>(size);
  if (!memory) {
    base::fail(ErrorCode::kOutOfMemory,
               "no memory for {} MB of CPU workspace or weights: use a smaller batch or fewer "
               "threads",
               size * sizeof(T) / 1000000 + 1);
  }
  prefer_large_pages(memory.get(), size * sizeof(T));
  return memory;
}

}  // namespace

Aligned<float> allocate_floats(std::int64_t count) { return allocate<float>(count); }
Aligned<double> allocate_doubles(std::int64_t count) { return allocate<double>(count); }
Aligned<std::uint16_t> allocate_bf16(std::int64_t count) { return allocate<std::uint16_t>(count); }

PackedWeights::PackedWeights(const GemmKernels& kernels, int columns, int taps, int depth,
                             const std::function<float(int, int, int)>& weight,
                             const std::function<float(int)>& bias)
    : columns_(columns),
      taps_(taps),
      depth_(depth),
      blocks_((columns + kernels.block - 1) / kernels.block) {
  const int lanes = kernels.lanes;
  const int padded = (columns + lanes - 1) / lanes * lanes;
  floats_ = static_cast<std::int64_t>(padded) * taps * depth;
  weights_ = allocate_floats(floats_);
  bias_ = allocate_floats(static_cast<std::int64_t>(blocks_) * kernels.block);
  for (int c = 0; c < blocks_ * kernels.block; ++c) bias_[c] = c < columns ? bias(c) : 0.0F;
  float* to = weights_.get();
  for (int first = 0; first < columns; first += kernels.block) {
    const int width = std::min(kernels.block, padded - first);
    for (int tap = 0; tap < taps; ++tap) {
      for (int k = 0; k < depth; ++k) {
        for (int c = first; c < first + width; ++c) *to++ = c < columns ? weight(c, tap, k) : 0.0F;
      }
    }
  }
}

Gemm PackedWeights::gemm() const {
  Gemm gemm;
  gemm.weights = weights_.get();
  gemm.bias = bias_.get();
  gemm.columns = columns_;
  gemm.depth = depth_;
  gemm.all_taps = taps_;
  gemm.taps = taps_;
  return gemm;
}

}  // namespace diarist::backend::cpu
