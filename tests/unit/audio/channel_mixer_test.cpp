// Sides that cancel each other must be found, and nothing else be taken for them.

#include "audio/channel_mixer.hpp"

#include <cmath>
#include <numbers>
#include <random>

#include "support/odd_audio.hpp"
#include "unit/audio/read_all.hpp"

namespace diarist::test {
namespace {

constexpr int kRate = 16000;

std::vector<float> noise(std::size_t count, unsigned seed, float level = 0.1F) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values)
    value = level * (static_cast<float>(random() % 65536) / 32768.0F - 1.0F);
  return values;
}

std::vector<float> stereo(const std::vector<float>& left, const std::vector<float>& right) {
  std::vector<float> samples;
  for (std::size_t i = 0; i < left.size(); ++i) samples.insert(samples.end(), {left[i], right[i]});
  return samples;
}

std::vector<float> times(std::vector<float> values, float factor) {
  for (float& value : values) value *= factor;
  return values;
}

std::vector<float> plus(std::vector<float> values, const std::vector<float>& others) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += others[i];
  return values;
}

std::vector<float> mean(const std::vector<float>& left, const std::vector<float>& right) {
  std::vector<float> values;
  for (std::size_t i = 0; i < left.size(); ++i) values.push_back((left[i] + right[i]) / 2.0F);
  return values;
}

struct Mixed {
  std::vector<float> mono;
  std::vector<std::string> warnings;
};

Mixed mix(const std::vector<float>& samples, const audio::SourceOptions& options = {}) {
  const auto source = audio::open_memory({samples, kRate, 2}, options);
  Mixed mixed{.mono = read_all(*source), .warnings = {}};
  mixed.warnings = source->warnings();
  return mixed;
}

TEST(ChannelMixer, InvertedCopiesGiveOneSide) {
  const std::vector<float> left = test_signal(5 * kRate + 777);
  const Mixed mixed = mix(stereo(left, times(left, -1)));
  EXPECT_EQ(mixed.mono, left);
  ASSERT_EQ(mixed.warnings.size(), 1U);
  EXPECT_NE(mixed.warnings[0].find("phase-inverted"), std::string::npos);
  EXPECT_NE(mixed.warnings[0].find("left side alone"), std::string::npos);
}

TEST(ChannelMixer, TheLouderOfInvertedCopiesIsUsed) {
  const std::vector<float> right = test_signal(3 * kRate);
  EXPECT_EQ(mix(stereo(times(right, -0.7F), right)).mono, right);
  const std::vector<float> left = test_signal(3 * kRate);
  EXPECT_EQ(mix(stereo(left, times(left, -0.95F))).mono, left);
}

TEST(ChannelMixer, NoiseOnInvertedCopiesDoesNotHideThem) {
  const std::vector<float> voice = test_signal(4 * kRate);
  const std::vector<float> left = plus(voice, noise(voice.size(), 1, 0.03F));
  const std::vector<float> right = plus(times(voice, -1), noise(voice.size(), 2, 0.03F));
  EXPECT_EQ(mix(stereo(left, right)).mono, left);
}

TEST(ChannelMixer, OrdinaryStereoIsMixed) {
  const std::vector<float> voice = test_signal(4 * kRate);
  const std::vector<float> silent(voice.size(), 0.0F);
  const std::vector<float> other = noise(voice.size(), 3);
  // A voice on one side, the same on both, two unrelated ones, a copy with another level, and a
  // quiet inverted leak of one side on the other.
  for (const auto& [left, right] : std::vector<std::pair<std::vector<float>, std::vector<float>>>{
           {voice, silent},
           {voice, voice},
           {voice, other},
           {other, noise(voice.size(), 4)},
           {voice, times(voice, 0.3F)},
           {voice, plus(other, times(voice, -0.1F))},
           {silent, silent}}) {
    const Mixed mixed = mix(stereo(left, right));
    EXPECT_EQ(mixed.mono, mean(left, right));
    EXPECT_TRUE(mixed.warnings.empty());
  }
}

TEST(ChannelMixer, InversionThatComesAndGoes) {
  const std::vector<float> left = test_signal(9 * kRate);
  std::vector<float> right = left;
  for (std::size_t i = 3 * kRate; i < 6 * kRate; ++i) right[i] = -right[i];
  const Mixed mixed = mix(stereo(left, right));
  // Copies or inverted copies: the left side or the mean of both, which are the same; between them
  // 10 ms of fading keep a part of the sound.
  ASSERT_EQ(mixed.mono.size(), left.size());
  std::size_t others = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (mixed.mono[i] != left[i]) ++others;
    ASSERT_LE(std::abs(mixed.mono[i]), std::abs(left[i]) + 1e-6F) << i;
  }
  EXPECT_LE(others, 2U * kRate / 100);
  ASSERT_EQ(mixed.warnings.size(), 1U);
  EXPECT_NE(mixed.warnings[0].find("in 3.0 of 9.0 s"), std::string::npos) << mixed.warnings[0];
}

TEST(ChannelMixer, PausesKeepTheSideAndUnrelatedSoundEndsIt) {
  const std::vector<float> voice = test_signal(2 * kRate);
  std::vector<float> left = voice;
  std::vector<float> right = times(voice, -1);
  left.resize(4 * kRate, 0.0F);  // exact silence
  right.resize(4 * kRate, 0.0F);
  const std::vector<float> a = noise(2 * kRate, 5);
  const std::vector<float> b = noise(2 * kRate, 6);
  left.insert(left.end(), a.begin(), a.end());
  right.insert(right.end(), b.begin(), b.end());
  const Mixed mixed = mix(stereo(left, right));
  EXPECT_NE(mixed.warnings[0].find("in 4.0 of 6.0 s"), std::string::npos) << mixed.warnings[0];
  for (std::size_t i = 5 * kRate; i < 6 * kRate; ++i)
    ASSERT_EQ(mixed.mono[i], (left[i] + right[i]) / 2.0F);
}

TEST(ChannelMixer, TheReferenceMixesAllTheSameAndSaysSo) {
  const std::vector<float> left = test_signal(2 * kRate);
  audio::SourceOptions options;
  options.reference = true;
  const Mixed mixed = mix(stereo(left, times(left, -1)), options);
  EXPECT_EQ(mixed.mono, std::vector<float>(left.size(), 0.0F));
  ASSERT_EQ(mixed.warnings.size(), 1U);
  EXPECT_NE(mixed.warnings[0].find("the reference mixes"), std::string::npos);
}

TEST(ChannelMixer, NotFiniteSamplesDecideNothing) {
  const std::vector<float> left = test_signal(3 * kRate);
  std::vector<float> samples = stereo(left, times(left, -1));
  samples[2 * kRate + 10] = NAN;
  const Mixed mixed = mix(samples);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < left.size(); ++i) wrong += mixed.mono[i] == left[i] ? 0 : 1;
  EXPECT_EQ(wrong, 1U);
}

TEST(ChannelMixer, PortionsDoNotMatter) {
  const std::vector<float> left = test_signal(3 * kRate + 5);
  const std::vector<float> samples = stereo(left, times(left, -0.9F));
  std::vector<std::vector<float>> results;
  for (const std::size_t portion : {std::size_t{2}, std::size_t{4000}, samples.size()}) {
    audio::ChannelMixer mixer({});
    std::vector<float> mono;
    for (std::size_t at = 0; at < samples.size(); at += portion)
      mixer.push(std::span(samples).subspan(at, std::min(portion, samples.size() - at)), 2, kRate,
                 mono);
    mixer.finish(mono);
    results.push_back(mono);
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[1], results[2]);
}

}  // namespace
}  // namespace diarist::test
