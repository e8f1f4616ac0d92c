// The reference's resampler as a stream: torchaudio.functional.resample with its defaults.
//
// With rates reduced by their greatest common divisor to `from` and `to`, output q*to + p is
// sum_k kernel[p][k] * x[q*from - width + k]: one filter per phase p. The reference keeps
// 2*width + from taps per phase, nearly all of them outside the window; here only those inside it
// (and its rounded edges) are kept, about 12 / 0.99 * max(1, from / to) per phase. The order of the
// single-precision steps that make the coefficients is the reference's; sine and cosine are rounded
// from double. Sums are made in double and rounded once.

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "audio/resampler.hpp"

namespace diarist::audio {
namespace {

constexpr int kZeroCrossings = 6;
constexpr double kRollOff = 0.99;

float round_cos(float x) { return static_cast<float>(std::cos(static_cast<double>(x))); }
float round_sin(float x) { return static_cast<float>(std::sin(static_cast<double>(x))); }

class SincResampler final : public Resampler {
 public:
  explicit SincResampler(int rate) : rate_(rate) {
    const int common = std::gcd(rate, kSampleRate);
    from_ = rate / common;
    to_ = kSampleRate / common;
    const double base = std::min(from_, to_) * kRollOff;
    width_ = static_cast<std::int64_t>(std::ceil(kZeroCrossings * from_ / base));
    taps_ = 2 * width_ + 2;
    kernel_.resize(static_cast<std::size_t>(to_ * taps_));
    for (std::int64_t p = 0; p < to_; ++p) {
      for (std::int64_t k = 0; k < taps_; ++k) {
        kernel_[static_cast<std::size_t>(p * taps_ + k)] = coefficient(p, first_tap(p) + k, base);
      }
    }
    kept_.assign(static_cast<std::size_t>(width_), 0.0F);  // silence before the stream
    start_ = -width_;
  }

  void push(std::span<const float> in, std::vector<float>& out) override {
    kept_.insert(kept_.end(), in.begin(), in.end());
    taken_ += static_cast<std::int64_t>(in.size());
    convolve(resampled_length(taken_, rate_), out);
  }

  void finish(std::vector<float>& out) override {
    const std::int64_t target = resampled_length(taken_, rate_);
    kept_.resize(kept_.size() + static_cast<std::size_t>(taps_), 0.0F);
    convolve(target, out);
  }

 private:
  // Input sample, relative to q*from, where the taps of phase p start. The filter's middle is at
  // p*from/to.
  std::int64_t first_tap(std::int64_t p) const { return p * from_ / to_ - width_; }

  // Kernel of phase p at input sample i (relative to q*from).
  float coefficient(std::int64_t p, std::int64_t i, double base) const {
    const float position = static_cast<float>(-p) / static_cast<float>(to_) +
                           static_cast<float>(i) / static_cast<float>(from_);
    float t = position * static_cast<float>(base);
    t = std::clamp(t, static_cast<float>(-kZeroCrossings), static_cast<float>(kZeroCrossings));
    constexpr auto kPi = static_cast<float>(std::numbers::pi);
    const float hann = round_cos(t * kPi / kZeroCrossings / 2.0F);
    t *= kPi;
    const float sinc = t == 0.0F ? 1.0F : round_sin(t) / t;
    return sinc * (hann * hann * static_cast<float>(base / from_));
  }

  // Makes the outputs below `limit` whose taps have all arrived.
  void convolve(std::int64_t limit, std::vector<float>& out) {
    const std::int64_t end = start_ + static_cast<std::int64_t>(kept_.size());
    std::int64_t first = 0;
    while (given_ < limit) {
      const std::int64_t p = given_ % to_;
      first = given_ / to_ * from_ + first_tap(p);
      if (first + taps_ > end) break;
      const float* x = kept_.data() + (first - start_);
      const float* h = kernel_.data() + p * taps_;
      double sum = 0;
      for (std::int64_t k = 0; k < taps_; ++k) sum += static_cast<double>(h[k]) * x[k];
      out.push_back(static_cast<float>(sum));
      ++given_;
    }
    // Forget what no later output needs.
    first = given_ / to_ * from_ + first_tap(given_ % to_);
    const std::int64_t drop = std::clamp<std::int64_t>(first - start_, 0, end - start_);
    kept_.erase(kept_.begin(), kept_.begin() + drop);
    start_ += drop;
  }

  int rate_;
  std::int64_t from_ = 1;
  std::int64_t to_ = 1;
  std::int64_t width_ = 0;
  std::int64_t taps_ = 0;
  std::vector<float> kernel_;  // [to, taps]
  std::vector<float> kept_;    // input samples from start_ on
  std::int64_t start_ = 0;
  std::int64_t taken_ = 0;
  std::int64_t given_ = 0;
};

}  // namespace

std::unique_ptr<Resampler> make_sinc_resampler(int rate) {
  return std::make_unique<SincResampler>(rate);
}

}  // namespace diarist::audio
