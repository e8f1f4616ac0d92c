#pragma once
// Files that libsndfile knows: FLAC, Ogg, Opus, AIFF, W64, AU, ADPCM in WAV, MP3, ...

#include <memory>
#include <string>

#include "audio/reader.hpp"

namespace diarist::audio {

/// Null, with libsndfile's reason, when it does not know the file or can't open it.
std::unique_ptr<Reader> open_sndfile(Bytes& bytes, std::string* reason);

/// "libsndfile 1.2.0"
std::string sndfile_version();

}  // namespace diarist::audio
