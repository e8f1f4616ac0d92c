// Scores in double precision, summed in the order of the numbers.

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "diarist/voices.hpp"
#include "voices/checks.hpp"

namespace diarist {
namespace voices {
namespace {

double length_of(std::span<const double> values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

}  // namespace

std::vector<float> unit_vector(std::span<const float> embedding) {
  constexpr double kRounding = 1e-6;  // float32 numbers can't hit length 1 better
  const double length = length_of(std::vector<double>(embedding.begin(), embedding.end()));
  if (std::abs(length - 1) <= kRounding) return {embedding.begin(), embedding.end()};
  std::vector<float> unit;
  unit.reserve(embedding.size());
  for (const float value : embedding)
    unit.push_back(static_cast<float>(static_cast<double>(value) / length));
  return unit;
}

double score_of(std::span<const float> embedding, const std::vector<VoiceSample>& samples) {
  std::vector<double> mean(embedding.size(), 0.0);
  for (const VoiceSample& sample : samples)
    for (std::size_t i = 0; i < mean.size(); ++i)
      mean[i] += static_cast<double>(sample.embedding[i]);
  const std::vector<double> vector(embedding.begin(), embedding.end());
  const double lengths = length_of(vector) * length_of(mean);
  if (!(lengths > 0)) return 0;
  double product = 0;
  for (std::size_t i = 0; i < mean.size(); ++i) product += vector[i] * mean[i];
  return std::clamp(product / lengths, -1.0, 1.0);
}

}  // namespace voices

std::vector<VoiceMatch> VoiceLibrary::match(std::span<const float> embedding,
                                            const VoiceModel& model) const {
  if (!model_) return {};
  if (!voices::same_network(*model_, model)) {
    base::fail(ErrorCode::kInvalidArgument,
               "the vector is of {}, the voices are of {}; vectors of two networks can't be "
               "compared: enrol the voices again with the preset of the recording, or run it with "
               "theirs",
               voices::words_of(model), voices::words_of(*model_));
  }
  if (const std::string trouble = voices::trouble_with_vector(embedding, *model_); !trouble.empty())
    base::fail(ErrorCode::kInvalidArgument, "{}", trouble);
  std::vector<VoiceMatch> matches;
  matches.reserve(voices_.size());
  for (const Voice& voice : voices_)
    matches.push_back({voice.name, voices::score_of(embedding, voice.samples)});
  std::stable_sort(matches.begin(), matches.end(),
                   [](const VoiceMatch& a, const VoiceMatch& b) { return a.score > b.score; });
  return matches;
}

}  // namespace diarist
