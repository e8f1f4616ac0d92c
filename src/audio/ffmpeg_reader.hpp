#pragma once
// Everything else through FFmpeg's libraries: m4a, mp4, mkv, webm, wma, ...

#include <memory>
#include <string>

#include "audio/reader.hpp"

namespace diarist::audio {

/// Null, with FFmpeg's reason, when it does not know the file or finds no sound in it.
/// Track and clock are taken from the options. \throws Error kUnsupported (codec missing from this
/// FFmpeg), kBadFile (nothing decodable, or no such track: the text lists those there are).
std::unique_ptr<Reader> open_ffmpeg(Bytes& bytes, const AudioOptions& options, std::string* reason);

/// "FFmpeg 59.37.100" (libavcodec's version), or nothing for a build without it.
std::string ffmpeg_version();

}  // namespace diarist::audio
