#pragma once
// What the page's script knows about a result: compact JSON.

#include <string>

#include "diarist/report.hpp"

namespace diarist::output {

/// Times in milliseconds and confidences in thousandths, as the other writers print them; levels of
/// the waveform in base64, at most about a million of them however long the recording is.
std::string page_data(const Diarization& result, const ReportOptions& options);

/// Seconds that the page shows: the duration, or the last end where it is not known.
double page_duration(const Diarization& result);

}  // namespace diarist::output
