#include "audio/wav_stream.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "audio/chunk_walk.hpp"
#include "audio/frame_decoder.hpp"
#include "audio/wav_format.hpp"
#include "base/error.hpp"

namespace diarist::audio {
namespace {

constexpr int kMaxChunks = 10000;  // no real file has more

class WavStream final : public Reader {
 public:
  explicit WavStream(Bytes& bytes) : bytes_(bytes), walk_(bytes) {}

  // False when others should try.
  bool open() {
    if (!walk_.open()) return false;
    if (bytes_.seekable() && !walk_.is_wave64()) return false;  // parse_wav() looks ahead
    for (int i = 0; i < kMaxChunks; ++i) {
      const std::optional<ChunkWalk::Chunk> chunk = walk_.next();
      if (!chunk) break;
      if (chunk->id == "fmt " && !format_) {
        std::array<std::byte, kFormatBytes> body{};
        const auto part = std::span(body).first(std::min<std::uint64_t>(chunk->size, body.size()));
        format_ = parse_wav_format(part.first(read_fully(bytes_, chunk->body, part)), bytes_);
        if (!format_) return false;
      } else if (chunk->id == "data") {
        if (!format_) {
          base::fail(ErrorCode::kBadFile,
                     "{}: its format stands behind its samples, which can't be read in order; "
                     "convert it again",
                     bytes_.name());
        }
        decoder_.emplace(format_->encoding, format_->channels);
        begin(*chunk);
        return true;
      }
      if (!walk_.leave(*chunk, chunk->body)) break;
    }
    base::fail(ErrorCode::kBadFile, "{}: is a WAV file without a {} chunk; {}", bytes_.name(),
               format_ ? "data" : "format",
               format_ ? "it was cut off, copy it again" : "it is damaged, convert it again");
  }

  Block next() override {
    while (!ended_) {
      if (left_ == 0 && !find_more()) break;
      std::size_t rest = 0;
      const auto samples = decoder_->read(bytes_, position_, left_, &rest);
      const std::uint64_t taken = samples.size() * decoder_->sample_size() + rest;
      position_ += taken;
      const bool short_read = !decoder_->full(samples) && taken < left_;
      if (!chunk_.open_ended) left_ -= taken;
      if (short_read) end();
      if (!samples.empty()) return {samples, format_->channels, format_->sample_rate};
    }
    return {{}, format_->channels, format_->sample_rate};
  }

  std::int64_t skip(std::int64_t frames) override {
    if (!bytes_.seekable()) return 0;
    const std::int64_t skipped = std::min(frames, expected_frames());
    const std::uint64_t bytes = static_cast<std::uint64_t>(skipped) * decoder_->frame_size();
    position_ += bytes;
    if (!chunk_.open_ended) left_ -= bytes;
    return skipped;
  }

  std::int64_t expected_frames() const noexcept override {
    return static_cast<std::int64_t>(expected_bytes_ / decoder_->frame_size());
  }
  int expected_rate() const noexcept override { return format_->sample_rate; }

 private:
  // At the content of a data chunk.
  void begin(const ChunkWalk::Chunk& chunk) {
    chunk_ = chunk;
    position_ = chunk.body;
    if (chunk.size == 0 && !chunk.open_ended && has_more(chunk.body)) {
      chunk_.open_ended = true;
      warnings_.push_back(fmt::format(
          "{}: the header announces no samples (an unfinished recording?); everything up to the "
          "end is read",
          bytes_.name()));
    }
    left_ = chunk_.open_ended ? std::numeric_limits<std::uint64_t>::max() : chunk_.size;
    announced_ += chunk_.open_ended ? 0 : chunk_.size;
    expected_bytes_ = chunk_.open_ended ? 0 : chunk_.size;
    if (bytes_.seekable()) {
      const std::uint64_t size = bytes_.size();
      expected_bytes_ = std::min(left_, size > position_ ? size - position_ : 0);
    }
  }

  // Whether there is something at `place` that is no chunk.
  bool has_more(std::uint64_t place) {
    std::byte one{};
    return read_fully(bytes_, place, {&one, 1}) == 1 && !walk_.chunk_at(place);
  }

  // Another data chunk behind the one just read.
  bool find_more() {
    for (int i = 0; i < kMaxChunks; ++i) {
      if (!walk_.leave(chunk_, position_)) break;
      const std::optional<ChunkWalk::Chunk> chunk = walk_.next();
      if (!chunk) break;
      chunk_ = *chunk;
      position_ = chunk->body;
      if (chunk->id != "data" || (chunk->size == 0 && !chunk->open_ended)) continue;
      left_ = chunk->open_ended ? std::numeric_limits<std::uint64_t>::max() : chunk->size;
      announced_ += chunk->open_ended ? 0 : chunk->size;
      return true;
    }
    ended_ = true;
    return false;
  }

  // The bytes are at their end, in the middle of a chunk.
  void end() {
    ended_ = true;
    const std::uint64_t frame = decoder_->frame_size();
    if (chunk_.open_ended || left_ < frame) return;
    const auto seconds = [&](std::uint64_t bytes) {
      const std::uint64_t frames = bytes / frame;
      return static_cast<double>(frames) / format_->sample_rate;
    };
    warnings_.push_back(
        fmt::format("{}: is cut off: the header announces {:.2f} s, {:.2f} s are there",
                    bytes_.name(), seconds(announced_), seconds(announced_ - left_)));
  }

  Bytes& bytes_;
  ChunkWalk walk_;
  std::optional<WavFormat> format_;
  std::optional<FrameDecoder> decoder_;
  ChunkWalk::Chunk chunk_;            // data chunk in work
  std::uint64_t position_ = 0;        // of its next byte
  std::uint64_t left_ = 0;            // of its bytes
  std::uint64_t announced_ = 0;       // bytes of samples, of all data chunks so far
  std::uint64_t expected_bytes_ = 0;  // of the first data chunk; 0: not known
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<Reader> open_wav_stream(Bytes& bytes) {
  auto reader = std::make_unique<WavStream>(bytes);
  if (!reader->open()) return nullptr;
  return reader;
}

}  // namespace diarist::audio
