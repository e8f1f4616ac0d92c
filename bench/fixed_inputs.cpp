#include "fixed_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "timeline/activity.hpp"
#include "timeline/grid.hpp"

namespace diarist::bench {
namespace {

using timeline::kFramesPerChunk;
using timeline::kLocalSpeakers;

constexpr int kMostTogether = 2;  // speakers in one frame

void append(std::vector<std::byte>& bytes, std::uint32_t value, int count) {
  for (int i = 0; i < count; ++i) bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
}

void append(std::vector<std::byte>& bytes, std::string_view text) {
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
}

/// Speakers of every frame, -1 for nobody: first the one whose turn it is, then who interrupts.
std::vector<int> turn_taking(int frames, int speakers, Draws& draws) {
  std::vector<int> who(static_cast<std::size_t>(frames * kMostTogether), -1);
  int speaker = 0;
  for (int frame = 0; frame < frames;) {
    const int end = std::min(frames, frame + 40 + draws.below(300));
    for (int f = frame; f < end; ++f) who[static_cast<std::size_t>(f * kMostTogether)] = speaker;
    const int next = (speaker + 1 + draws.below(std::max(1, speakers - 1))) % speakers;
    if (next != speaker && draws.below(3) == 0)  // the next one begins before this one is done
      for (int f = std::max(frame, end - 5 - draws.below(40)); f < end; ++f)
        who[static_cast<std::size_t>(f * kMostTogether + 1)] = next;
    speaker = next;
    frame = end + (draws.below(2) == 0 ? draws.below(60) : 0);
  }
  return who;
}

void scale_to(std::span<float> vector, double length) {
  double sum = 0;
  for (const float x : vector) sum += static_cast<double>(x) * x;
  for (float& x : vector) x = static_cast<float>(x * length / std::sqrt(sum));
}

}  // namespace

double Draws::next() {
  state_ = state_ * 6364136223846793005U + 1442695040888963407U;
  return static_cast<double>(state_ >> 11) * 0x1p-52 - 1.0;
}

int Draws::below(int limit) {
  state_ = state_ * 6364136223846793005U + 1442695040888963407U;
  return static_cast<int>((state_ >> 33) % static_cast<std::uint64_t>(limit));
}

std::vector<float> Draws::numbers(std::int64_t count, double scale) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& x : values) x = static_cast<float>(scale * next());
  return values;
}

base::TensorF Draws::weights(const base::Shape& shape) {
  const auto fan_in = static_cast<double>(base::element_count(shape) / shape[0]);
  return {shape, numbers(base::element_count(shape), std::sqrt(3 / fan_in))};
}

base::TensorF Draws::around(const base::Shape& shape, double centre, double spread) {
  std::vector<float> values = numbers(base::element_count(shape), spread);
  for (float& x : values) x += static_cast<float>(centre);
  return {shape, std::move(values)};
}

std::vector<float> tones(std::int64_t frames, int channels, int rate) {
  Draws draws(7);
  std::vector<float> samples;
  samples.reserve(static_cast<std::size_t>(frames * channels));
  for (std::int64_t i = 0; i < frames; ++i) {
    const double time = static_cast<double>(i) / rate;
    const bool pause = static_cast<int>(time * 2) % 4 == 3;
    for (int c = 0; c < channels; ++c) {
      const double tone = std::sin(6.2831853 * (180 + 40 * c) * time) + 0.4 * std::sin(9100 * time);
      samples.push_back(static_cast<float>(0.01 * draws.next() + (pause ? 0 : 0.3 * tone)));
    }
  }
  return samples;
}

std::vector<std::byte> wav_file(std::int64_t frames, int channels, int rate) {
  const auto size = static_cast<std::uint32_t>(2 * frames * channels);
  std::vector<std::byte> bytes;
  append(bytes, "RIFF");
  append(bytes, 36 + size, 4);
  append(bytes, "WAVEfmt ");
  append(bytes, 16, 4);
  append(bytes, 1, 2);
  append(bytes, static_cast<std::uint32_t>(channels), 2);
  append(bytes, static_cast<std::uint32_t>(rate), 4);
  append(bytes, static_cast<std::uint32_t>(2 * channels * rate), 4);
  append(bytes, static_cast<std::uint32_t>(2 * channels), 2);
  append(bytes, 16, 2);
  append(bytes, "data");
  append(bytes, size, 4);
  for (const float x : tones(frames, channels, rate))
    append(bytes, static_cast<std::uint32_t>(std::lround(x * 32767)), 2);
  return bytes;
}

Conversation conversation(int chunks, int speakers, int dim, double noise) {
  Draws draws(static_cast<std::uint64_t>(chunks) * 1000 + static_cast<std::uint64_t>(speakers));
  Conversation result{chunks, dim, {}, {}, {}, {}};
  const timeline::Grid grid = timeline::Grid::of_chunks(chunks);
  const int frames = grid.first_frame(chunks - 1) + kFramesPerChunk;
  const std::vector<int> who = turn_taking(frames, speakers, draws);
  const auto width = static_cast<std::size_t>(dim);
  std::vector<float> centres = draws.numbers(std::int64_t{speakers} * dim);
  for (int s = 0; s < speakers; ++s)
    scale_to(std::span(centres).subspan(static_cast<std::size_t>(s) * width, width), 1);

  for (int chunk = 0; chunk < chunks; ++chunk) {
    std::vector<int> local;  // global speaker of every local one; a fourth is not heard
    for (int f = 0; f < kFramesPerChunk; ++f) {
      std::uint8_t bits = 0;
      for (int i = 0; i < kMostTogether; ++i) {
        const int speaker =
            who[static_cast<std::size_t>((grid.first_frame(chunk) + f) * kMostTogether + i)];
        if (speaker < 0) continue;
        auto found = std::ranges::find(local, speaker);
        if (found == local.end() && local.size() < kLocalSpeakers)
          found = local.insert(local.end(), speaker);
        if (found != local.end()) bits |= static_cast<std::uint8_t>(1 << (found - local.begin()));
      }
      result.activity.push_back(bits);
      result.classes.push_back(static_cast<std::uint8_t>(
          std::ranges::find(timeline::kPowersetBits, bits) - std::begin(timeline::kPowersetBits)));
    }
    for (std::size_t s = 0; s < kLocalSpeakers; ++s) {
      result.hard.push_back(s < local.size() ? local[s] : -2);
      std::vector<float> vector(width, std::numeric_limits<float>::quiet_NaN());
      if (s < local.size()) {
        vector = draws.numbers(dim);
        scale_to(vector, draws.below(40) == 0 ? 2 * noise : noise);
        for (std::size_t d = 0; d < width; ++d)
          vector[d] += centres[static_cast<std::size_t>(local[s]) * width + d];
      }
      result.embeddings.insert(result.embeddings.end(), vector.begin(), vector.end());
    }
  }
  return result;
}

Rows rows_of(const Conversation& conversation) {
  Rows rows;
  const auto width = static_cast<std::size_t>(conversation.dim);
  for (std::size_t pair = 0; pair < conversation.hard.size(); ++pair) {
    if (conversation.hard[pair] < 0) continue;
    const auto* from = conversation.embeddings.data() + pair * width;
    rows.values.insert(rows.values.end(), from, from + width);
    scale_to(std::span(rows.values).last(width), 1);
    rows.speaker.push_back(conversation.hard[pair]);
  }
  return rows;
}

}  // namespace diarist::bench
