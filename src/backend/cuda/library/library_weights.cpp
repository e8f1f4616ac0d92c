#include "backend/cuda/library/library_weights.hpp"

#include <cuda_fp16.h>

#include <cmath>
#include <cstring>

#include "base/error.hpp"

namespace diarist::backend::cuda {

std::vector<float> pack_library_weights(std::span<const float> weight, int cout, int cin,
                                        int taps) {
  const auto outputs = static_cast<std::size_t>(cout), inputs = static_cast<std::size_t>(cin),
             places = static_cast<std::size_t>(taps);
  if (weight.size() != outputs * inputs * places)
    base::fail(ErrorCode::kInternal, "weights of {} numbers, {} x {} x {} expected", weight.size(),
               cout, cin, taps);
  std::vector<float> packed(weight.size());
  for (std::size_t o = 0; o < outputs; ++o)
    for (std::size_t c = 0; c < inputs; ++c)
      for (std::size_t tap = 0; tap < places; ++tap)
        packed[(o * places + tap) * inputs + c] = weight[(o * inputs + c) * places + tap];
  return packed;
}

std::vector<std::uint16_t> to_library_halves(std::span<const float> values,
                                             const std::string& what) {
  constexpr float kLargest = 65504;
  std::vector<std::uint16_t> halves;
  halves.reserve(values.size());
  for (const float value : values) {
    if (!(std::fabs(value) <= kLargest))
      base::fail(ErrorCode::kUnsupported,
                 "{}: {} is beyond the range of a half; use --precision exact", what, value);
    const __half half = __float2half_rn(value);
    std::uint16_t bits = 0;
    std::memcpy(&bits, &half, sizeof(bits));
    halves.push_back(bits);
  }
  return halves;
}

}  // namespace diarist::backend::cuda
