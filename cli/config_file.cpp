#include "config_file.hpp"

#include <fmt/format.h>

#include <toml++/toml.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "diarist/error.hpp"

namespace diarist::cli {
namespace {

[[noreturn]] void refuse(const std::string& source, const toml::source_region& where,
                         const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{}:{}: {}", source, where.begin.line, what));
}

std::string text_of(const toml::node& node, const std::string& source) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (const auto* whole = node.as_integer()) return fmt::format("{}", whole->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  refuse(source, node.source(), "a value must be text in quotes, a number, true, false, or a list");
}

void read_table(const toml::table& table, const std::vector<std::string>& section,
                const std::string& source, std::vector<ConfigEntry>& entries) {
  for (const auto& [name, node] : table) {
    const std::string key(name.str());
    if (key.empty()) refuse(source, name.source(), "a key without a name");
    if (const toml::table* below = node.as_table()) {
      std::vector<std::string> path = section;
      path.push_back(key);
      // An entry without values: the section itself, whose name is to be checked as well.
      entries.push_back({path, "", {}, static_cast<int>(node.source().begin.line)});
      read_table(*below, path, source, entries);
      continue;
    }
    ConfigEntry entry{section, key, {}, static_cast<int>(node.source().begin.line)};
    if (const toml::array* list = node.as_array()) {
      for (const toml::node& item : *list) entry.values.push_back(text_of(item, source));
      if (entry.values.empty()) refuse(source, node.source(), key + " has an empty list");
    } else {
      entry.values.push_back(text_of(node, source));
    }
    entries.push_back(std::move(entry));
  }
}

}  // namespace

std::vector<ConfigEntry> parse_config(std::string_view text, const std::string& source) {
  std::vector<ConfigEntry> entries;
  try {
    const toml::table table = toml::parse(text, std::string_view(source));
    read_table(table, {}, source, entries);
  } catch (const toml::parse_error& error) {
    refuse(source, error.source(), std::string(error.description()));
  }
  return entries;
}

std::vector<ConfigEntry> read_config(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    throw Error(ErrorCode::kNotFound, fmt::format("{}: no such configuration file", file.string()));
  if (std::filesystem::is_directory(file, error))
    throw Error(ErrorCode::kBadFile,
                fmt::format("{}: is a folder, not a configuration file", file.string()));
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    throw Error(ErrorCode::kBadFile,
                fmt::format("{}: can't read: {}", file.string(), std::strerror(errno)));
  const std::string text((std::istreambuf_iterator<char>(stream)),
                         std::istreambuf_iterator<char>());
  return parse_config(text, file.string());
}

std::filesystem::path default_config_file() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::filesystem::path(value == nullptr ? "" : value);
  };
  const std::filesystem::path own = variable("XDG_CONFIG_HOME");
  if (own.is_absolute()) return own / "diarist" / "config.toml";
  const std::filesystem::path home = variable("HOME");
  return home.empty() ? home : home / ".config" / "diarist" / "config.toml";
}

}  // namespace diarist::cli
