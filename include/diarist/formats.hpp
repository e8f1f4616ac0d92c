#pragma once
/// \file
/// Output formats and their readers.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "diarist/result.hpp"

namespace diarist {

/// One SPEAKER line of an RTTM file.
struct RttmTurn {
  double start = 0;
  double duration = 0;
  std::string label;
};

/// Turns by uri, in file order. Ids are strings everywhere.
using RttmFile = std::map<std::string, std::vector<RttmTurn>>;

/// Parses RTTM text; lines that are not SPEAKER lines are ignored.
/// \param source name for messages. \throws Error kBadFile with the line number.
RttmFile parse_rttm(std::string_view text, const std::string& source);

/// Reads a file of RTTM. \throws Error kNotFound, kBadFile.
RttmFile read_rttm(const std::filesystem::path& file);

/// RTTM text of a result, three decimals. `exclusive` prints the exclusive turns.
/// White space and '%' in the uri are written as %XX, so the id stays one field and can be undone.
std::string to_rttm(const Diarization& result, bool exclusive = false);

/// JSON of a result: both kinds of turns, speakers, settings, warnings, timings.
/// Schema: docs/json.md.
std::string to_json(const Diarization& result);

/// Readable table of turns and a small picture of who is active, for a terminal.
/// \param columns width of the terminal, at least 40.
std::string to_table(const Diarization& result, int columns = 80);

}  // namespace diarist
