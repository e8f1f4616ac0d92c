#include "audio/downmix.hpp"

#include <cstddef>

namespace diarist::audio {

void downmix(std::span<const float> samples, int channels, std::vector<float>& mono) {
  if (channels == 1) {
    mono.assign(samples.begin(), samples.end());
    return;
  }
  const auto width = static_cast<std::size_t>(channels);
  const auto count = static_cast<float>(channels);
  mono.resize(samples.size() / width);
  const float* frame = samples.data();
  for (float& value : mono) {
    float sum = frame[0];
    for (std::size_t c = 1; c < width; ++c) sum += frame[c];
    value = sum / count;
    frame += width;
  }
}

}  // namespace diarist::audio
