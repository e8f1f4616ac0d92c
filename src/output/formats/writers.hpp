#pragma once
// Writers of single formats, and what they share.

#include <cstdint>
#include <string>
#include <vector>

#include "diarist/result.hpp"
#include "output/number_text.hpp"
#include "output/speaker_name.hpp"

namespace diarist::output {

std::string csv_text(const Diarization& result);
std::string tsv_text(const Diarization& result);
std::string srt_text(const Diarization& result);
std::string vtt_text(const Diarization& result);
std::string text_grid_text(const Diarization& result);
std::string elan_text(const Diarization& result);
std::string audacity_text(const Diarization& result);
std::string lab_text(const Diarization& result);
std::string pyannote_text(const Diarization& result);
/// The recording's extent as one region.
std::string uem_text(const Diarization& result);

inline constexpr std::string_view kCsvHeader = "uri,start,end,speaker\n";
inline constexpr std::string_view kTsvHeader = "uri\tstart\tend\tspeaker\n";

/// Calls `write(start, end, name)`, milliseconds, for every turn of a result.
template <typename Write>
void for_each_turn(const Diarization& result, Write&& write) {
  for (const Turn& turn : result.turns) {
    const std::string& name = speaker_name(result, turn);
    const PrintedTurn printed = printed_turn(result, turn);
    write(printed.start, printed.end, name);
  }
}

/// Turns of one speaker of which no two overlap, for formats that demand it.
struct Lane {
  const std::string* name = nullptr;
  int copy = 1;  ///< 2, 3, ...: the speaker's further lanes, for turns that overlap own ones
  std::vector<PrintedTurn> turns;
};

/// Lanes of every speaker, in order; those without turns have an empty one.
std::vector<Lane> lanes_of(const Diarization& result);

/// Length of the recording as printed; the last end where it is not known or lies before it.
std::int64_t printed_length(const Diarization& result);

}  // namespace diarist::output
