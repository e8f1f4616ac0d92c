#include "audio/chunk_walk.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "audio/frame_decoder.hpp"
#include "audio/wav_format.hpp"

namespace diarist::audio {
namespace {

// GUIDs of Wave64: four letters, then one of these.
constexpr std::array<unsigned char, 12> kRiffTail = {0x2E, 0x91, 0xCF, 0x11, 0xA5, 0xD6,
                                                     0x28, 0xDB, 0x04, 0xC1, 0x00, 0x00};
constexpr std::array<unsigned char, 12> kChunkTail = {0xF3, 0xAC, 0xD3, 0x11, 0x8C, 0xD1,
                                                      0x00, 0xC0, 0x4F, 0x8E, 0xDB, 0x8A};
constexpr std::size_t kWave64Header = 24;

std::string_view letters(std::span<const std::byte> bytes, std::size_t at) {
  return {reinterpret_cast<const char*>(bytes.data()) + at, 4};
}

// Reads and forgets the bytes of a pipe in [from, to); false when they end before.
bool pass_over(Bytes& bytes, std::uint64_t from, std::uint64_t to) {
  if (bytes.seekable()) return to <= bytes.size();
  std::vector<std::byte> scratch(1 << 16);
  while (from < to) {
    const auto part = std::span(scratch).first(std::min<std::uint64_t>(scratch.size(), to - from));
    const std::size_t got = bytes.read_at(from, part);
    if (got == 0) return false;
    from += got;
  }
  return true;
}

}  // namespace

bool ChunkWalk::open() {
  std::array<std::byte, 40> head{};
  if (read_fully(bytes_, 0, std::span(head).first(12)) != 12) return false;
  const std::string_view form = letters(head, 0);
  if (form == "RIFF" || form == "RF64" || form == "BW64") {
    wide_ = form != "RIFF";
    at_ = 12;
    return letters(head, 8) == "WAVE";
  }
  if (form != "riff") return false;
  if (read_fully(bytes_, 12, std::span(head).subspan(12)) != head.size() - 12) return false;
  wave64_ = true;
  at_ = head.size();
  return std::memcmp(head.data() + 4, kRiffTail.data(), kRiffTail.size()) == 0 &&
         letters(head, 24) == "wave" &&
         std::memcmp(head.data() + 28, kChunkTail.data(), kChunkTail.size()) == 0;
}

std::optional<ChunkWalk::Chunk> ChunkWalk::next() {
  std::array<std::byte, kWave64Header> head{};
  const std::size_t length = wave64_ ? kWave64Header : 8;
  if (read_fully(bytes_, at_, std::span(head).first(length)) != length) return std::nullopt;
  Chunk chunk;
  chunk.id = letters(head, 0);
  chunk.body = at_ + length;
  for (const char c : chunk.id) {
    if (c < 0x20 || c > 0x7e) return std::nullopt;
  }
  if (wave64_) {
    if (std::memcmp(head.data() + 4, kChunkTail.data(), kChunkTail.size()) != 0) {
      return std::nullopt;
    }
    const std::uint64_t size = little_endian(head, 16, 8);  // its header included
    chunk.open_ended = size < kWave64Header || size > kLargestSize;
    if (!chunk.open_ended) chunk.size = size - kWave64Header;
    return chunk;
  }
  chunk.size = little_endian(head, 4, 4);
  if (wide_ && chunk.id == "ds64") read_wide_size(chunk);
  if (chunk.id == "data" && wide_ && chunk.size == 0xFFFFFFFF) {
    chunk.size = wide_size_;
    chunk.open_ended = wide_size_ == 0 || wide_size_ > kLargestSize;
  } else if (chunk.id == "data" && is_placeholder(chunk.size)) {
    chunk.open_ended = !bytes_.seekable() || chunk.size > bytes_.size();
  }
  return chunk;
}

void ChunkWalk::read_wide_size(const Chunk& chunk) {
  std::array<std::byte, 16> body{};
  if (chunk.size < body.size()) return;
  if (read_fully(bytes_, chunk.body, body) == body.size()) wide_size_ = little_endian(body, 8, 8);
}

bool ChunkWalk::leave(const Chunk& chunk, std::uint64_t read_to) {
  const std::uint64_t padding = wave64_ ? (8 - chunk.size % 8) % 8 : chunk.size % 2;
  at_ = chunk.body + std::min(chunk.size, kLargestSize) + padding;
  return pass_over(bytes_, read_to, at_);
}

bool ChunkWalk::chunk_at(std::uint64_t place) const {
  ChunkWalk there = *this;
  there.at_ = place;
  return there.next().has_value();
}

}  // namespace diarist::audio
