#pragma once
// Samples without a header.

#include <memory>

#include "audio/reader.hpp"
#include "diarist/audio.hpp"

namespace diarist::audio {

/// Rate and channels are within what can be read.
bool is_possible(const RawFormat& raw);

/// Reads all bytes, seekable or not, as samples. A frame that is cut off at the end is reported.
std::unique_ptr<Reader> open_raw(Bytes& bytes, const RawFormat& raw);

}  // namespace diarist::audio
