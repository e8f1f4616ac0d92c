// Both resamplers: length, alignment, purity, and the reference's numbers.

#include "audio/resampler.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "support/odd_audio.hpp"
#include "support/support.hpp"
#include "unit/audio/read_all.hpp"

namespace diarist::test {
namespace {

std::vector<float> resample(std::span<const float> samples, int rate, bool reference,
                            std::size_t block = 4099) {
  const auto resampler = audio::make_resampler(rate, reference);
  std::vector<float> out;
  while (!samples.empty()) {
    const auto part = samples.first(std::min(block, samples.size()));
    resampler->push(part, out);
    samples = samples.subspan(part.size());
  }
  resampler->finish(out);
  return out;
}

// 16-bit noise that any language makes bit for bit.
std::vector<float> noise(std::size_t count) {
  std::vector<float> samples;
  std::uint32_t random = 12345;
  for (std::size_t i = 0; i < count; ++i) {
    random = random * 1664525U + 1013904223U;
    samples.push_back(static_cast<float>(static_cast<int>(random >> 16) - 32768) / 32768.0F);
  }
  return samples;
}

std::vector<float> sine(std::int64_t count, int rate, double hz) {
  std::vector<float> samples;
  for (std::int64_t i = 0; i < count; ++i) {
    samples.push_back(static_cast<float>(
        0.5 * std::sin(2 * std::numbers::pi * hz * static_cast<double>(i) / rate)));
  }
  return samples;
}

constexpr int kRates[] = {1000,  8000,  11025, 12000, 22050, 24000,  32000,
                          44099, 44100, 48000, 88200, 96000, 192000, 384000};

TEST(Resampler, LengthIsRoundedUp) {
  EXPECT_EQ(audio::resampled_length(0, 44100), 0);
  EXPECT_EQ(audio::resampled_length(1, 44100), 1);
  EXPECT_EQ(audio::resampled_length(441, 44100), 160);
  EXPECT_EQ(audio::resampled_length(442, 44100), 161);
  EXPECT_EQ(audio::resampled_length(7, 8000), 14);
  EXPECT_EQ(audio::resampled_length(std::int64_t{1} << 47, 48000),
            ((std::int64_t{1} << 47) + 2) / 3);
  for (const int rate : kRates) {
    for (const std::size_t count : {1U, 2U, 399U, 4096U, 50001U}) {
      const std::vector<float> samples = test_signal(static_cast<std::int64_t>(count), rate);
      for (const bool reference : {false, true}) {
        EXPECT_EQ(static_cast<std::int64_t>(resample(samples, rate, reference).size()),
                  audio::resampled_length(static_cast<std::int64_t>(count), rate))
            << rate << " " << count << " " << reference;
      }
    }
  }
}

TEST(Resampler, BlocksDoNotMatter) {
  const std::vector<float> samples = noise(30000);
  for (const int rate : {8000, 44100, 48000}) {
    for (const bool reference : {false, true}) {
      const std::vector<float> whole = resample(samples, rate, reference, samples.size());
      EXPECT_EQ(resample(samples, rate, reference, 1), whole);
      EXPECT_EQ(resample(samples, rate, reference, 1000), whole);
    }
  }
}

// Values of torchaudio.functional.resample's algorithm in a NumPy transcription with
// single-precision coefficients (2.11, defaults): first three, two in the middle, last two.
TEST(Resampler, ReferenceNumbers) {
  struct Case {
    int rate;
    std::size_t count;
    std::vector<float> first, middle, last;
  };
  const std::vector<Case> cases = {
      {8000,
       1001,
       {-0.9606091976165771F, -1.2359974384307861F, -0.9612830877304077F},
       {0.9812887907028198F, 0.9436604976654053F},
       {-0.14965476095676422F, 0.08415168523788452F}},
      {44100,
       50001,
       {-0.639075517654419F, 0.08538699150085449F, 0.017787979915738106F},
       {-0.6538399457931519F, -0.4047403335571289F},
       {-0.5616193413734436F, 0.1018439382314682F}},
      {48000,
       48000,
       {-0.5692262649536133F, 0.07583798468112946F, 0.011411228217184544F},
       {-0.32337844371795654F, -0.35357898473739624F},
       {-0.2348194569349289F, -0.02954619750380516F}},
      {22050,
       7,
       {-0.8911207318305969F, -0.6641154885292053F, 0.4898684322834015F},
       {0.30049529671669006F, -0.4724770486354828F},
       {-0.4724770486354828F, 0.11447770893573761F}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.rate);
    const std::vector<float> out = resample(noise(c.count), c.rate, true);
    ASSERT_GE(out.size(), 6U);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(out[i], c.first[i], 1e-6);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_NEAR(out[out.size() / 2 + i], c.middle[i], 1e-6);
      EXPECT_NEAR(out[out.size() - 2 + i], c.last[i], 1e-6);
    }
  }
}

TEST(Resampler, SoxrKeepsSinesPureAndInPlace) {
  for (const int rate : kRates) {
    for (const double hz : {100.0, 440.0, 1000.0, 3000.0, 6500.0}) {
      if (hz > 0.4 * rate) continue;
      const std::int64_t count = std::int64_t{2} * rate;
      const std::vector<float> out = resample(sine(count, rate, hz), rate, false);
      const std::vector<float> wanted = sine(32000, 16000, hz);
      ASSERT_EQ(out.size(), wanted.size());
      double worst = 0;
      for (std::size_t i = 8000; i < 24000; ++i) {
        worst = std::max(worst, std::abs(static_cast<double>(out[i]) - wanted[i]));
      }
      // Flat within 0.01 dB up to the edge of the pass band.
      EXPECT_LT(worst, hz > 6000 ? 5.8e-4 : 2e-6) << rate << " Hz, sine of " << hz << " Hz";
    }
  }
}

TEST(Resampler, SoxrRemovesWhatCantBeRepresented) {
  for (const int rate : {22050, 44100, 48000, 192000}) {
    const double hz = rate == 22050 ? 9000.0 : 12000.0;  // would fold to 7 or 4 kHz
    const std::vector<float> out = resample(sine(std::int64_t{2} * rate, rate, hz), rate, false);
    for (std::size_t i = 8000; i < 24000; ++i) ASSERT_LT(std::abs(out[i]), 1e-5F) << rate;
  }
}

TEST(Resampler, ClicksDoNotDrift) {
  // One click per second; after five minutes the peak must still be at the same sample.
  for (const int rate : {44100, 11025}) {
    for (const bool reference : {false, true}) {
      const auto resampler = audio::make_resampler(rate, reference);
      std::vector<float> second(static_cast<std::size_t>(rate));
      second[static_cast<std::size_t>(rate) / 2 + 1] = 1.0F;
      const double at = (rate / 2 + 1) * 16000.0 / rate;  // within each second
      std::vector<float> out;
      for (int s = 0; s < 300; ++s) resampler->push(second, out);
      resampler->finish(out);
      ASSERT_EQ(out.size(), 300U * 16000U);
      double offset = 0;
      for (const int s : {0, 1, 149, 298, 299}) {
        // Centre of energy around the click.
        double sum = 0;
        double moment = 0;
        const auto start = static_cast<std::int64_t>(s) * 16000 + static_cast<std::int64_t>(at);
        for (std::int64_t i = start - 40; i <= start + 40; ++i) {
          const double energy = std::pow(static_cast<double>(out[static_cast<std::size_t>(i)]), 2);
          sum += energy;
          moment += energy * static_cast<double>(i);
        }
        const double here = moment / sum - (s * 16000.0 + at);
        if (s == 0) offset = here;
        EXPECT_NEAR(here, offset, 1e-6) << rate << " " << reference << " " << s;
      }
      // The short filter of the reference smears a click lopsidedly, by a part of a sample.
      EXPECT_NEAR(offset, 0, reference ? 0.2 : 0.05) << rate;
    }
  }
}

TEST(Resampler, NotFiniteSamplesSpoilOnlyTheirPlace) {
  std::vector<float> samples = test_signal(96000, 48000);
  const std::vector<float> clean = resample(samples, 48000, false);
  samples[30000] = std::numeric_limits<float>::quiet_NaN();
  samples[30001] = std::numeric_limits<float>::infinity();
  samples[60000] = -std::numeric_limits<float>::infinity();
  samples[95999] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> out = resample(samples, 48000, false);
  ASSERT_EQ(out.size(), 32000U);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i == 10000 || i == 20000 || i == 31999) {
      EXPECT_TRUE(std::isnan(out[i])) << i;
    } else {
      ASSERT_TRUE(std::isfinite(out[i])) << i;
      if (i < 9000 || (i > 11000 && i < 19000)) {
        ASSERT_NEAR(out[i], clean[i], 1e-5) << i;
      }
    }
  }
  // The reference lets them spread over the filter's reach, no further.
  const std::vector<float> reference = resample(samples, 48000, true);
  EXPECT_TRUE(std::isnan(reference[10000]));
  EXPECT_TRUE(std::isfinite(reference[10000 - 8]));
  EXPECT_TRUE(std::isfinite(reference[10000 + 8]));
}

}  // namespace
}  // namespace diarist::test
