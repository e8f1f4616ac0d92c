// One frame per lane, in double: the transform needs no shuffles and every frame is computed by the
// same chain of operations wherever it stands. The real 512-point transform is a complex one of 256
// points over (even, odd) samples. Costs a thousandth of the networks, so accuracy was chosen.

#include "backend/cpu/kernels/log_mel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/kernels/log_mel.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "backend/cpu/kernels/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace diarist::backend::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));

/// [point][lane]
struct Workspace {
  HWY_ALIGN double signal[kFrameSamples * kLanes];
  HWY_ALIGN double re[kHalf * kLanes];
  HWY_ALIGN double im[kHalf * kLanes];
};

/// Steps 1 to 5: scale, frame mean, pre-emphasis, window. The result replaces the signal.
void prepare(const LogMelTables& tables, Workspace& w) {
  const D d;
  const V scale = hn::Set(d, tables.scale);
  V sum = hn::Zero(d);
  for (int i = 0; i < kFrameSamples; ++i) {
    const V x = hn::Mul(hn::Load(d, w.signal + i * kLanes), scale);
    hn::Store(x, d, w.signal + i * kLanes);
    sum = hn::Add(sum, x);
  }
  const V mean = hn::Div(sum, hn::Set(d, static_cast<double>(kFrameSamples)));
  const V emphasis = hn::Set(d, 0.97);
  V previous = hn::Sub(hn::Load(d, w.signal), mean);  // the first sample repeats itself
  for (int i = 0; i < kFrameSamples; ++i) {
    const V x = hn::Sub(hn::Load(d, w.signal + i * kLanes), mean);
    const V y = hn::Sub(x, hn::Mul(emphasis, previous));
    hn::Store(hn::Mul(y, hn::Set(d, tables.window[static_cast<std::size_t>(i)])), d,
              w.signal + i * kLanes);
    previous = x;
  }
}

/// Decimation in time over 256 complex points, in place after the bit reversal.
void transform(const LogMelTables& tables, Workspace& w) {
  const D d;
  for (int i = 0; i < kHalf; ++i) {
    const int to = tables.reversed[static_cast<std::size_t>(i)] * kLanes;
    const bool inside = 2 * i < kFrameSamples;
    hn::Store(inside ? hn::Load(d, w.signal + 2 * i * kLanes) : hn::Zero(d), d, w.re + to);
    hn::Store(inside ? hn::Load(d, w.signal + (2 * i + 1) * kLanes) : hn::Zero(d), d, w.im + to);
  }
  for (int half = 1; half < kHalf; half *= 2) {
    const int step = kHalf / half;  // of the table of 512ths
    for (int k = 0; k < half; ++k) {
      const V c = hn::Set(d, tables.cosine[static_cast<std::size_t>(k * step)]);
      const V s = hn::Set(d, tables.sine[static_cast<std::size_t>(k * step)]);
      for (int at = k; at < kHalf; at += 2 * half) {
        double* const ar = w.re + at * kLanes;
        double* const ai = w.im + at * kLanes;
        double* const br = ar + half * kLanes;
        double* const bi = ai + half * kLanes;
        // (c - i s) * b
        const V xr = hn::Load(d, br);
        const V xi = hn::Load(d, bi);
        const V tr = hn::MulAdd(c, xr, hn::Mul(s, xi));
        const V ti = hn::Sub(hn::Mul(c, xi), hn::Mul(s, xr));
        const V yr = hn::Load(d, ar);
        const V yi = hn::Load(d, ai);
        hn::Store(hn::Add(yr, tr), d, ar);
        hn::Store(hn::Add(yi, ti), d, ai);
        hn::Store(hn::Sub(yr, tr), d, br);
        hn::Store(hn::Sub(yi, ti), d, bi);
      }
    }
  }
}

/// Power of bins 0..255 of the real transform, into `signal`.
void powers(const LogMelTables& tables, Workspace& w) {
  const D d;
  const V half = hn::Set(d, 0.5);
  for (int k = 0; k < kHalf; ++k) {
    const int other = (kHalf - k) % kHalf;
    const V ar = hn::Load(d, w.re + k * kLanes);
    const V ai = hn::Load(d, w.im + k * kLanes);
    const V br = hn::Load(d, w.re + other * kLanes);
    const V bi = hn::Load(d, w.im + other * kLanes);
    const V even_r = hn::Mul(half, hn::Add(ar, br));
    const V even_i = hn::Mul(half, hn::Sub(ai, bi));
    const V odd_r = hn::Mul(half, hn::Add(ai, bi));
    const V odd_i = hn::Mul(half, hn::Sub(br, ar));
    const V c = hn::Set(d, tables.cosine[static_cast<std::size_t>(k)]);
    const V s = hn::Set(d, tables.sine[static_cast<std::size_t>(k)]);
    const V xr = hn::Add(even_r, hn::MulAdd(c, odd_r, hn::Mul(s, odd_i)));
    const V xi = hn::Add(even_i, hn::Sub(hn::Mul(c, odd_i), hn::Mul(s, odd_r)));
    hn::Store(hn::MulAdd(xr, xr, hn::Mul(xi, xi)), d, w.signal + k * kLanes);
  }
}

void run(const LogMelTables& tables, const float* samples, std::int64_t frames, float* out) {
  const D d;
  constexpr double kFloor = 0x1p-23;
  Workspace w;
  for (std::int64_t first = 0; first < frames; first += kLanes) {
    const int count = static_cast<int>(std::min<std::int64_t>(kLanes, frames - first));
    for (int lane = 0; lane < kLanes; ++lane) {
      const float* frame = samples + (first + std::min(lane, count - 1)) * kFrameHop;
      for (int i = 0; i < kFrameSamples; ++i) {
        w.signal[i * kLanes + lane] = static_cast<double>(frame[i]);
      }
    }
    prepare(tables, w);
    transform(tables, w);
    powers(tables, w);
    for (std::size_t band = 0; band < kBands; ++band) {
      V energy = hn::Zero(d);
      const int start = tables.filter_start[band];
      for (int i = start; i < tables.filter_start[band + 1]; ++i) {
        const int bin = tables.first_bin[band] + i - start;
        energy = hn::MulAdd(hn::Set(d, tables.filter_weight[static_cast<std::size_t>(i)]),
                            hn::Load(d, w.signal + bin * kLanes), energy);
      }
      HWY_ALIGN double lanes[kLanes];
      hn::Store(hn::Max(energy, hn::Set(d, kFloor)), d, lanes);
      for (int lane = 0; lane < count; ++lane) {
        out[(first + lane) * kBands + static_cast<std::int64_t>(band)] =
            static_cast<float>(std::log(lanes[lane]));
      }
    }
  }
}

const LogMelKernels* log_mel_table() {
  static constexpr LogMelKernels kTable{HWY_TARGET, &run};
  return &kTable;
}

}  // namespace HWY_NAMESPACE
}  // namespace diarist::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace diarist::backend::cpu {

HWY_EXPORT(log_mel_table);

const LogMelKernels& log_mel_kernels(std::int64_t target) {
  return *DIARIST_CPU_DISPATCH(log_mel_table, target);
}

LogMelTables::LogMelTables(const model::LogMel& block) : scale(static_cast<double>(block.scale)) {
  constexpr double kPi = std::numbers::pi;
  for (std::size_t i = 0; i < window.size(); ++i) {
    const double c = std::cos(2 * kPi * static_cast<double>(i) / (kFrameSamples - 1));
    window[i] = block.window == model::LogMel::Window::kHamming
                    ? 0.54 - 0.46 * c
                    : std::pow(std::max(0.0, 0.5 - 0.5 * c), 0.85);
  }
  for (std::size_t k = 0; k < kHalf; ++k) {
    cosine[k] = std::cos(2 * kPi * static_cast<double>(k) / 512);
    sine[k] = std::sin(2 * kPi * static_cast<double>(k) / 512);
    int bits = 0;
    for (int b = 0; b < 8; ++b) bits |= ((static_cast<int>(k) >> b) & 1) << (7 - b);
    reversed[k] = bits;
  }
  const auto mel = [](double hertz) { return 1127.0 * std::log(1.0 + hertz / 700.0); };
  const double low = mel(20.0);
  const double spacing = (mel(8000.0) - low) / (kBands + 1);
  for (std::size_t band = 0; band < kBands; ++band) {
    const double left = low + static_cast<double>(band) * spacing;
    const double centre = low + (static_cast<double>(band) + 1) * spacing;
    const double right = low + (static_cast<double>(band) + 2) * spacing;
    filter_start[band] = static_cast<int>(filter_weight.size());
    first_bin[band] = 0;
    for (int bin = 0; bin < kHalf; ++bin) {
      const double m = mel(bin * 31.25);
      const double weight = std::min((m - left) / (centre - left), (right - m) / (right - centre));
      if (weight <= 0) continue;
      if (static_cast<int>(filter_weight.size()) == filter_start[band]) first_bin[band] = bin;
      filter_weight.push_back(weight);
    }
  }
  filter_start[kBands] = static_cast<int>(filter_weight.size());
}

}  // namespace diarist::backend::cpu
#endif
