#pragma once
// Weights as the library reads them: [cout][frequency tap][time tap][cin], unscaled; halves in fast
// mode, f32 otherwise. Biases have the type of the maps.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace diarist::backend::cuda {

/// \param weight [cout, cin, k, k] f32, `taps` = k * k.
std::vector<float> pack_library_weights(std::span<const float> weight, int cout, int cin, int taps);

/// Rounded to the nearest half, as bits.
/// \throws Error kUnsupported when a number is beyond the range of a half. \param what is named.
std::vector<std::uint16_t> to_library_halves(std::span<const float> values,
                                             const std::string& what);

}  // namespace diarist::backend::cuda
