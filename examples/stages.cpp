// What lies between audio and turns: the segmentation alone, and all stages of a run. The samples
// are handed over in memory, without a copy.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

#include "diarist/diarizer.hpp"
#include "diarist/segmenter.hpp"

int main(int argc, char** argv) try {
  if (argc != 2) return std::fprintf(stderr, "usage: stages SAMPLES.s16  (16 kHz, mono)\n"), 2;
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::int16_t> samples(bytes.size() / 2);
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i] = static_cast<std::int16_t>(static_cast<unsigned char>(bytes[2 * i]) |
                                           static_cast<unsigned char>(bytes[2 * i + 1]) << 8);
  const diarist::AudioView audio{.samples = {}, .pcm16 = samples};

  const diarist::Segmenter segmenter({.preset = "open"});
  const diarist::Segmentation windows = segmenter.run(audio);
  const auto voiced = std::count_if(windows.activity.begin(), windows.activity.end(),
                                    [](std::uint8_t bits) { return bits != 0; });
  std::printf("%d windows of %d frames, %.1f %% with a voice\n", windows.windows,
              diarist::Segmentation::kFrames,
              100.0 * static_cast<double>(voiced) /
                  static_cast<double>(std::max<std::size_t>(windows.activity.size(), 1)));

  const diarist::Diarizer diarizer({.preset = "open"});
  const diarist::Diarization result = diarizer.run(audio, {.keep_stages = true});
  std::printf("%d windows with 3 embeddings of %d numbers, %zu frames, %zu turns\n",
              result.stages->chunks, result.stages->embedding_dim, result.stages->counts.size(),
              result.turns.size());
  std::printf("the segmentations are %s\n",
              windows.activity == result.stages->activity ? "the same" : "different");
} catch (const diarist::Error& error) {
  std::fprintf(stderr, "stages: %s\n", error.what());
  return 1;
}
