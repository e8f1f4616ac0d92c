#pragma once
// Models, vectors and results for the tests of voices.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "diarist/error.hpp"
#include "diarist/voices.hpp"

namespace diarist::test {

inline VoiceModel model_of_dim(int dim, char digit = 'a') {
  return {"campplus", std::string(64, digit), dim};
}

/// A result whose speakers are SPEAKER_00, ... with one turn each.
inline Diarization result_of(const std::vector<std::vector<float>>& vectors,
                             const std::vector<double>& seconds, char digit = 'a') {
  Diarization result;
  result.uri = "meeting";
  result.settings.models = {"pyannet sha256:" + std::string(64, '0'),
                            "campplus sha256:" + std::string(64, digit)};
  double start = 0;
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    result.speakers.push_back(
        {(i < 10 ? "SPEAKER_0" : "SPEAKER_") + std::to_string(i), seconds[i], vectors[i]});
    result.turns.push_back({start, start + seconds[i], static_cast<int>(i)});
    start += seconds[i];
  }
  result.exclusive_turns = result.turns;
  result.duration = start;
  return result;
}

/// The error of a call; fails when there is none.
template <typename Call>
Error error_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return Error(ErrorCode::kInternal, "none");
}

}  // namespace diarist::test
