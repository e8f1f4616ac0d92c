#pragma once
// Names of speakers from one snapshot of a stream to the next.

#include <string>
#include <vector>

#include "diarist/result.hpp"

namespace diarist::pipeline {

/// Remembers who was called what.
class StableNames {
 public:
  /// Gives the speakers of the next snapshot the names of those of the one before with which they
  /// have the most seconds in common, one to one with the largest sum. Who has nothing in common
  /// with the old ones that are left gets the lowest numbers that are in neither of the two. Order
  /// of speakers and turns is restored.
  void apply(Diarization& result);

 private:
  std::vector<Turn> turns_;
  std::vector<std::string> names_;
};

}  // namespace diarist::pipeline
