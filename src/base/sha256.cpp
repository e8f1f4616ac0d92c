#include "base/sha256.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/file.hpp"
#include "base/sha256_blocks.hpp"

namespace diarist::base {

const std::uint32_t kSha256Round[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

namespace {

std::uint32_t load_be(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | std::uint32_t{bytes[3]};
}

void one_block(std::uint32_t* state, const std::uint8_t* bytes) {
  std::uint32_t w[64];
  for (int i = 0; i < 16; ++i) w[i] = load_be(bytes + 4 * i);
  for (int i = 16; i < 64; ++i) {
    const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  std::uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
  std::uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
  for (int i = 0; i < 64; ++i) {
    const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kSha256Round[i] + w[i];
    const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::uint32_t sums[8] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i) state[i] += sums[i];
}

}  // namespace

Sha256::Sha256()
    : state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19},
      pending_{} {}

void sha256_blocks_plain(std::uint32_t* state, const std::uint8_t* bytes, std::size_t blocks) {
  for (; blocks > 0; --blocks, bytes += 64) one_block(state, bytes);
}

void Sha256::blocks(const std::uint8_t* bytes, std::size_t count) {
  static const Sha256Blocks kNative = sha256_blocks_native();
  (kNative != nullptr ? kNative : sha256_blocks_plain)(state_.data(), bytes, count);
}

void Sha256::update(std::span<const std::byte> bytes) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  std::size_t count = bytes.size();
  const std::size_t filled = length_ % 64;
  length_ += count;
  if (filled != 0) {
    const std::size_t part = std::min(count, 64 - filled);
    std::memcpy(pending_.data() + filled, data, part);
    data += part;
    count -= part;
    if (filled + part < 64) return;
    blocks(pending_.data(), 1);
  }
  if (count >= 64) blocks(data, count / 64);
  data += count / 64 * 64;
  count %= 64;
  if (count != 0) std::memcpy(pending_.data(), data, count);
}

std::string Sha256::finish() {
  const std::uint64_t bits = length_ * 8;
  std::array<std::byte, 72> tail{};
  tail[0] = std::byte{0x80};
  const std::size_t zeros = (119 - length_ % 64) % 64;  // brings the length to 56 modulo 64
  for (std::size_t i = 0; i < 8; ++i)
    tail[1 + zeros + i] = static_cast<std::byte>(bits >> (56 - 8 * i));
  update(std::span(tail).first(1 + zeros + 8));
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint32_t word : state_)
    for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[(word >> shift) & 15];
  return text;
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  Sha256 sum;
  sum.update(bytes);
  return sum.finish();
}

std::string sha256_file(const std::filesystem::path& file) {
  const MappedFile mapped(file);
  return sha256_hex(mapped.bytes());
}

}  // namespace diarist::base
