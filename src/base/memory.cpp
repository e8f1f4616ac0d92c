#include "base/memory.hpp"

#include <algorithm>
#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace diarist::base {

void return_free_memory() noexcept {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

void* large_memory(std::size_t bytes) {
  constexpr std::size_t kLargePage = std::size_t{2} << 20;
  void* memory = nullptr;
  if (bytes < 4 * kLargePage) {
    memory = std::malloc(std::max<std::size_t>(bytes, 1));
  } else {
    const std::size_t whole = (bytes + kLargePage - 1) / kLargePage * kLargePage;
    memory = std::aligned_alloc(kLargePage, whole);
#ifdef MADV_HUGEPAGE
    if (memory != nullptr) madvise(memory, whole, MADV_HUGEPAGE);  // a wish, it may be refused
#endif
  }
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace diarist::base
