#pragma once
// What the allocator keeps, and arrays too large for its usual pages.

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace diarist::base {

/// Gives freed memory that the allocator still holds back to the system, where it can be asked to
/// (glibc): medium-sized blocks otherwise stay resident although nobody uses them.
void return_free_memory() noexcept;

struct FreeMemory {
  void operator()(void* memory) const noexcept { std::free(memory); }
};

template <typename T>
using LargeArray = std::unique_ptr<T[], FreeMemory>;

/// Memory in large pages where the system offers them (Linux): jumping about in it then misses the
/// page tables less often, and there are fewer pages to map. Not initialised.
/// \throws std::bad_alloc.
void* large_memory(std::size_t bytes);

template <typename T>
LargeArray<T> large_array(std::size_t count) {
  static_assert(std::is_trivially_default_constructible_v<T> &&
                std::is_trivially_destructible_v<T>);
  return LargeArray<T>(static_cast<T*>(large_memory(count * sizeof(T))));
}

}  // namespace diarist::base
