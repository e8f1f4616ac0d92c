#pragma once
/// \file
/// Turns of many recordings, from one file, a folder or a list of files.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "diarist/export.hpp"
#include "diarist/formats.hpp"
#include "diarist/regions.hpp"

namespace diarist {

/// Turns of many recordings and where they came from.
struct TurnInputs {
  RttmFile turns;
  std::vector<std::filesystem::path> files;  ///< what was read, in order
  std::vector<std::string> notes;  ///< one sentence each, e.g. files that were passed over
};

/// Reads turns from
///  - a file in any format that read_turns() takes; it may hold several recordings;
///  - a folder: its RTTM files, in order of their names; where it has none, the files of the one
///    other format that it has. Files in folders below it, hidden files and others are not read;
///  - "@LIST": the files named in the text file LIST (parse_path_list()).
///
/// A file of a folder or list that holds no turn stands for a recording without speech, named like
/// the file without its ending.
/// \throws Error kNotFound, kBadFile; kInvalidArgument where two files have turns of one recording,
/// or a folder has several other formats and no RTTM.
DIARIST_API TurnInputs read_turn_inputs(const std::string& what);

/// Reads UEM regions from a file, from the *.uem files of a folder or from "@LIST". Regions of one
/// recording in several files are put together.
/// \throws Error kNotFound, kBadFile.
DIARIST_API Regions read_region_inputs(const std::string& what);

/// Paths in a text, one per line; blanks around them, empty lines and lines that begin with '#' are
/// skipped. Relative paths are meant from `folder`.
/// \param source name for messages.
/// \throws Error kBadFile for a text without a path or a line that can't be one.
DIARIST_API std::vector<std::filesystem::path> parse_path_list(std::string_view text,
                                                               const std::string& source,
                                                               const std::filesystem::path& folder);

}  // namespace diarist
