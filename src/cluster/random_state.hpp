#pragma once
// NumPy's legacy RandomState as far as k-means needs it.

#include <cstdint>
#include <random>

namespace diarist::cluster {

/// MT19937 seeded like numpy.random.RandomState(seed); next() is its random_sample().
class RandomState {
 public:
  explicit RandomState(std::uint32_t seed) : engine_(seed) {}
  /// 53 random bits in [0, 1).
  double next() {
    const std::uint32_t high = engine_() >> 5;
    const std::uint32_t low = engine_() >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
  }

 private:
  std::mt19937 engine_;
};

}  // namespace diarist::cluster
