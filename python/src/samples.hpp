#pragma once
// Arrays of Python as audio, without a copy where their layout allows it.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "diarist/audio.hpp"

namespace diarist::python {

/// Any array on the host: NumPy's, torch's, array.array, whatever speaks DLPack or buffers.
using AnyArray = nanobind::ndarray<nanobind::ro, nanobind::device::cpu>;

/// Audio out of an array of shape [samples], [channels, samples] or [samples, channels]. The array
/// is kept alive.
class Samples {
 public:
  /// \param channels_first unset: the shorter side of a matrix is the channels.
  /// \throws Error kInvalidArgument for shapes, types and rates that are no audio.
  Samples(AnyArray array, int sample_rate, std::optional<bool> channels_first);

  const AudioView& view() const noexcept { return view_; }

 private:
  AnyArray array_;
  std::vector<float> floats_;
  std::vector<std::int16_t> shorts_;
  AudioView view_;
};

/// The numbers of a contiguous array of float32. \throws Error kInvalidArgument for another.
std::span<const float> floats_of(const AnyArray& array, const char* name);

}  // namespace diarist::python
