#pragma once
/// \file
/// What changed between two diarizations of the same recordings.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "diarist/export.hpp"
#include "diarist/formats.hpp"
#include "diarist/scoring.hpp"

namespace diarist {

/// What may differ between two diarizations.
enum class ChangeKind {
  kSpeaker,   ///< somebody else speaks
  kAppeared,  ///< a voice where there was none
  kVanished,  ///< a voice is gone
  /// A turn that both have begins or ends elsewhere, or one speaker hands over to the next at
  /// another time.
  kBoundary
};
/// How many of them there are.
inline constexpr std::size_t kChangeKinds = 4;

/// "speaker", "appeared", "vanished", "boundary".
DIARIST_API const char* name_of(ChangeKind kind) noexcept;

/// One stretch in which one voice differs.
struct TurnChange {
  std::string uri;
  ChangeKind kind = ChangeKind::kSpeaker;
  double start = 0;  ///< seconds
  double end = 0;
  std::optional<std::string> before;  ///< speaker of the first diarization who is not in the second
  std::optional<std::string> after;   ///< speaker of the second who is not in the first
  /// Who `after` is in the first diarization; empty for a speaker without a partner there.
  std::optional<std::string> after_is;
  double seconds() const noexcept { return end - start; }
};

/// What counts as a change.
struct DiffOptions {
  double min_seconds = 0;  ///< shorter changes are left out
  /// Speakers are who they are called; otherwise the names may differ and the best one-to-one
  /// pairing tells who is who.
  bool by_name = false;
};

/// Sums of one recording.
struct RecordingDiff {
  std::string uri;
  std::vector<SpeakerPair> mapping;  ///< `reference` is the first diarization
  int speakers_before = 0;
  int speakers_after = 0;
  double same = 0;                             ///< seconds in which a voice is in both
  std::array<double, kChangeKinds> seconds{};  ///< changed seconds, by ChangeKind
};

/// What diff_turns() found.
struct DiffReport {
  std::vector<RecordingDiff> recordings;  ///< by uri; those of either side
  std::vector<TurnChange> changes;        ///< the longest first, then by uri, start, speakers
  std::vector<std::string> only_before;   ///< recordings that only the first has
  std::vector<std::string> only_after;
  std::vector<std::string> warnings;
  double same = 0;
  std::array<double, kChangeKinds> seconds{};
};

/// Compares two diarizations recording by recording. Overlapping turns of one speaker count once;
/// touching turns are one. With one recording on each side the ids may differ.
/// \throws Error kInvalidArgument for a length that is no number >= 0, kUnsupported for more
/// speakers than can be paired.
DIARIST_API DiffReport diff_turns(const RttmFile& before, const RttmFile& after,
                                  const DiffOptions& options = {});

/// JSON of a diff. Schema: docs/json.md. \param most changes to list; 0 lists all.
DIARIST_API std::string to_json(const DiffReport& report, const DiffOptions& options,
                                std::size_t most = 0);

/// Readable table: seconds by kind, then the changes. \param most changes to list; 0 lists all.
DIARIST_API std::string to_table(const DiffReport& report, std::size_t most = 0);

}  // namespace diarist
