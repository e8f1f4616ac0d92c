#pragma once
// From a recording's own rate to 16 kHz, as a stream.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace diarist::audio {

/// Samples per second everything behind this room works with.
constexpr int kSampleRate = 16000;

/// Samples at 16 kHz that n samples at `rate` give: ceil(n * 16000 / rate). 0 <= n < 2^48.
std::int64_t resampled_length(std::int64_t n, int rate);

/// One mono stream. Output is aligned with the input (delay is compensated) and has exactly
/// resampled_length() samples; before and after the stream there is silence. Not thread-safe.
class Resampler {
 public:
  virtual ~Resampler() = default;
  /// Takes the next samples and appends what is ready to `out`.
  virtual void push(std::span<const float> in, std::vector<float>& out) = 0;
  /// Appends the rest. Nothing may be pushed afterwards.
  virtual void finish(std::vector<float>& out) = 0;
};

/// Passes 16 kHz through unchanged; otherwise libsoxr, or the reference's windowed sinc.
/// `rate` is in [kMinSampleRate, kMaxSampleRate]. \throws Error kOutOfMemory, kInternal.
std::unique_ptr<Resampler> make_resampler(int rate, bool reference);

/// High quality through libsoxr. Samples that are not finite would spoil thousands around them:
/// they enter as silence, and the output sample at their time becomes NaN.
std::unique_ptr<Resampler> make_soxr_resampler(int rate);

/// The windowed sinc of torchaudio.functional.resample with its defaults: Hann window, 6 zero
/// crossings on each side, roll-off 0.99, coefficients computed in single precision.
std::unique_ptr<Resampler> make_sinc_resampler(int rate);

}  // namespace diarist::audio
