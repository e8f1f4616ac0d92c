#pragma once
// Page-locked host memory for copies that a device makes by itself.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace diarist::backend::cuda {

/// Page-locked numbers that a device writes and the host reads after waiting.
template <typename T>
using PinnedWords = std::unique_ptr<T[], void (*)(void*)>;

/// `count` of them, all `value`. \throws Error kOutOfMemory.
template <typename T>
PinnedWords<T> make_pinned_words(int device, std::size_t count, T value);

/// Blocks of page-locked memory, each used by one copy at a time. Grows until the copies under way
/// have blocks of their own; then it allocates nothing more. Used by one thread at a time.
class PinnedPool {
 public:
  struct Block {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    cudaEvent_t released = nullptr;  // the last copy from it is behind this
    bool held = false;               // by the host: a download that was not collected yet
  };

  explicit PinnedPool(int device) : device_(device) {}
  ~PinnedPool();
  PinnedPool(const PinnedPool&) = delete;
  PinnedPool& operator=(const PinnedPool&) = delete;

  /// A block of at least so many bytes that nobody uses. Stays valid until the pool dies.
  /// \throws Error kOutOfMemory.
  Block& take(std::size_t bytes);

 private:
  int device_;
  std::vector<std::unique_ptr<Block>> blocks_;
};

}  // namespace diarist::backend::cuda
