#pragma once
/// \file
/// Stretches of recordings that count, as in NIST's UEM files (un-partitioned evaluation maps).

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "diarist/export.hpp"

namespace diarist {

/// One stretch of a recording, in seconds; 0 <= start <= end.
struct Region {
  double start = 0;
  double end = 0;
  friend bool operator==(const Region&, const Region&) = default;
};

/// Regions by uri, in file order; they may overlap. Ids are strings everywhere.
using Regions = std::map<std::string, std::vector<Region>>;

/// Parses UEM text: lines of `uri channel start end`, blank-separated; comments (`;;`) and empty
/// lines are skipped, the channel is not looked at. Ids are decoded like those of RTTM.
/// \param source name for messages.
/// \throws Error kBadFile with the line number for any other line.
DIARIST_API Regions parse_uem(std::string_view text, const std::string& source);

/// Reads a UEM file. \throws Error kNotFound, kBadFile.
DIARIST_API Regions read_uem(const std::filesystem::path& file);

/// UEM text, three decimals, uris in the order of the map and regions in their own. Ids are encoded
/// like those of RTTM (to_rttm()).
/// \throws Error kInvalidArgument for a region that is not 0 <= start <= end.
DIARIST_API std::string to_uem(const Regions& regions);

}  // namespace diarist
