#include "audio/reader.hpp"

#include <array>
#include <string_view>

#include "audio/ffmpeg_reader.hpp"
#include "audio/sndfile_reader.hpp"
#include "audio/wav_reader.hpp"
#include "base/error.hpp"

namespace diarist::audio {
namespace {

enum class Kind {
  kOther,
  kLossyStream,  // MP3, Ogg: FFmpeg goes on behind damage and into chained streams, libsndfile
                 // stops
  kContainer,    // only FFmpeg knows these
};

Kind kind_of(Bytes& bytes) {
  std::array<std::byte, 16> head{};
  bytes.read_at(0, head);
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  const auto byte = [&](std::size_t i) { return std::to_integer<unsigned>(head[i]); };
  if (text.starts_with("OggS") || text.starts_with("ID3")) return Kind::kLossyStream;
  if (byte(0) == 0xff && (byte(1) & 0xe0) == 0xe0) return Kind::kLossyStream;  // MPEG sync
  if (text.substr(4, 4) == "ftyp" || text.substr(4, 4) == "moov") return Kind::kContainer;
  if (text.starts_with("\x1a\x45\xdf\xa3")) return Kind::kContainer;  // Matroska, WebM
  if (text.starts_with("\x30\x26\xb2\x75")) return Kind::kContainer;  // ASF: wma, wmv
  if (text.starts_with("RIFF") && text.substr(8, 3) == "AVI") return Kind::kContainer;
  return Kind::kOther;
}

[[noreturn]] void fail_unknown(const Bytes& bytes, Kind kind, const std::string& sndfile_reason,
                               const std::string& ffmpeg_reason) {
  if (ffmpeg_version().empty()) {
    if (kind == Kind::kContainer || !bytes.seekable()) {
      base::fail(ErrorCode::kUnsupported,
                 "{}: reading it needs FFmpeg, which this build of diarist lacks; build with "
                 "FFmpeg's libraries or convert it to WAV or FLAC",
                 bytes.name());
    }
    base::fail(ErrorCode::kBadFile,
               "{}: isn't audio that libsndfile can read ({}), and this build of diarist has no "
               "FFmpeg; convert it to WAV or FLAC",
               bytes.name(), sndfile_reason);
  }
  if (ffmpeg_reason == "no sound track") {
    base::fail(ErrorCode::kBadFile, "{}: has no sound track; give a recording with sound",
               bytes.name());
  }
  if (kind == Kind::kContainer) {
    base::fail(ErrorCode::kBadFile,
               "{}: is damaged or was cut off (FFmpeg: {}); copy or convert it again", bytes.name(),
               ffmpeg_reason);
  }
  base::fail(ErrorCode::kBadFile,
             "{}: isn't audio, or is damaged (FFmpeg: {}{}{}); give a recording, e.g. WAV or FLAC",
             bytes.name(), ffmpeg_reason,
             sndfile_reason.empty() ? "" : "; libsndfile: ", sndfile_reason);
}

}  // namespace

void check_format(const Bytes& bytes, std::int64_t sample_rate, std::int64_t channels) {
  if (sample_rate < kMinSampleRate || sample_rate > kMaxSampleRate) {
    base::fail(ErrorCode::kBadFile,
               "{}: claims {} samples per second, which no recording has; convert it again",
               bytes.name(), sample_rate);
  }
  if (channels < 1 || channels > kMaxChannels) {
    base::fail(ErrorCode::kBadFile,
               "{}: claims {} channels (1 to {} can be read); convert it again", bytes.name(),
               channels, kMaxChannels);
  }
}

std::unique_ptr<Reader> open_reader(Bytes& bytes) {
  std::string sndfile_reason;
  std::string ffmpeg_reason;
  Kind kind = Kind::kOther;
  if (bytes.seekable()) {
    if (auto reader = open_wav(bytes)) return reader;
    kind = kind_of(bytes);
    if (kind == Kind::kOther) {
      if (auto reader = open_sndfile(bytes, &sndfile_reason)) return reader;
    }
  }
  if (auto reader = open_ffmpeg(bytes, &ffmpeg_reason)) return reader;
  if (kind == Kind::kLossyStream) {
    if (auto reader = open_sndfile(bytes, &sndfile_reason)) return reader;
  }
  while (sndfile_reason.ends_with('.')) sndfile_reason.pop_back();
  fail_unknown(bytes, kind, sndfile_reason, ffmpeg_reason);
}

}  // namespace diarist::audio
