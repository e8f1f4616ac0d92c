#pragma once
// Where the value of an option comes from: command line, environment, configuration file, or what
// is built in; in this order.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config_file.hpp"
#include "verb_pages.hpp"

namespace diarist::cli {

/// A value that nobody typed, and who says so.
struct Setting {
  std::vector<std::string> values;
  std::string origin;  ///< "DIARIST_DEVICE" or "FILE:LINE"
};

/// Environment and configuration file of one call.
class Settings {
 public:
  /// Reads the file: `wished` (--config) if not empty, else $DIARIST_CONFIG if set (empty: none),
  /// else the default one if it exists. Each key is checked against what the verbs know.
  /// \throws Error kInvalidArgument "FILE:LINE: unknown key ...", or that a named file is missing.
  Settings(const VerbPage& root, const std::string& wished);

  /// The wish for an option of a verb: from the environment, else from the file, where the section
  /// of the verb stands above that of the verb it belongs to, and that above the top of the file or
  /// [all].
  std::optional<Setting> of(const VerbPage& verb, const OptionPage& option) const;
  std::optional<Setting> from_environment(const OptionPage& option) const;
  std::optional<Setting> from_file(const VerbPage& verb, const OptionPage& option) const;

  const std::filesystem::path& file() const noexcept { return file_; }  ///< empty: none was read

 private:
  std::filesystem::path file_;
  std::vector<ConfigEntry> entries_;
};

/// "DIARIST_MAX_GPU_MEMORY" for "max-gpu-memory".
std::string variable_of(const std::string& key);

/// Makes the parser fill in options that were not typed. Options that exclude each other, and the
/// three numbers of speakers, are taken from one rank only.
void use_settings(CLI::App& app);

/// " (from DIARIST_DEVICE)" when a message of the parser names an option that was filled in.
std::string origin_note(const std::string& message);

}  // namespace diarist::cli
