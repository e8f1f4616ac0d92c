#pragma once
// Readers of single formats, and what they share. All take UTF-8 text without a byte order mark.

#include <string>
#include <string_view>
#include <vector>

#include "diarist/formats.hpp"

namespace diarist::output {

struct Source {
  std::string name;  ///< for messages
  std::string uri;   ///< of formats that hold none
};

using Results = std::vector<Diarization>;

Results results_of_rttm(std::string_view text, const Source& source);
Results results_of_json(std::string_view text, const Source& source);
Results results_of_csv(std::string_view text, const Source& source);
Results results_of_srt(std::string_view text, const Source& source);
Results results_of_vtt(std::string_view text, const Source& source);
Results results_of_text_grid(std::string_view text, const Source& source);
Results results_of_elan(std::string_view text, const Source& source);
Results results_of_audacity(std::string_view text, const Source& source);
Results results_of_lab(std::string_view text, const Source& source);
Results results_of_pyannote(std::string_view text, const Source& source);

/// Format that the content shows; RTTM where nothing else does.
Format format_of_content(std::string_view text);

/// No recording in a file is longer: thirty years, in seconds.
inline constexpr double kLongest = 1e9;

struct NamedTurn {
  double start = 0;
  double end = 0;
  std::string name;
};

/// A result from turns whose times were checked: sorted, speakers in order of their first turn;
/// turns without a length are left out with a warning.
Diarization result_of(const std::string& uri, const std::vector<NamedTurn>& turns,
                      double duration = 0);

/// \throws Error kBadFile unless 0 <= start <= end <= kLongest. `place` is "FILE, line 3".
void check_times(double start, double end, const std::string& place);

}  // namespace diarist::output
