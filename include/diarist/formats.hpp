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

/// Parses RTTM text; lines that are not SPEAKER lines are ignored. Ids and labels are decoded: what
/// to_rttm() wrote as %XX becomes the character again.
/// \param source name for messages.
/// \throws Error kBadFile with the line number: a SPEAKER line that is damaged, or a text of which
/// no line is RTTM.
RttmFile parse_rttm(std::string_view text, const std::string& source);

/// Reads a file of RTTM. \throws Error kNotFound, kBadFile.
RttmFile read_rttm(const std::filesystem::path& file);

/// Reads turns in any format that has a reader, told by the file's ending and content.
/// \throws Error kNotFound, kBadFile.
RttmFile read_turns(const std::filesystem::path& file);

/// RTTM text of a result, three decimals. `exclusive` prints the exclusive turns.
/// White space, control characters and '%' in the uri are written as %XX, so the id stays one field
/// and can be undone; an empty uri is written as <NA>. Labels likewise.
/// Unless the result comes from a reference run, no printed end passes the duration.
std::string to_rttm(const Diarization& result, bool exclusive = false);

/// JSON of a result: both kinds of turns, speakers, settings, warnings, timings.
/// Schema: docs/json.md.
std::string to_json(const Diarization& result);

/// Readable table of turns and a small picture of who is active, for a terminal.
/// \param columns width of the terminal; less than 40 counts as 40.
/// \param ascii draw the picture without block characters.
std::string to_table(const Diarization& result, int columns = 80, bool ascii = false);

}  // namespace diarist
