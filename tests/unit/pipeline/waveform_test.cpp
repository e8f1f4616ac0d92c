// Waveforms: levels by formula, whatever the pieces.

#include "diarist/waveform.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "diarist/error.hpp"
#include "pipeline/waveform_peaks.hpp"
#include "support/support.hpp"

namespace diarist::pipeline {
namespace {

// 160 samples of each amplitude, with alternating signs.
std::vector<float> steps(const std::vector<float>& amplitudes) {
  std::vector<float> samples;
  for (const float amplitude : amplitudes)
    for (int i = 0; i < 160; ++i) samples.push_back(i % 2 == 0 ? amplitude : -amplitude);
  return samples;
}

TEST(WaveformPeaks, LevelsAreRootsOfAmplitudes) {
  WaveformPeaks peaks;
  peaks.add(steps({0, 0.25F, 1, 4, 0.01F}));
  const Waveform waveform = peaks.finish();
  // 255 * sqrt(0.25) = 127.5, and 255 * sqrt(0.01) = 25.5: halves go up; more than 1 is 1.
  EXPECT_EQ(waveform.peak, (std::vector<std::uint8_t>{0, 128, 255, 255, 25}));
  EXPECT_EQ(waveform.power, waveform.peak) << "a square wave is as powerful as it is high";
  EXPECT_EQ(waveform.duration, 0.05);
}

TEST(WaveformPeaks, PowerIsTheRootOfTheMeanSquare) {
  std::vector<float> samples(160);
  for (std::size_t i = 0; i < 40; ++i) samples[i] = 0.5F;
  WaveformPeaks peaks;
  peaks.add(samples);
  const Waveform waveform = peaks.finish();
  EXPECT_EQ(waveform.peak[0], 180);   // 255 * sqrt(0.5) = 180.3
  EXPECT_EQ(waveform.power[0], 128);  // sqrt(0.25 * 0.25) = 0.25
}

TEST(WaveformPeaks, PiecesDoNotMatterAndTheRestCounts) {
  std::vector<float> samples(1000);
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i] = static_cast<float>(i % 97) / 97.0F - 0.4F;
  WaveformPeaks whole;
  whole.add(samples);
  const Waveform one = whole.finish();
  EXPECT_EQ(one.peak.size(), 7U) << "six times 160, and 40";
  EXPECT_EQ(one.duration, 1000.0 / 16000);
  for (const std::size_t piece : {1U, 7U, 159U, 160U, 161U}) {
    WaveformPeaks pieces;
    for (std::size_t i = 0; i < samples.size(); i += piece)
      pieces.add(std::span(samples).subspan(i, std::min(piece, samples.size() - i)));
    const Waveform other = pieces.finish();
    EXPECT_EQ(other.peak, one.peak) << piece;
    EXPECT_EQ(other.power, one.power) << piece;
  }
  EXPECT_TRUE(whole.finish().peak.empty()) << "it starts anew";
}

TEST(ReadAsWav, GivesBackTheSamplesOfAWavFile) {
  const test::TempFolder folder;
  const std::filesystem::path file = folder.path() / "a.wav";
  // A WAV file by the book (RIFF, fmt, data): 16 kHz, mono, 16 bits, four samples.
  const unsigned char bytes[] = {'R', 'I', 'F', 'F',  44, 0, 0, 0,    'W',  'A', 'V',  'E',  'f',
                                 'm', 't', ' ', 16,   0,  0, 0, 1,    0,    1,   0,    0x80, 0x3E,
                                 0,   0,   0,   0x7D, 0,  0, 2, 0,    16,   0,   'd',  'a',  't',
                                 'a', 8,   0,   0,    0,  0, 0, 0xFF, 0x7F, 0,   0x80, 1,    0};
  std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(bytes), sizeof bytes);
  const std::string text = read_as_wav(file, 1000);
  ASSERT_EQ(text.size(), sizeof bytes);
  EXPECT_EQ(std::memcmp(text.data(), bytes, sizeof bytes), 0);
  EXPECT_THROW(read_as_wav(file, 7), Error);
  EXPECT_EQ(read_waveform(file).peak, (std::vector<std::uint8_t>{255}));
  EXPECT_THROW(read_waveform(folder.path() / "none.wav"), Error);
}

}  // namespace
}  // namespace diarist::pipeline
