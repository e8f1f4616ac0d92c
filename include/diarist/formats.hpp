#pragma once
/// \file
/// Output formats and their readers. docs/formats.md shows an example of each.

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diarist/export.hpp"
#include "diarist/result.hpp"

namespace diarist {

/// Text formats of results (docs/formats.md).
enum class Format {
  kRttm,
  kJson,
  kCsv,
  kTsv,
  kSrt,
  kVtt,
  kTable,
  kTextGrid,
  kElan,
  kAudacity,
  kLab,
  kPyannote,
  kUem,
};

/// What is to know about a format.
struct FormatInfo {
  Format format = Format::kRttm;
  std::string_view name;                      ///< as in `--format`
  std::vector<std::string_view> other_names;  ///< also understood
  /// Endings of file names without the first dot; the first one is written. An ending may hold a
  /// dot: "labels.txt".
  std::vector<std::string_view> endings;
  bool has_reader = false;
  bool holds_many = false;      ///< one file may hold several recordings
  std::string_view first_line;  ///< stands once at the top of such a file; may be empty
  std::string_view description;
};

/// Every format, in the order of the enumeration.
DIARIST_API std::span<const FormatInfo> formats();
/// The row of a format in formats().
DIARIST_API const FormatInfo& format_info(Format format);

/// Format of a name or other name, in lower or upper case.
DIARIST_API std::optional<Format> format_of_name(std::string_view name);

/// Format of a file's ending, the longest that fits, in lower or upper case.
DIARIST_API std::optional<Format> format_of_ending(const std::filesystem::path& file);

/// Names of the formats as "rttm, json, ...".
/// \param readable only those with a reader.
DIARIST_API std::string format_names(bool readable = false);

/// How formats for people are laid out.
struct TextOptions {
  int columns = 80;    ///< of kTable: width of the terminal; less than 40 counts as 40
  bool ascii = false;  ///< of kTable: no block characters
};

/// A result as the content of a file. Same result, same bytes.
/// \throws Error kInternal for a result that can't be printed.
DIARIST_API std::string to_text(const Diarization& result, Format format,
                                const TextOptions& options = {});

/// One SPEAKER line of an RTTM file.
struct RttmTurn {
  double start = 0;
  double duration = 0;
  std::string label;
};

/// Turns by uri, in file order. Ids are strings everywhere.
using RttmFile = std::map<std::string, std::vector<RttmTurn>>;

/// Parses RTTM text; lines that are not SPEAKER lines are ignored. Ids and labels are decoded: what
/// to_rttm() wrote as %XX becomes the character again, <NA> the empty id.
/// \param source name for messages.
/// \throws Error kBadFile with the line number: a SPEAKER line that is damaged, or a text of which
/// no line is RTTM.
DIARIST_API RttmFile parse_rttm(std::string_view text, const std::string& source);

/// Reads a file of RTTM. \throws Error kNotFound, kBadFile.
DIARIST_API RttmFile read_rttm(const std::filesystem::path& file);

/// Reads turns in any format that has a reader, told by the file's ending and content.
/// \throws Error kNotFound, kBadFile.
DIARIST_API RttmFile read_turns(const std::filesystem::path& file);

/// Results from text: of diarist's JSON everything but embeddings comes back, of other formats
/// turns, names, and what else they hold. Turns without a length are left out with a warning in the
/// result. Exclusive turns that a format does not hold are made: whoever began first goes on.
/// Speakers are in order of their first turn.
/// \param format unset: told by the content.
/// \param source name for messages.
/// \param uri of formats that hold none.
/// \return one result per recording, sorted by uri.
/// \throws Error kBadFile with the place; kInvalidArgument for a format without a reader.
DIARIST_API std::vector<Diarization> parse_results(std::string_view text,
                                                   std::optional<Format> format,
                                                   const std::string& source,
                                                   const std::string& uri);

/// The same from a file: an unset format is told by the ending, else by the content; the uri of
/// formats that hold none is the file name without its ending. \throws Error also kNotFound.
DIARIST_API std::vector<Diarization> read_results(const std::filesystem::path& file,
                                                  std::optional<Format> format = std::nullopt);

/// A result from turns of one recording, as parse_results() makes it.
/// \param duration seconds; 0: not known.
/// \throws Error kInvalidArgument for a start or duration that is not >= 0 and below a billion.
DIARIST_API Diarization to_diarization(const std::string& uri, const std::vector<RttmTurn>& turns,
                                       double duration = 0);

/// RTTM text of a result, three decimals. `exclusive` prints the exclusive turns.
/// White space, control characters and '%' in the uri are written as %XX, so the id stays one field
/// and can be undone; an empty uri is written as <NA>. Labels likewise.
/// Unless the result comes from a reference run, no printed end passes the duration.
DIARIST_API std::string to_rttm(const Diarization& result, bool exclusive = false);

/// JSON of a result: both kinds of turns, speakers, settings, warnings, timings.
/// Schema: docs/json.md.
DIARIST_API std::string to_json(const Diarization& result);

/// Readable table of turns and a small picture of who is active, for a terminal.
/// \param columns width of the terminal; less than 40 counts as 40.
/// \param ascii draw the picture without block characters.
DIARIST_API std::string to_table(const Diarization& result, int columns = 80, bool ascii = false);

}  // namespace diarist
