#include "audio/reader.hpp"

#include <array>
#include <string_view>

#include "audio/ffmpeg_reader.hpp"
#include "audio/frame_decoder.hpp"
#include "audio/raw_reader.hpp"
#include "audio/sndfile_reader.hpp"
#include "audio/wav_format.hpp"
#include "audio/wav_reader.hpp"
#include "audio/wav_stream.hpp"
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
  read_fully(bytes, 0, head);
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

// MP4 and MOV: the index may stand behind the samples, as recorders write it, and can't be had from
// a pipe in time.
bool has_index_first(Bytes& bytes) {
  std::uint64_t at = 0;
  std::array<std::byte, 16> head{};
  while (read_fully(bytes, at, head) == head.size()) {
    const std::string_view name(reinterpret_cast<const char*>(head.data()) + 4, 4);
    if (name == "moov") return true;
    std::uint64_t size = 0;  // big endian
    for (std::size_t i = 0; i < 4; ++i) size = size << 8 | std::to_integer<std::uint64_t>(head[i]);
    constexpr std::uint64_t kMostHeader = 1 << 16;
    if (name == "mdat" || size < 8 || at + size > kMostHeader) return false;
    std::vector<std::byte> body(size);
    if (read_fully(bytes, at, body) != size) return false;
    at += size;
  }
  return false;
}

// Formats of one sound track whose only clock is that of their samples.
std::unique_ptr<Reader> single_track(std::unique_ptr<Reader> reader, const Bytes& bytes,
                                     const AudioOptions& options) {
  if (options.track > 1) {
    base::fail(ErrorCode::kBadFile, "{}: has one sound track, no number {}", bytes.name(),
               options.track);
  }
  return reader;
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

bool needs_seeking(Bytes& bytes) {
  std::array<std::byte, 12> head{};
  read_fully(bytes, 0, head);
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  const std::string_view form = text.substr(0, 4);
  const bool wave = form == "RIFF" || form == "RF64" || form == "BW64" || form == "riff";
  if (ffmpeg_version().empty()) return !wave;  // libsndfile goes back and forth
  if (text.substr(4, 4) == "ftyp") return !has_index_first(bytes);
  return text.substr(4, 4) == "mdat" || text.substr(4, 4) == "wide" || form == "FORM" ||
         form == "caff";
}

std::unique_ptr<Reader> open_reader(Bytes& bytes, const AudioOptions& options) {
  const auto single = [&](std::unique_ptr<Reader> reader) {
    return single_track(std::move(reader), bytes, options);
  };
  if (options.raw) return single(open_raw(bytes, *options.raw));
  std::string sndfile_reason;
  std::string ffmpeg_reason;
  if (auto reader = open_wav_stream(bytes)) return single(std::move(reader));
  if (auto reader = open_wav(bytes)) return single(std::move(reader));
  const Kind kind = kind_of(bytes);
  if (kind == Kind::kOther) {
    if (auto reader = open_sndfile(bytes, &sndfile_reason)) return single(std::move(reader));
  }
  if (auto reader = open_ffmpeg(bytes, options, &ffmpeg_reason)) return reader;
  if (kind == Kind::kLossyStream) {
    if (options.container_clock && ffmpeg_version().empty()) {
      base::fail(ErrorCode::kUnsupported,
                 "{}: following the container's clock needs FFmpeg, which this build of diarist "
                 "lacks; leave that option out",
                 bytes.name());
    }
    if (auto reader = open_sndfile(bytes, &sndfile_reason)) return single(std::move(reader));
  }
  while (sndfile_reason.ends_with('.')) sndfile_reason.pop_back();
  fail_unknown(bytes, kind, sndfile_reason, ffmpeg_reason);
}

}  // namespace diarist::audio
