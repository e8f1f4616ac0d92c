#pragma once
// A diarization with the arrays that C reads.

#include <vector>

#include "capi/handles.hpp"
#include "diarist/diarist.h"
#include "diarist/result.hpp"

namespace diarist::capi {

/// Immutable; C's pointers lead into it.
class Result {
 public:
  explicit Result(Diarization value);
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;

  const Diarization& value() const noexcept { return value_; }
  const std::vector<diarist_turn>& turns() const noexcept { return turns_; }
  const std::vector<diarist_turn>& exclusive_turns() const noexcept { return exclusive_turns_; }
  const std::vector<diarist_speaker>& speakers() const noexcept { return speakers_; }
  const std::vector<diarist_speaker_voice>& voices() const noexcept { return voices_; }
  const std::vector<const char*>& warnings() const noexcept { return warnings_; }

 private:
  Diarization value_;
  std::vector<diarist_turn> turns_;
  std::vector<diarist_turn> exclusive_turns_;
  std::vector<diarist_speaker> speakers_;
  std::vector<diarist_speaker_voice> voices_;  // one per speaker, or none
  std::vector<const char*> warnings_;
};

using Results = Handles<HandleKind::kResult, diarist_result, Result>;

/// A handle for a result that nobody else has.
diarist_result* new_result(Diarization value);

}  // namespace diarist::capi
