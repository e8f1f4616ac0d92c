#pragma once
// The configuration file as a list of keys and values, with the lines they stand in.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace diarist::cli {

/// One `key = value` of a TOML file. Numbers and booleans are kept as the text that an option
/// takes.
struct ConfigEntry {
  std::vector<std::string> section;  ///< {"models", "pull"} for [models.pull]; empty at the top
  std::string key;
  std::vector<std::string> values;  ///< several for an array
  int line = 0;
};

/// Parses the part of TOML that options need: sections; keys with text on one line, numbers,
/// booleans, and lists of those, which may go over several lines.
/// \throws Error kInvalidArgument "SOURCE:LINE: what is wrong".
std::vector<ConfigEntry> parse_config(std::string_view text, const std::string& source);

/// \throws Error kNotFound, kBadFile when it can't be read, kInvalidArgument for its content.
std::vector<ConfigEntry> read_config(const std::filesystem::path& file);

/// $XDG_CONFIG_HOME/diarist/config.toml, or the same below ~/.config; empty without a home.
std::filesystem::path default_config_file();

}  // namespace diarist::cli
