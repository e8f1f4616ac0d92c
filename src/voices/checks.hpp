#pragma once
// What may stand in a library of voices.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diarist/voices.hpp"

namespace diarist::voices {

bool is_sha256(std::string_view text);

/// The text; bytes that are not UTF-8, as names of files may have, become U+FFFD.
std::string as_utf8(const std::string& text);

/// Why a text can't be the name of a voice; empty when it can.
std::string trouble_with_name(const std::string& name);

/// Why the model can't be that of a library; empty when it can.
std::string trouble_with_model(const VoiceModel& model);

/// Why numbers can't be a vector of the model; empty when they can.
std::string trouble_with_vector(std::span<const float> embedding, const VoiceModel& model);

/// Why seconds can't be those of a sample; empty when they can.
std::string trouble_with_seconds(double seconds);

/// "campplus 1a2b3c4d5e6f (192 numbers)"
std::string words_of(const VoiceModel& model);

/// True unless both are known and differ: a recording without speech has no dim.
bool same_network(const VoiceModel& a, const VoiceModel& b);

/// The vector at length 1; one that has it already stays bit by bit. \pre trouble_with_vector()
/// found none.
std::vector<float> unit_vector(std::span<const float> embedding);

/// Cosine of a vector with the mean of unit vectors, in [-1, 1]; 0 where the mean is zero.
double score_of(std::span<const float> embedding, const std::vector<VoiceSample>& samples);

}  // namespace diarist::voices
