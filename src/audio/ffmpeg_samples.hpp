#pragma once
// Decoded FFmpeg frames as interleaved floats.

#include <vector>

struct AVFrame;

namespace diarist::audio {

/// Integers become value / 2^(bits-1) (unsigned 8 bit: (value - 128) / 128); floats are passed on.
/// `out` is overwritten with nb_samples * channels values. False for a sample format not known here
/// or a frame that lacks planes. (libswresample would do the same, but in ways that depend on the
/// processor.)
bool to_float(const AVFrame& frame, std::vector<float>& out);

}  // namespace diarist::audio
