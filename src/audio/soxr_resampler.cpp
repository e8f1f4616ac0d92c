// The resampler of normal runs: libsoxr, as a stream of exact length.

#include <soxr.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>

#include "audio/resampler.hpp"
#include "base/error.hpp"

namespace diarist::audio {
namespace {

// 28 bits, computed in double, and nothing lost below 7.9 kHz: networks listen up there, and with
// the usual passband (7.3 kHz) a recording of full bandwidth gets other turns at 44.1 kHz than at
// 16 kHz (docs/audio.md). SOXR_HQ (20 bits, single precision) is 1.5 times as quick; not needed
// while networks take far longer.
constexpr unsigned long kQuality = SOXR_VHQ | SOXR_STEEP_FILTER;

class SoxrResampler final : public Resampler {
 public:
  explicit SoxrResampler(int rate) : rate_(rate) {
    soxr_error_t error = nullptr;
    const soxr_io_spec_t io = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
    const soxr_quality_spec_t quality = soxr_quality_spec(kQuality, 0);
    const soxr_runtime_spec_t runtime = soxr_runtime_spec(1);
    soxr_ = soxr_create(rate, kSampleRate, 1, &error, &io, &quality, &runtime);
    if (error != nullptr || soxr_ == nullptr) {
      base::fail(ErrorCode::kOutOfMemory, "resampling {} Hz to {} Hz: {}", rate, kSampleRate,
                 error != nullptr ? error : "no memory");
    }
  }
  ~SoxrResampler() override { soxr_delete(soxr_); }
  SoxrResampler(const SoxrResampler&) = delete;
  SoxrResampler& operator=(const SoxrResampler&) = delete;

  void push(std::span<const float> in, std::vector<float>& out) override {
    if (in.empty()) return;
    const auto bad = [](float x) { return !std::isfinite(x); };
    if (std::none_of(in.begin(), in.end(), bad)) {
      feed(in, out);
    } else {
      cleaned_.assign(in.begin(), in.end());
      for (std::size_t i = 0; i < cleaned_.size(); ++i) {
        if (!bad(cleaned_[i])) continue;
        cleaned_[i] = 0;
        const std::int64_t at = output_at(taken_ + static_cast<std::int64_t>(i));
        if (spoiled_.empty() || spoiled_.back() != at) spoiled_.push_back(at);
      }
      feed(cleaned_, out);
    }
    taken_ += static_cast<std::int64_t>(in.size());
  }

  void finish(std::vector<float>& out) override {
    // Silence is pushed until everything real has come out; what is too much is cut.
    const std::int64_t target = resampled_length(taken_, rate_);
    const std::vector<float> silence(4096, 0.0F);
    while (given_ < target) feed(silence, out);
    out.resize(out.size() - static_cast<std::size_t>(given_ - target));
    given_ = target;
  }

 private:
  // The output sample at input sample i or just before it; always inside resampled_length().
  std::int64_t output_at(std::int64_t i) const {
    return i / rate_ * kSampleRate + i % rate_ * kSampleRate / rate_;
  }

  void feed(std::span<const float> in, std::vector<float>& out) {
    while (true) {
      std::size_t used = 0;
      std::size_t made = 0;
      const soxr_error_t error =
          soxr_process(soxr_, in.data(), in.size(), &used, block_.data(), block_.size(), &made);
      if (error != nullptr) {
        base::fail(ErrorCode::kInternal, "resampling {} Hz to {} Hz: {}", rate_, kSampleRate,
                   error);
      }
      out.insert(out.end(), block_.begin(), block_.begin() + static_cast<std::ptrdiff_t>(made));
      given_ += static_cast<std::int64_t>(made);
      mark_spoiled(out);
      in = in.subspan(used);
      if (in.empty() && made < block_.size()) return;
    }
  }

  // Output lags behind input, so a spoiled sample's place comes out later than it went in.
  void mark_spoiled(std::vector<float>& out) {
    while (!spoiled_.empty() && spoiled_.front() < given_) {
      const std::int64_t back = given_ - spoiled_.front();
      spoiled_.pop_front();
      if (back <= static_cast<std::int64_t>(out.size())) {
        out[out.size() - static_cast<std::size_t>(back)] = std::numeric_limits<float>::quiet_NaN();
      }
    }
  }

  int rate_;
  soxr_t soxr_ = nullptr;
  std::int64_t taken_ = 0;            // input samples so far
  std::int64_t given_ = 0;            // output samples so far
  std::deque<std::int64_t> spoiled_;  // output positions still to be marked, ascending
  std::vector<float> cleaned_;
  std::array<float, 16384> block_{};
};

}  // namespace

std::unique_ptr<Resampler> make_soxr_resampler(int rate) {
  return std::make_unique<SoxrResampler>(rate);
}

}  // namespace diarist::audio
