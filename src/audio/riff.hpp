#pragma once
// The layout of a WAV file: RIFF, RF64 and BW64, as they occur in the wild.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "audio/bytes.hpp"
#include "audio/wav_format.hpp"

namespace diarist::audio {

/// A stretch of sample data inside the file, in bytes; always inside it, always whole frames.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

struct WavLayout {
  WavFormat format;
  std::vector<Extent> data;  ///< in file order; empty for a file without samples
  std::vector<std::string> warnings;
};

/// Reads the chunk headers. Sizes are believed only where the file agrees with them: a program that
/// writes to a pipe leaves 0, 0xFFFFFFFF or another placeholder as the size of its data, which then
/// reach to the end of the file. Returns nothing when this is no WAV file, or one whose samples are
/// not plain numbers (ADPCM, MP3, ...). \throws Error kBadFile for a damaged WAV file.
std::optional<WavLayout> parse_wav(Bytes& bytes);

}  // namespace diarist::audio
