#pragma once
// The compression function of SHA-256 over whole blocks.

#include <cstddef>
#include <cstdint>

namespace diarist::base {

/// First 32 bits of the fractional parts of the cube roots of the first 64 primes.
extern const std::uint32_t kSha256Round[64];

using Sha256Blocks = void (*)(std::uint32_t* state, const std::uint8_t* bytes, std::size_t blocks);

void sha256_blocks_plain(std::uint32_t* state, const std::uint8_t* bytes, std::size_t blocks);

/// With the processor's own instructions, or null where it has none. Weights are hashed whenever
/// they are loaded, and this is eight times as quick.
Sha256Blocks sha256_blocks_native();

}  // namespace diarist::base
