#include "backend/cuda/kernels/hopper/pack.hpp"
#include "backend/cuda/kernels/split_half.hpp"

namespace diarist::backend::cuda::hopper {
namespace {

std::size_t at(int o, int cin, int c, int taps, int tap) {
  return (static_cast<std::size_t>(o) * static_cast<std::size_t>(cin) +
          static_cast<std::size_t>(c)) *
             static_cast<std::size_t>(taps) +
         static_cast<std::size_t>(tap);
}

}  // namespace

Halves pack_tile(const float* weight, int cout, int cin, bool split, float scale, bool flat) {
  const int slab = flat ? 32 : 64, parts = split ? 3 : 1;
  Halves packed(static_cast<std::size_t>(cout) * static_cast<std::size_t>(cin * 9 * parts));
  std::size_t row = 0;  // of `slab` halves
  for (int group = 0; group < cin / slab; ++group)
    for (int part = 0; part < parts; ++part)
      for (int tap = 0; tap < 9; ++tap)
        for (int o = 0; o < cout; ++o, ++row)
          for (int c = 0; c < slab; ++c) {
            const int key = static_cast<int>(flat ? (row >> 1) & 3 : row & 7);
            const int column = ((c / 8) ^ key) * 8 + c % 8;
            packed[row * static_cast<std::size_t>(slab) + static_cast<std::size_t>(column)] =
                split_half(weight[at(o, cin, group * slab + c, 9, tap)] * scale, part == 1 ? 1 : 0);
          }
  return packed;
}

Halves pack_walk(const float* weight, int channels, bool split, float scale) {
  constexpr int kOrder[5] = {2, 1, 0, 2, 1};
  Halves packed;
  packed.reserve(static_cast<std::size_t>((split ? 30 : 15) * channels * channels));
  for (int part = 0; part < (split ? 2 : 1); ++part)
    for (int tap_t = 0; tap_t < 3; ++tap_t)
      for (const int tap_f : kOrder)
        for (int o = 0; o < channels; ++o)
          for (int c = 0; c < channels; ++c)
            packed.push_back(
                split_half(weight[at(o, channels, c, 9, tap_f * 3 + tap_t)] * scale, part));
  return packed;
}

Halves pack_down(const float* weight, const float* shortcut, int cout, int cin, float scale,
                 float shortcut_scale) {
  Halves packed;
  packed.reserve(static_cast<std::size_t>(cout) * static_cast<std::size_t>(10 * cin));
  for (int first = 0; first < cout; first += 64)
    for (int tap = 0; tap < 10; ++tap)
      for (int o = first; o < first + 64; ++o)
        for (int c = 0; c < cin; ++c)
          packed.push_back(tap < 9 ? split_half(weight[at(o, cin, c, 9, tap)] * scale, 0)
                                   : split_half(shortcut[at(o, cin, c, 1, 0)] * shortcut_scale, 0));
  return packed;
}

}  // namespace diarist::backend::cuda::hopper
