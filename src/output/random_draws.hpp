#pragma once
// Random numbers that anybody can repeat: docs/scoring.md.

#include <cstdint>

namespace diarist::output {

/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
class RandomDraws {
 public:
  explicit RandomDraws(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t bits() noexcept {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }

  /// One of 0 ... count - 1: the upper half of the bits, times count, shifted down.
  /// \param count 1 to 2^32 - 1.
  std::uint64_t below(std::uint64_t count) noexcept { return ((bits() >> 32) * count) >> 32; }

 private:
  std::uint64_t state_;
};

}  // namespace diarist::output
