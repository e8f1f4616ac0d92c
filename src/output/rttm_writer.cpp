#include <fmt/format.h>

#include <iterator>

#include "diarist/formats.hpp"
#include "output/number_text.hpp"
#include "output/speaker_name.hpp"

namespace diarist {

std::string to_rttm(const Diarization& result, bool exclusive) {
  const std::string uri = output::encode_field(result.uri);
  std::string text;
  for (const Turn& turn : exclusive ? result.exclusive_turns : result.turns) {
    const output::PrintedTurn printed = output::printed_turn(result, turn);
    fmt::format_to(std::back_inserter(text), "SPEAKER {} 1 {} {} <NA> <NA> {} <NA> <NA>\n", uri,
                   output::milliseconds_text(printed.start),
                   output::milliseconds_text(printed.duration),
                   output::encode_field(output::speaker_name(result, turn)));
  }
  return text;
}

}  // namespace diarist
