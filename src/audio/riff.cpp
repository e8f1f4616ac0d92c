#include "audio/riff.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "audio/chunk_walk.hpp"
#include "base/error.hpp"

namespace diarist::audio {
namespace {

constexpr std::uint64_t kChunkHeader = 8;
constexpr int kMaxChunks = 10000;  // no real file has more; keeps opening cheap
constexpr std::uint32_t kUnknownSize = 0xFFFFFFFF;

struct Chunk {
  std::array<char, 4> id{};
  std::uint32_t size = 0;
  std::uint64_t body = 0;  // offset of the content
  bool is(std::string_view name) const { return std::string_view(id.data(), 4) == name; }
};

class Parser {
 public:
  explicit Parser(Bytes& bytes) : bytes_(bytes) {}

  std::optional<WavLayout> parse() {
    std::array<std::byte, 12> head{};
    if (bytes_.read_at(0, head) != head.size()) return std::nullopt;
    const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
    if (text.substr(8) != "WAVE") return std::nullopt;
    const std::string_view form = text.substr(0, 4);
    if (form != "RIFF" && form != "RF64" && form != "BW64") return std::nullopt;
    wide_ = form != "RIFF";
    if (!walk()) return std::nullopt;
    return layout_;
  }

 private:
  // Header at `at`, when it is inside the file and its name looks like one.
  std::optional<Chunk> chunk_at(std::uint64_t at) {
    std::array<std::byte, kChunkHeader> head{};
    if (at >= bytes_.size() || bytes_.size() - at < kChunkHeader) return std::nullopt;
    if (bytes_.read_at(at, head) != head.size()) return std::nullopt;
    Chunk chunk;
    std::memcpy(chunk.id.data(), head.data(), 4);
    for (const char c : chunk.id) {
      if (c < 0x20 || c > 0x7e) return std::nullopt;
    }
    chunk.size = static_cast<std::uint32_t>(little_endian(head, 4, 4));
    chunk.body = at + kChunkHeader;
    return chunk;
  }

  std::uint64_t left(std::uint64_t at) const { return at < bytes_.size() ? bytes_.size() - at : 0; }

  // Chunks of odd size have a padding byte, which some writers forget. It should be zero, which no
  // name of a chunk begins with.
  std::uint64_t after(std::uint64_t body, std::uint64_t size) {
    const std::uint64_t end = body + size;
    return size % 2 == 0 || (!fits(end) && fits(end + 1)) || !chunk_at(end) ? end + size % 2 : end;
  }

  // Whether a chunk that the file has room for may begin at `at`.
  bool fits(std::uint64_t at) {
    const std::optional<Chunk> chunk = chunk_at(at);
    return chunk && (chunk->is("data") || chunk->size <= left(chunk->body));
  }

  // Whether [at, end of file) is a chain of chunks and nothing else.
  bool is_chain(std::uint64_t at) {
    for (int i = 0; i < kMaxChunks; ++i) {
      if (left(at) <= 1) return true;
      const std::optional<Chunk> chunk = chunk_at(at);
      if (!chunk || chunk->size > left(chunk->body)) return false;
      at = after(chunk->body, chunk->size);
    }
    return false;
  }

  bool walk() {
    std::uint64_t at = 12;
    std::optional<std::uint64_t> wide_size;  // of the data chunk, from ds64
    for (int i = 0; i < kMaxChunks; ++i) {
      const std::optional<Chunk> chunk = chunk_at(at);
      if (!chunk) break;
      std::uint64_t size = chunk->size;
      if (chunk->is("fmt ")) {
        if (!format_ && !read_format(*chunk)) return false;
      } else if (chunk->is("ds64") && wide_ && size >= 16) {
        std::array<std::byte, 16> body{};
        if (bytes_.read_at(chunk->body, body) == body.size()) wide_size = little_endian(body, 8, 8);
      } else if (chunk->is("data")) {
        size = data_size(*chunk, wide_size);
        pending_.push_back({chunk->body, size});
        has_data_ = true;
      }
      if (size > left(chunk->body)) break;
      at = after(chunk->body, size);
    }
    if (!format_) {
      base::fail(ErrorCode::kBadFile,
                 "{}: is a WAV file without a format chunk; it is damaged, convert it again",
                 bytes_.name());
    }
    if (!has_data_) {
      base::fail(ErrorCode::kBadFile,
                 "{}: is a WAV file without a data chunk; it was cut off, copy it again",
                 bytes_.name());
    }
    return finish();
  }

  // False: samples that are not plain numbers.
  bool read_format(const Chunk& chunk) {
    std::array<std::byte, kFormatBytes> body{};
    const auto part = std::span(body).first(std::min<std::size_t>(chunk.size, body.size()));
    const std::size_t got = bytes_.read_at(chunk.body, part);
    format_ = parse_wav_format(part.first(got), bytes_);
    if (format_) layout_.format = *format_;
    return format_.has_value();
  }

  // Bytes that really belong to a data chunk; may be more than the file has when it is truncated.
  std::uint64_t data_size(const Chunk& chunk, const std::optional<std::uint64_t>& wide_size) {
    const std::uint64_t available = left(chunk.body);
    std::uint64_t size = chunk.size;
    if (wide_ && chunk.size == kUnknownSize) {
      size = wide_size.value_or(0);
      if (size > kLargestSize) size = 0;  // -1 or damage
    }
    if (size == 0 && available > 0 && !is_chain(chunk.body)) {
      if (!(wide_ && chunk.size == kUnknownSize)) {
        layout_.warnings.push_back(
            fmt::format("{}: the header announces no samples (an unfinished recording?); "
                        "everything up to the end of the file is read",
                        bytes_.name()));
      }
      return available;
    }
    if (size > available && !wide_ && is_placeholder(size)) return available;
    constexpr std::uint64_t kWrap = std::uint64_t{1} << 32;
    if (!wide_ && size <= available && available - size >= kWrap && !is_chain(chunk.body + size)) {
      // More than 4 GiB in a file whose sizes have 32 bits: the size was cut to its low half.
      layout_.warnings.push_back(
          fmt::format("{}: the size in the header has overflowed; it is corrected", bytes_.name()));
      return size + (available - size) / kWrap * kWrap;
    }
    return size;
  }

  bool finish() {
    const std::uint64_t frame_bytes = layout_.format.frame_bytes();
    for (Extent extent : pending_) {
      const std::uint64_t available = left(extent.offset);
      if (extent.size > available) {
        const auto seconds = [&](std::uint64_t size) {
          const std::uint64_t frames = size / frame_bytes;  // whole ones
          return static_cast<double>(frames) / layout_.format.sample_rate;
        };
        if (extent.size / frame_bytes > available / frame_bytes) {
          layout_.warnings.push_back(
              fmt::format("{}: is cut off: the header announces {:.2f} s, {:.2f} s are there",
                          bytes_.name(), seconds(extent.size), seconds(available)));
        }
        extent.size = available;
      }
      extent.size -= extent.size % frame_bytes;
      if (extent.size > 0) layout_.data.push_back(extent);
    }
    return true;
  }

  Bytes& bytes_;
  bool wide_ = false;  // RF64, BW64
  bool has_data_ = false;
  std::optional<WavFormat> format_;
  std::vector<Extent> pending_;  // data chunks as announced
  WavLayout layout_;
};

}  // namespace

std::optional<WavLayout> parse_wav(Bytes& bytes) { return Parser(bytes).parse(); }

}  // namespace diarist::audio
