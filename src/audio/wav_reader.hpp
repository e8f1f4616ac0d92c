#pragma once
// WAV files with plain samples: exact, and forgiving about the sizes in the header.

#include <memory>

#include "audio/reader.hpp"

namespace diarist::audio {

/// Null when this is no WAV file with plain samples. \throws Error kBadFile for a damaged one.
std::unique_ptr<Reader> open_wav(Bytes& bytes);

}  // namespace diarist::audio
