#include "backend/cuda/pinned_pool.hpp"

#include <algorithm>

#include "backend/cuda/check.hpp"
#include "backend/cuda/memory.hpp"

namespace diarist::backend::cuda {
namespace {

// Small copies would otherwise each ask for a block of their own size.
constexpr std::size_t kLeastBytes = std::size_t{1} << 16;

std::size_t rounded(std::size_t bytes) {
  std::size_t size = kLeastBytes;
  while (size < bytes) size += size / 2 & ~std::size_t{4095};
  return size;
}

}  // namespace

template <typename T>
PinnedWords<T> make_pinned_words(int device, std::size_t count, T value) {
  const DeviceGuard guard(device);
  void* words = nullptr;
  check(cudaMallocHost(&words, count * sizeof(T)), "page-locked host memory");
  std::fill_n(static_cast<T*>(words), count, value);
  return {static_cast<T*>(words), [](void* made) { cudaFreeHost(made); }};
}
template PinnedWords<std::uint32_t> make_pinned_words(int, std::size_t, std::uint32_t);
template PinnedWords<unsigned long long> make_pinned_words(int, std::size_t, unsigned long long);

PinnedPool::~PinnedPool() {
  for (const std::unique_ptr<Block>& block : blocks_) {
    if (block->released != nullptr) cudaEventDestroy(block->released);
    if (block->data != nullptr) cudaFreeHost(block->data);
  }
}

PinnedPool::Block& PinnedPool::take(std::size_t bytes) {
  Block* best = nullptr;
  for (const std::unique_ptr<Block>& block : blocks_) {
    if (block->held || block->bytes < bytes || (best != nullptr && best->bytes <= block->bytes))
      continue;
    if (cudaEventQuery(block->released) == cudaSuccess) best = block.get();
  }
  cudaGetLastError();  // "not ready" is no error here
  if (best != nullptr) return *best;
  auto block = std::make_unique<Block>();
  void* data = nullptr;
  block->bytes = rounded(bytes);
  check(cudaHostAlloc(&data, block->bytes, cudaHostAllocPortable), "page-locked host memory");
  block->data = static_cast<std::byte*>(data);
  blocks_.push_back(std::move(block));
  check(cudaEventCreateWithFlags(&blocks_.back()->released, cudaEventDisableTiming), "event");
  return *blocks_.back();
}

}  // namespace diarist::backend::cuda
