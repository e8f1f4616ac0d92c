#pragma once
// WAV and RF64 from pipes, and Sony Wave64 from anywhere: chunk after chunk, never back.

#include <memory>

#include "audio/reader.hpp"

namespace diarist::audio {

/// Null when this is none of them or its samples are not plain numbers; the bytes at the start must
/// then still be there for others. The sizes of files that a program wrote to a pipe (0,
/// 0xFFFFFFFF,
/// ...) reach to the end. \throws Error kBadFile for a damaged file, and for one whose format
/// stands behind its samples.
std::unique_ptr<Reader> open_wav_stream(Bytes& bytes);

}  // namespace diarist::audio
