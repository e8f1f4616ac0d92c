#pragma once
// Where the intermediate maps of a pass lie.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "backend/cuda/memory.hpp"

namespace diarist::backend::cuda {

/// A map's bytes and the steps during which it must not be overwritten.
struct Lifetime {
  std::size_t bytes = 0;  // 0: not in memory
  int first = 0, last = 0;
};

struct Placement {
  std::vector<std::size_t> offsets;  // by map
  std::size_t bytes = 0;             // of all
};

/// Lowest free place for every map, in the order of their first steps; multiples of 1024 bytes.
/// A map that is read in a step and one that is written in it never share bytes.
Placement place_maps(std::span<const Lifetime> maps);

/// One block of device memory for all batch classes of a program, since they run one after the
/// other. Growing waits for the stream (queued work may still use the old block), then raises the
/// generation: whoever remembers addresses (recorded graphs, tensor maps) looks at it first.
class ActivationStore {
 public:
  explicit ActivationStore(int device) : device_(device) {}
  /// \param stream on which all work that uses the block is queued.
  /// \throws Error kOutOfMemory; the old block is gone then, and the next call starts anew.
  void reserve(std::size_t bytes, cudaStream_t stream);
  std::byte* data() const noexcept { return memory_.as<std::byte>(); }
  std::size_t bytes() const noexcept { return memory_.bytes(); }
  std::uint64_t generation() const noexcept { return generation_; }

 private:
  int device_;
  DeviceMemory memory_;
  std::uint64_t generation_ = 0;
};

}  // namespace diarist::backend::cuda
