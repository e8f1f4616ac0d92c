// Highway 1.0 has no bf16 instructions of x86, so these are intrinsics. One form of everything but
// the sums of a block of 32x32 outputs, which exist for tiles (AMX) and for vectors (AVX-512). Both
// instructions flush numbers below 2^-126 to zero and round sums to nearest; they add in another
// order, so their results differ by rounding.

#include "backend/cpu/kernels/bf16.hpp"

#include <hwy/base.h>

#if HWY_ARCH_X86_64

#include <cpuid.h>

// The headers of g++ 12 start from undefined vectors on purpose.
HWY_DIAGNOSTICS(push)
HWY_DIAGNOSTICS_OFF(disable : 4701, ignored "-Wmaybe-uninitialized")
#include <immintrin.h>
HWY_DIAGNOSTICS(pop)

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <array>
#include <utility>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,amx-tile,amx-bf16")

namespace diarist::backend::cpu {
// The name tells tools/check_instructions.py that newer instructions are allowed in here.
namespace N_BF16 {
namespace {

constexpr int kLanes = 16;
constexpr int kTileRows = 16;
constexpr int kHalfWeights = kBf16Chunk * kLanes;  // of a chunk and one vector of columns

/// Sums of a block start at zero; [32][32] or fewer rows.
struct Sums {
  alignas(64) float at[kBf16Block * kBf16Block];
};

const Bf16* weights_of(const Bf16Product& p, int t, int column) {
  const int place = p.tap != nullptr ? p.tap[t] : t;
  return p.weights + (static_cast<std::int64_t>(column) * p.all_taps +
                      static_cast<std::int64_t>(place) * kBf16Block) *
                         p.depth;
}

/// Shapes of the eight tiles: all have 16 rows of 64 bytes.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1;
  std::uint8_t start = 0;
  std::array<std::uint8_t, 14> reserved = {};
  std::array<std::uint16_t, 16> row_bytes = {64, 64, 64, 64, 64, 64, 64, 64};
  std::array<std::uint8_t, 16> rows = {16, 16, 16, 16, 16, 16, 16, 16};
};

/// Four tiles of sums, two of rows, two of weights.
struct Tiles {
  static constexpr const char* kName = "AMX_BF16";
  static constexpr bool kSplitPays = true;

  static void begin() {
    static constexpr TileShapes kShapes;
    _tile_loadconfig(&kShapes);
  }
  static void end() { _tile_release(); }

  /// Reads 32 rows from `row` on, whatever `rows` is.
  static void block(const Bf16Product& p, std::int64_t row, int column, int /*rows*/, Sums& sums) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    const std::int64_t stride = p.a_stride * static_cast<std::int64_t>(sizeof(Bf16));
    for (int t = 0; t < p.taps; ++t) {
      const Bf16* w = weights_of(p, t, column);
      const Bf16* a = p.a[t] + row * p.a_stride;
      const Bf16* below = a + kTileRows * p.a_stride;
      for (int k = 0; k < p.depth; k += kBf16Chunk) {
        _tile_loadd(4, a + k, stride);
        _tile_loadd(6, w, 64);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(7, w + kHalfWeights, 64);
        _tile_dpbf16ps(1, 4, 7);
        _tile_loadd(5, below + k, stride);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
        w += 2 * kHalfWeights;
      }
    }
    constexpr int kStride = kBf16Block * static_cast<int>(sizeof(float));
    _tile_stored(0, sums.at, kStride);
    _tile_stored(1, sums.at + kTileRows, kStride);
    _tile_stored(2, sums.at + kTileRows * kBf16Block, kStride);
    _tile_stored(3, sums.at + kTileRows * kBf16Block + kTileRows, kStride);
  }
};

/// M rows x two vectors of columns in registers; a pair of numbers per row is broadcast.
template <int M>
void dot_rows(const Bf16Product& p, std::int64_t row, int column, float* sums) {
  __m512 sum[M][2];
#pragma GCC unroll 16
  for (int m = 0; m < M; ++m) sum[m][0] = sum[m][1] = _mm512_setzero_ps();
  for (int t = 0; t < p.taps; ++t) {
    const Bf16* w = weights_of(p, t, column);
    const Bf16* a = p.a[t] + row * p.a_stride;
    for (int k = 0; k < p.depth; k += kBf16Chunk) {
      for (int i = 0; i < kBf16Chunk; i += 2) {
        const auto left = reinterpret_cast<__m512bh>(_mm512_loadu_si512(w + i * kLanes));
        const auto right =
            reinterpret_cast<__m512bh>(_mm512_loadu_si512(w + kHalfWeights + i * kLanes));
#pragma GCC unroll 16
        for (int m = 0; m < M; ++m) {
          int pair;
          __builtin_memcpy(&pair, a + m * p.a_stride + k + i, sizeof(pair));
          const auto x = reinterpret_cast<__m512bh>(_mm512_set1_epi32(pair));
          sum[m][0] = _mm512_dpbf16_ps(sum[m][0], x, left);
          sum[m][1] = _mm512_dpbf16_ps(sum[m][1], x, right);
        }
      }
      w += 2 * kHalfWeights;
    }
  }
#pragma GCC unroll 16
  for (int m = 0; m < M; ++m) {
    _mm512_store_ps(sums + m * kBf16Block, sum[m][0]);
    _mm512_store_ps(sums + m * kBf16Block + kLanes, sum[m][1]);
  }
}

struct Dots {
  static constexpr const char* kName = "AVX512_BF16";
  static constexpr bool kSplitPays = false;
  static constexpr int kRows = 12;  // of the 32 registers; 32 rows are 12 + 12 + 8

  static void begin() {}
  static void end() {}

  static void block(const Bf16Product& p, std::int64_t row, int column, int rows, Sums& sums) {
    using Function = void (*)(const Bf16Product&, std::int64_t, int, float*);
    static constexpr auto kTable = []<int... M>(std::integer_sequence<int, M...>) {
      return std::array<Function, sizeof...(M)>{&dot_rows<M + 1>...};
    }
    (std::make_integer_sequence<int, kRows>());
    for (int m = 0; m < rows; m += kRows) {
      const auto count = static_cast<std::size_t>(std::min(kRows, rows - m));
      kTable[count - 1](p, row + m, column, sums.at + m * kBf16Block);
    }
  }
};

/// Rows [first, last) of a block: bias, added numbers, activation, scale.
void finish(const Bf16Product& p, const Sums& sums, std::int64_t row, int column, int first,
            int last) {
  for (int half = 0; half < kBf16Block; half += kLanes) {
    const int valid = p.columns - column - half;
    if (valid <= 0) return;
    const auto mask = static_cast<__mmask16>(valid >= kLanes ? 0xFFFF : (1 << valid) - 1);
    const std::int64_t place = column + half;
    const __m512 zero = _mm512_setzero_ps();
    const __m512 bias = _mm512_loadu_ps(p.bias + place);
    const __m512 scale =
        p.scale != nullptr ? _mm512_maskz_loadu_ps(mask, p.scale + place) : _mm512_set1_ps(1.0F);
    for (int m = first; m < last; ++m) {
      __m512 y = _mm512_add_ps(_mm512_load_ps(sums.at + m * kBf16Block + half), bias);
      if (p.add != nullptr) {
        y = _mm512_add_ps(y, _mm512_maskz_loadu_ps(mask, p.add + (row + m) * p.add_stride + place));
      }
      if (p.activation == model::Activation::kRelu) {
        y = _mm512_max_ps(y, zero);
      } else if (p.activation == model::Activation::kLeakyRelu) {
        const __mmask16 negative = _mm512_cmp_ps_mask(y, zero, _CMP_LT_OQ);
        y = _mm512_mask_mul_ps(y, negative, y, _mm512_set1_ps(0.01F));
      }
      if (p.scale != nullptr) y = _mm512_mul_ps(y, scale);
      _mm512_mask_storeu_ps(p.out + (row + m) * p.out_stride + place, mask, y);
    }
  }
}

/// The last block of rows overlaps the one before it, where there are 32; rows that were finished
/// are not finished again, since `add` may be `out`.
template <typename Set>
void run(const Bf16Product& p) {
  // The intrinsics of tiles don't tell the compiler that they read memory.
  asm volatile("" ::: "memory");
  Set::begin();
  Sums sums;
  for (std::int64_t done = 0; done < p.rows; done += kBf16Block) {
    const std::int64_t row = std::max<std::int64_t>(std::min(done, p.rows - kBf16Block), 0);
    const auto last = static_cast<int>(std::min<std::int64_t>(kBf16Block, p.rows - row));
    for (int column = 0; column < p.columns; column += kBf16Block) {
      Set::block(p, row, column, last, sums);
      finish(p, sums, row, column, static_cast<int>(done - row), last);
    }
  }
  Set::end();
}

HWY_INLINE __m512 widen(__m256i numbers) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(numbers), 16));
}

/// `value(column, mask)` of every row as bf16, two vectors at once.
template <typename Value>
HWY_INLINE void round_row(int columns, std::int64_t out_stride, Bf16* to, Bf16* low,
                          const Value& value) {
  for (int column = 0; column < out_stride; column += 2 * kLanes) {
    const auto part = [&](int at) {
      const int valid = columns - at;
      return valid >= kLanes ? 0xFFFFU : valid > 0 ? (1U << valid) - 1U : 0U;
    };
    const __m512 left = value(column, static_cast<__mmask16>(part(column)));
    const __m512 right = value(column + kLanes, static_cast<__mmask16>(part(column + kLanes)));
    const auto both = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(right, left));
    _mm512_storeu_si512(to + column, both);
    if (low == nullptr) continue;
    const __m512 left_rest = _mm512_sub_ps(left, widen(_mm512_castsi512_si256(both)));
    const __m512 right_rest = _mm512_sub_ps(right, widen(_mm512_extracti64x4_epi64(both, 1)));
    _mm512_storeu_si512(low + column,
                        reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(right_rest, left_rest)));
  }
}

/// Where the rest of row r goes, if anywhere.
HWY_INLINE Bf16* low_row(Bf16* low, std::int64_t r, std::int64_t stride) {
  return low != nullptr ? low + r * stride : nullptr;
}

void convert(const RowsIn& rows, Bf16* out, std::int64_t out_stride, Bf16* low) {
  for (std::int64_t r = 0; r < rows.count; ++r) {
    const float* from = rows.data + r * rows.stride;
    round_row(rows.columns, out_stride, out + r * out_stride, low_row(low, r, out_stride),
              [from](int at, __mmask16 mask) { return _mm512_maskz_loadu_ps(mask, from + at); });
  }
}

void scaled_relu(const RowsIn& rows, const float* scale, const float* offset, Bf16* out,
                 std::int64_t out_stride, Bf16* low) {
  for (std::int64_t r = 0; r < rows.count; ++r) {
    const float* from = rows.data + r * rows.stride;
    round_row(rows.columns, out_stride, out + r * out_stride, low_row(low, r, out_stride),
              [&](int at, __mmask16 mask) {
                const __m512 y = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(mask, from + at),
                                                 _mm512_maskz_loadu_ps(mask, scale + at),
                                                 _mm512_maskz_loadu_ps(mask, offset + at));
                return _mm512_max_ps(y, _mm512_setzero_ps());
              });
  }
}

template <typename Set>
const Bf16Kernels& table() {
  static constexpr Bf16Kernels kTable{Set::kName, &run<Set>, Set::kSplitPays, &convert,
                                      &scaled_relu};
  return kTable;
}

}  // namespace
}  // namespace N_BF16
}  // namespace diarist::backend::cpu

HWY_POP_ATTRIBUTES

namespace diarist::backend::cpu {
namespace {

/// The system has to allow tiles for a process; where it doesn't know them, it says no.
bool may_use_tiles() {
#if defined(__linux__) && defined(SYS_arch_prctl)
  constexpr int kRequest = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int kTileData = 18;     // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
#else
  return false;
#endif
}

std::vector<const Bf16Kernels*> find_supported() {
  std::vector<const Bf16Kernels*> found;
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kBf16Bit = 1U << 5, kAmxBf16Bit = 1U << 22, kAmxTileBit = 1U << 24;
  __builtin_cpu_init();
  const bool vectors = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  if (!vectors || __get_cpuid_count(7, 1, &a, &b, &c, &d) == 0 || (a & kBf16Bit) == 0) return {};
  const bool tiles = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kAmxBf16Bit) != 0 &&
                     (d & kAmxTileBit) != 0;
  if (tiles && may_use_tiles()) found.push_back(&N_BF16::table<N_BF16::Tiles>());
  found.push_back(&N_BF16::table<N_BF16::Dots>());
  return found;
}

}  // namespace

const std::vector<const Bf16Kernels*>& bf16_kernels_supported() {
  static const std::vector<const Bf16Kernels*> kFound = find_supported();
  return kFound;
}

std::vector<std::string> bf16_kernels_compiled() {
  return {N_BF16::Tiles::kName, N_BF16::Dots::kName};
}

}  // namespace diarist::backend::cpu

#else

namespace diarist::backend::cpu {

const std::vector<const Bf16Kernels*>& bf16_kernels_supported() {
  static const std::vector<const Bf16Kernels*> kNone;
  return kNone;
}

std::vector<std::string> bf16_kernels_compiled() { return {}; }

}  // namespace diarist::backend::cpu

#endif
