#include "shaping_options.hpp"

#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "engine_options.hpp"

namespace diarist::cli {
namespace {

std::string trimmed(const std::string& text) {
  constexpr const char* kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::vector<std::string> items_of(const std::string& text, char separator) {
  std::vector<std::string> items;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(separator, begin);
    items.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return items;
}

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    if (lines.empty() && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
    if (!trimmed(line).empty() && !line.starts_with('#')) lines.push_back(line);
  }
  if (stream.bad() || !stream.eof()) {
    throw CLI::ValidationError("--names", file.string() + ": can't be read");
  }
  return lines;
}

}  // namespace

void set_names(const std::string& text, TurnShaping& shaping) {
  std::error_code ignored;
  const bool file = std::filesystem::is_regular_file(text, ignored);
  const std::vector<std::string> items = file ? lines_of(text) : items_of(text, ',');
  if (items.empty()) throw CLI::ValidationError("--names", text + ": holds no name");
  shaping.names.clear();
  shaping.renames.clear();
  std::size_t pairs = 0;
  for (const std::string& item : items) {
    const std::size_t tab = file ? item.find('\t') : std::string::npos;
    const std::size_t middle = tab == std::string::npos ? item.find('=') : tab;
    const std::string name = trimmed(middle == std::string::npos ? item : item.substr(middle + 1));
    if (name.empty() || (file && item.find('\0') != std::string::npos)) {
      throw CLI::ValidationError(
          "--names",
          text + (file ? ": is a file without names; write one per line, or SPEAKER_00=name"
                       : ": a name is empty; write a,b,c or SPEAKER_00=a,SPEAKER_01=b"));
    }
    if (middle == std::string::npos) {
      shaping.names.push_back(name);
      continue;
    }
    ++pairs;
    if (!shaping.renames.emplace(trimmed(item.substr(0, middle)), name).second) {
      throw CLI::ValidationError(
          "--names", "'" + text + "': " + trimmed(item.substr(0, middle)) + " gets two names");
    }
  }
  if (pairs != 0 && pairs != items.size()) {
    throw CLI::ValidationError("--names", "'" + text +
                                              "' mixes names in order with OLD=NEW; "
                                              "give them one way");
  }
}

void add_shaping_options(CLI::App& command, TurnShaping& shaping) {
  const std::string group = "Turns";
  command
      .add_flag("--exclusive", shaping.exclusive, "at most one speaker at a time, in every format")
      ->group(group);
  const auto seconds = [&](const char* name, double& value, const char* what) {
    command.add_option(name, value, what)->check(zero_or_more())->type_name("S")->group(group);
  };
  seconds("--min-duration-off", shaping.min_duration_off,
          "fill pauses of one speaker shorter than this");
  seconds("--min-duration-on", shaping.min_duration_on, "then drop turns shorter than this");
  seconds("--merge-gap", shaping.merge_gap,
          "then join turns of one speaker over a shorter pause in which nobody else talks");
  seconds("--pad", shaping.pad, "then let turns begin earlier and end later by this");
  command
      .add_option_function<std::string>(
          "--names", [&shaping](const std::string& text) { set_names(text, shaping); },
          "names of the speakers: a,b,c in order of their numbers, SPEAKER_00=a,SPEAKER_02=b, or "
          "a file with one per line")
      ->type_name("NAMES")
      ->group(group);
}

}  // namespace diarist::cli
