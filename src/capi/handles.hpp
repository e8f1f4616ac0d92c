#pragma once
// Handles of the C interface: numbers that are never used twice, so that one that was destroyed is
// an error and not somebody else's memory.

#include <cstdint>
#include <memory>
#include <utility>

#include "diarist/diarist.h"

namespace diarist::capi {

enum class HandleKind { kDiarizer, kEmbedder, kResult, kStop, kStream, kVoices };

std::uintptr_t add_handle(HandleKind kind, std::shared_ptr<void> object);
/// \throws Error kInvalidArgument for null, a destroyed handle and one of another kind.
std::shared_ptr<void> find_handle(HandleKind kind, std::uintptr_t handle);
/// Nothing for null. The object dies with the last call that uses it. \throws as find_handle().
void drop_handle(HandleKind kind, std::uintptr_t handle);
std::size_t count_handles();

/// Handles of one type of C, which stand for objects of one type of C++.
template <HandleKind kKind, typename Handle, typename Object>
struct Handles {
  static Handle* add(std::shared_ptr<Object> object) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): never dereferenced.
    return reinterpret_cast<Handle*>(add_handle(kKind, std::move(object)));
  }
  /// The object, alive as long as the caller holds it.
  static std::shared_ptr<Object> get(Handle* handle) {
    return std::static_pointer_cast<Object>(
        find_handle(kKind, reinterpret_cast<std::uintptr_t>(handle)));
  }
  static void drop(Handle* handle) { drop_handle(kKind, reinterpret_cast<std::uintptr_t>(handle)); }
};

}  // namespace diarist::capi
