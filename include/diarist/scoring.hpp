#pragma once
/// \file
/// Diarization error rate and friends.

#include <optional>
#include <string>
#include <vector>

#include "diarist/export.hpp"
#include "diarist/formats.hpp"
#include "diarist/regions.hpp"
#include "diarist/score_statistics.hpp"

namespace diarist {

/// What is scored, and by whose rules.
struct ScoringOptions {
  /// Seconds left unscored on each side of every reference boundary, as in NIST md-eval
  /// (pyannote.metrics' collar is the full width, twice this number).
  double collar = 0;
  bool skip_overlap = false;  ///< leave out stretches where the reference has two or more voices
  /// DER by the rules of NIST's md-eval where they differ from those of pyannote.metrics (the
  /// default): speakers are paired by everything in the UEM, before collar and overlaps are cut
  /// away; a hypothesis that has one speaker twice at once counts once; without a UEM only the
  /// stretch from the first to the last word of the reference is scored. JER follows the same
  /// regions.
  bool md_eval = false;
  /// Regions to score, by uri. With a UEM exactly its recordings are scored; without one every
  /// recording is scored as a whole.
  std::optional<Regions> uem;
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
  int reference_speakers = 0;  ///< speakers with a turn in the UEM, or anywhere without one
  int hypothesis_speakers = 0;
  /// missed + false alarm + confusion.
  DIARIST_API double wrong() const noexcept;
  /// wrong() / total; 0 when nothing was scored and nothing was said wrongly, 1 when there is only
  /// false alarm.
  DIARIST_API double der() const noexcept;
  /// Mean Jaccard error rate over the scored reference speakers; 1 without any, like
  /// pyannote.metrics (see nothing_scored()).
  DIARIST_API double jer() const noexcept;
  /// No speech of either side lies in the scored regions, so the rates say nothing.
  DIARIST_API bool nothing_scored() const noexcept;
};

/// Scores one recording. Without a UEM everything from 0 to the last end of either side counts.
/// Overlapping turns of one speaker are merged in the reference; in the hypothesis the second voice
/// counts as false alarm. `options.uem` is not looked at: it needs a uri.
/// \throws Error kInvalidArgument for a collar that is no number >= 0.
DIARIST_API Score score_turns(const std::vector<RttmTurn>& reference,
                              const std::vector<RttmTurn>& hypothesis,
                              const ScoringOptions& options = {});

/// The same inside the regions, which may overlap and come in any order.
DIARIST_API Score score_turns(const std::vector<RttmTurn>& reference,
                              const std::vector<RttmTurn>& hypothesis,
                              const std::vector<Region>& regions,
                              const ScoringOptions& options = {});

/// Who is who: two speakers that were taken for one, or a speaker that has no partner.
struct SpeakerPair {
  std::optional<std::string> reference;
  std::optional<std::string> hypothesis;
  double seconds = 0;             ///< both speak, in the scored regions
  double reference_seconds = 0;   ///< 0 without one
  double hypothesis_seconds = 0;  ///< 0 without one
};

/// The score of one recording.
struct FileScore {
  std::string uri;
  Score score;
  /// The pairing behind the DER: speakers of the reference by name, then those of the hypothesis
  /// that stayed alone. Who has nothing in the scored regions is not in it.
  std::vector<SpeakerPair> mapping;
};

/// How well the number of speakers was met, over recordings.
struct SpeakerCounts {
  int recordings = 0;
  int exact = 0;                   ///< recordings with the right number
  double mean_error = 0;           ///< hypothesis - reference
  double mean_absolute_error = 0;  ///< 0 without recordings
  DIARIST_API double exact_share() const noexcept;
};

/// Scores of many recordings.
struct ScoreReport {
  std::vector<FileScore> files;          ///< one per scored recording, sorted by uri
  Score total;                           ///< sums over the files
  std::vector<std::string> missing;      ///< scored, but not in the hypothesis
  std::vector<std::string> extra;        ///< in the hypothesis only, not scored
  std::vector<std::string> outside_uem;  ///< in the reference, but not in the UEM: not scored
  std::vector<std::string> warnings;
  std::optional<ScoreIntervals> intervals;    ///< filled by bootstrap_scores()
  std::optional<ScoreComparison> comparison;  ///< filled by compare_scores()
};

/// Counts speakers in the recordings of a report.
DIARIST_API SpeakerCounts speaker_counts(const ScoreReport& report) noexcept;

/// Scores every uri of the reference; a missing hypothesis counts as silence, a hypothesis for an
/// unknown uri is reported as a warning. Two files with one uri each are compared even when the
/// names differ, and a reference without any turn is compared with every uri of the hypothesis.
/// With a UEM: its uris are scored and no others; where the reference has nothing to say about one
/// of them, everything heard is false alarm.
DIARIST_API ScoreReport score_files(const RttmFile& reference, const RttmFile& hypothesis,
                                    const ScoringOptions& options = {});

/// JSON of a report at full precision. Schema: docs/json.md.
DIARIST_API std::string to_json(const ScoreReport& report, const ScoringOptions& options);

/// Readable table: one line per file and the total, seconds and per cent.
/// \param mapping print who was paired with whom, too.
DIARIST_API std::string to_table(const ScoreReport& report, const ScoringOptions& options,
                                 bool mapping = false);

/// The same as a Markdown document with headings and tables.
DIARIST_API std::string to_markdown(const ScoreReport& report, const ScoringOptions& options,
                                    bool mapping = false);

/// Comma-separated values (RFC 4180, line feeds): a header, one line per file, the total. Rates
/// and seconds at full precision.
DIARIST_API std::string to_csv(const ScoreReport& report);

}  // namespace diarist
