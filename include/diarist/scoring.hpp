#pragma once
/// \file
/// Diarization error rate and friends.

#include <string>
#include <vector>

#include "diarist/formats.hpp"

namespace diarist {

struct ScoringOptions {
  /// Seconds left unscored on each side of every reference boundary, as in NIST md-eval
  /// (pyannote.metrics' collar is the full width, twice this number).
  double collar = 0;
  bool skip_overlap = false;  ///< leave out stretches where the reference has two or more voices
};

/// Parts of the error of one recording, in seconds.
struct Score {
  double total = 0;  ///< scored reference speech; overlap counts per voice
  double missed = 0;
  double false_alarm = 0;
  double confusion = 0;
  double correct = 0;
  double jer_sum = 0;          ///< sum of the Jaccard errors of the scored reference speakers
  int jer_speakers = 0;        ///< reference speakers with speech in the scored regions
  int reference_speakers = 0;  ///< speakers with a turn, wherever it lies
  int hypothesis_speakers = 0;
  /// (missed + false alarm + confusion) / total; 0 when nothing was scored and nothing was said
  /// wrongly, 1 when there is only false alarm.
  double der() const noexcept;
  /// Mean Jaccard error rate over the scored reference speakers; 1 without any, like
  /// pyannote.metrics (see nothing_scored()).
  double jer() const noexcept;
  /// No speech of either side lies in the scored regions, so the rates say nothing.
  bool nothing_scored() const noexcept;
};

/// Scores one recording. Without a UEM everything from 0 to the last end of either side counts.
/// Overlapping turns of one speaker are merged in the reference; in the hypothesis the second voice
/// counts as false alarm. \throws Error kInvalidArgument for a collar that is no number >= 0.
Score score_turns(const std::vector<RttmTurn>& reference, const std::vector<RttmTurn>& hypothesis,
                  const ScoringOptions& options = {});

struct FileScore {
  std::string uri;
  Score score;
};

struct ScoreReport {
  std::vector<FileScore> files;  ///< one per uri of the reference, sorted by uri
  Score total;                   ///< sums over the files
  std::vector<std::string> warnings;
};

/// Scores every uri of the reference; a missing hypothesis counts as silence, a hypothesis for an
/// unknown uri is reported as a warning. Two files with one uri each are compared even when the
/// names differ, and a reference without any turn is compared with every uri of the hypothesis.
ScoreReport score_files(const RttmFile& reference, const RttmFile& hypothesis,
                        const ScoringOptions& options = {});

/// JSON of a report at full precision. Schema: docs/json.md.
std::string to_json(const ScoreReport& report, const ScoringOptions& options);

/// Readable table: one line per file and the total, seconds and per cent.
std::string to_table(const ScoreReport& report, const ScoringOptions& options);

}  // namespace diarist
