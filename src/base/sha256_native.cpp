#include "base/sha256_blocks.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace diarist::base {

#if defined(__x86_64__) && defined(__GNUC__)
namespace {

// The state as the instructions want it: words a, b, e, f and c, d, g, h, highest word first. Four
// rounds a step; the next sixteen words of the schedule are made four at a time on the way.
__attribute__((target("sha,sse4.1,ssse3"))) void blocks_sha(std::uint32_t* state,
                                                            const std::uint8_t* bytes,
                                                            std::size_t blocks) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const __m128i abcd =
      _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(state)), 0xB1);
  const __m128i efgh =
      _mm_shuffle_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(state + 4)), 0x1B);
  __m128i abef = _mm_alignr_epi8(abcd, efgh, 8);
  __m128i cdgh = _mm_blend_epi16(efgh, abcd, 0xF0);
  for (; blocks > 0; --blocks, bytes += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];
    for (int i = 0; i < 4; ++i)
      w[i] =
          _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 16 * i)), swap);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      __m128i& now = w[i % 4];
      if (i >= 4) {
        const __m128i& last = w[(i + 3) % 4];
        const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(now, w[(i + 1) % 4]),
                                          _mm_alignr_epi8(last, w[(i + 2) % 4], 4));
        now = _mm_sha256msg2_epu32(sum, last);
      }
      const __m128i keyed = _mm_add_epi32(
          now, _mm_loadu_si128(reinterpret_cast<const __m128i*>(kSha256Round + 4 * i)));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, keyed);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(keyed, 0x0E));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1B), dchg = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state), _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

bool has_sha() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (b & (1U << 29U)) == 0) return false;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_SSE4_1) != 0 && (c & bit_SSSE3) != 0;
}

}  // namespace

Sha256Blocks sha256_blocks_native() {
  static const bool kPresent = has_sha();
  return kPresent ? blocks_sha : nullptr;
}

#else

Sha256Blocks sha256_blocks_native() { return nullptr; }

#endif

}  // namespace diarist::base
