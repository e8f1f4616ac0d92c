#pragma once
// Inputs that are the same on every machine: numbers, a WAV file, a conversation as the networks
// would describe it.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/tensor.hpp"

namespace diarist::bench {

/// A congruential generator: plain integers, so that every machine draws the same.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed * 2 + 1) {}
  /// In [-1, 1).
  double next();
  /// In [0, limit).
  int below(int limit);
  std::vector<float> numbers(std::int64_t count, double scale = 1);
  /// Weights whose products keep the size of their inputs: uniform, variance 1 over the fan-in.
  base::TensorF weights(const base::Shape& shape);
  base::TensorF around(const base::Shape& shape, double centre, double spread);

 private:
  std::uint64_t state_;
};

/// Tones with pauses and noise, interleaved; full scale is 1.
std::vector<float> tones(std::int64_t frames, int channels, int rate);

/// A WAV file of 16-bit samples.
std::vector<std::byte> wav_file(std::int64_t frames, int channels, int rate);

/// What segmentation and embedding say about people who take turns, with pauses and overlap, in
/// windows one second apart. The vectors of one speaker differ by noise, twice as much in one of
/// forty: such vectors begin as clusters of their own, as they do in recordings.
struct Conversation {
  int chunks = 0;                      // C
  int dim = 0;                         // D
  std::vector<std::uint8_t> activity;  // [C, 589] bits
  std::vector<std::uint8_t> classes;   // [C, 589] powerset classes
  std::vector<float> embeddings;       // [C, 3, D]; NaN: nobody
  std::vector<std::int32_t> hard;      // [C, 3] who it is; -2: nobody
};

/// \param noise length of the noise on a vector of length 1.
Conversation conversation(int chunks, int speakers, int dim, double noise = 0.4);

/// The vectors of a conversation that are there, [T, D], scaled to length 1.
struct Rows {
  std::vector<float> values;
  std::vector<std::int32_t> speaker;
};
Rows rows_of(const Conversation& conversation);

}  // namespace diarist::bench
