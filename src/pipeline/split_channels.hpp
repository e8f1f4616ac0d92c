#pragma once
// One result out of those of the two sides of a recording (RunOptions::audio.split_channels).

#include <array>
#include <memory>

#include "diarist/result.hpp"
#include "pipeline/side_source.hpp"

namespace diarist::pipeline {

/// What a side gave: turn times as decoded, from 0.
struct Side {
  Diarization result;
  std::shared_ptr<const SideLevels> levels;
};

/// How cross-talk is told. Where somebody speaks on the other side too, and the other side has at
/// least kLouder times the power over kWindow seconds around, a turn is the other's voice leaking
/// and is cut, if that lasts kShortestLeak seconds or for the whole turn. What stays of a turn that
/// was cut is kept from kShortest seconds on; a speaker of whom less than kLeast of the speech
/// stays is a leak as a whole.
struct CrossTalk {
  static constexpr double kLouder = 3.981072;  // 6 dB
  static constexpr double kWindow = 0.3;
  static constexpr double kShortestLeak = 0.5;
  static constexpr double kShortest = 0.1;
  static constexpr double kLeast = 0.2;
};

/// Sides are left, right. Speakers are named LEFT_00, ..., RIGHT_00, ... by the first turn on their
/// side. Turns of both sides may overlap; of the exclusive ones the louder side's goes on. Timings
/// are summed, but for the total.
Diarization merge_sides(std::array<Side, 2> sides);

}  // namespace diarist::pipeline
