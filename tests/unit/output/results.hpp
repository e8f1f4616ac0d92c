#pragma once
// Results for the writers to print.

#include <random>
#include <string>
#include <vector>

#include "diarist/result.hpp"

namespace diarist::test {

/// Two speakers, three turns, 30 s.
inline Diarization small_result() {
  Diarization result;
  result.uri = "meeting";
  result.duration = 30;
  result.turns = {{0.03096875, 2.5, 0}, {2.0, 4.25, 1}, {10.0, 29.9996, 0}};
  result.exclusive_turns = {{0.03096875, 2.0, 0}, {2.0, 4.25, 1}, {10.0, 29.9996, 0}};
  result.speakers = {{"SPEAKER_00", 22.46863125, {}}, {"SPEAKER_01", 2.25, {}}};
  result.settings.preset = "open";
  return result;
}

/// Turns as the pipeline makes them: ends in the middle of frames (spec/pipeline.md section 4),
/// some cut at the end of the recording.
inline Diarization random_result(std::mt19937& draw) {
  const auto middle = [](int frame) {
    const double start = frame * 0.016875;
    return 0.5 * (start + (start + 0.0619375));
  };
  Diarization result;
  result.uri = "random";
  result.duration = static_cast<double>(draw() % 2000000 + 16000) / 16000;
  const int speakers = static_cast<int>(draw() % 4) + 1;
  for (int speaker = 0; speaker < speakers; ++speaker) {
    std::string name = "SPEAKER_0";
    name += std::to_string(speaker);
    result.speakers.push_back({name, 0, {}});
    int frame = static_cast<int>(draw() % 300);
    while (middle(frame) < result.duration) {
      const int end = frame + static_cast<int>(draw() % 200) + 1;
      const double cut = middle(end) < result.duration ? middle(end) : result.duration;
      result.turns.push_back({middle(frame), cut, speaker});
      result.speakers.back().speech_seconds += cut - middle(frame);
      frame = end + static_cast<int>(draw() % 400) + 1;
    }
  }
  return result;
}

}  // namespace diarist::test
