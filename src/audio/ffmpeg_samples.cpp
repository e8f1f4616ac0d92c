#include "audio/ffmpeg_samples.hpp"

extern "C" {
#include <libavutil/frame.h>
#include <libavutil/samplefmt.h>
}

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace diarist::audio {
namespace {

template <typename T>
float one(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<float>(value);
  } else if constexpr (std::is_same_v<T, std::uint8_t>) {
    return static_cast<float>(value - 128) * (1.0F / 128.0F);
  } else {
    constexpr float kScale = sizeof(T) == 2   ? 1.0F / 32768.0F
                             : sizeof(T) == 4 ? 1.0F / 2147483648.0F
                                              : 1.0F / 9223372036854775808.0F;
    return static_cast<float>(value) * kScale;
  }
}

template <typename T>
bool convert(const AVFrame& frame, bool planar, std::vector<float>& out) {
  const auto frames = static_cast<std::size_t>(frame.nb_samples);
  const auto channels = static_cast<std::size_t>(frame.ch_layout.nb_channels);
  out.resize(frames * channels);
  if (!planar) {
    const auto* in = reinterpret_cast<const T*>(frame.extended_data[0]);
    if (in == nullptr) return false;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = one(in[i]);
    return true;
  }
  for (std::size_t c = 0; c < channels; ++c) {
    const auto* in = reinterpret_cast<const T*>(frame.extended_data[c]);
    if (in == nullptr) return false;
    for (std::size_t i = 0; i < frames; ++i) out[i * channels + c] = one(in[i]);
  }
  return true;
}

}  // namespace

bool to_float(const AVFrame& frame, std::vector<float>& out) {
  const auto format = static_cast<AVSampleFormat>(frame.format);
  const bool planar = av_sample_fmt_is_planar(format) == 1;
  switch (av_get_packed_sample_fmt(format)) {
    case AV_SAMPLE_FMT_U8:
      return convert<std::uint8_t>(frame, planar, out);
    case AV_SAMPLE_FMT_S16:
      return convert<std::int16_t>(frame, planar, out);
    case AV_SAMPLE_FMT_S32:
      return convert<std::int32_t>(frame, planar, out);
    case AV_SAMPLE_FMT_S64:
      return convert<std::int64_t>(frame, planar, out);
    case AV_SAMPLE_FMT_FLT:
      return convert<float>(frame, planar, out);
    case AV_SAMPLE_FMT_DBL:
      return convert<double>(frame, planar, out);
    default:
      return false;
  }
}

}  // namespace diarist::audio
