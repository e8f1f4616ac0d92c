#pragma once
// Several channels to one.

#include <span>
#include <vector>

namespace diarist::audio {

/// Arithmetic mean over the channels of interleaved samples, in single precision: channels are
/// added in their order, the sum is divided by their number. One channel passes unchanged. `mono`
/// is overwritten; it gets samples.size() / channels values.
void downmix(std::span<const float> samples, int channels, std::vector<float>& mono);

}  // namespace diarist::audio
