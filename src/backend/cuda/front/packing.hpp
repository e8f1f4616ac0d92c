#pragma once
// Arrays of several types in one block of device memory.

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace diarist::backend::cuda {

/// Host side of a block of weights: arrays one behind the other, each on a multiple of 256 bytes.
class WeightBlock {
 public:
  /// \return where the array begins, in bytes.
  template <typename T>
  std::size_t add(std::span<const T> values) {
    const std::size_t at = (words_.size() * 2 + 255) / 256 * 256;
    words_.resize((at + values.size_bytes() + 1) / 2);
    std::memcpy(reinterpret_cast<std::uint8_t*>(words_.data()) + at, values.data(),
                values.size_bytes());
    return at;
  }
  std::span<const std::uint16_t> words() const noexcept { return words_; }

 private:
  std::vector<std::uint16_t> words_;
};

/// Counts through the arrays of a workspace, each on a multiple of 256 bytes.
class Carving {
 public:
  /// \param base null to count only.
  explicit Carving(std::uint8_t* base) : base_(base) {}
  template <typename T>
  T* take(std::size_t count) {
    const std::size_t at = used_;
    used_ += (count * sizeof(T) + 255) / 256 * 256;
    return base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + at);
  }
  std::size_t used() const noexcept { return used_; }

 private:
  std::uint8_t* base_;
  std::size_t used_ = 0;
};

}  // namespace diarist::backend::cuda
