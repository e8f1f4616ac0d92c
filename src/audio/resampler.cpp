#include "audio/resampler.hpp"

#include <numeric>

namespace diarist::audio {
namespace {

class PassThrough final : public Resampler {
 public:
  void push(std::span<const float> in, std::vector<float>& out) override {
    out.insert(out.end(), in.begin(), in.end());
  }
  void finish(std::vector<float>&) override {}
};

}  // namespace

std::int64_t resampled_length(std::int64_t n, int rate) {
  const std::int64_t common = std::gcd(rate, kSampleRate);
  const std::int64_t from = rate / common;
  const std::int64_t to = kSampleRate / common;
  // In two parts, so that nothing overflows: n = whole * from + rest.
  return n / from * to + (n % from * to + from - 1) / from;
}

std::unique_ptr<Resampler> make_resampler(int rate, bool reference) {
  if (rate == kSampleRate) return std::make_unique<PassThrough>();
  return reference ? make_sinc_resampler(rate) : make_soxr_resampler(rate);
}

}  // namespace diarist::audio
