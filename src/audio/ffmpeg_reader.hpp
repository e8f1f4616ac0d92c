#pragma once
// Everything else through FFmpeg's libraries: m4a, mp4, mkv, webm, wma, ...

#include <memory>
#include <string>

#include "audio/reader.hpp"

namespace diarist::audio {

/// Null, with FFmpeg's reason, when it does not know the file or finds no sound in it.
/// \throws Error kUnsupported (codec missing from this FFmpeg), kBadFile (nothing decodable).
std::unique_ptr<Reader> open_ffmpeg(Bytes& bytes, std::string* reason);

/// "FFmpeg 59.37.100" (libavcodec's version), or nothing for a build without it.
std::string ffmpeg_version();

}  // namespace diarist::audio
