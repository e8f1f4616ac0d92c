#include "diarist/turn_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/file.hpp"

namespace diarist {
namespace {

namespace fs = std::filesystem;

std::string lower_ending(const fs::path& file) {
  std::string ending = file.extension().string();
  for (char& c : ending) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return ending;
}

std::vector<fs::path> list_files(const std::string& what) {
  const fs::path list = what.substr(1);
  return parse_path_list(base::read_text(list), list.string(), list.parent_path());
}

// Files of turns in a folder, sorted by name, all of one format.
std::vector<fs::path> files_of(const fs::path& folder, std::vector<std::string>& notes) {
  std::map<Format, std::vector<fs::path>> by_format;
  std::size_t others = 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& file = entry->path();
    if (!entry->is_regular_file() || file.filename().string().starts_with('.')) continue;
    const std::optional<Format> format = format_of_ending(file);
    // A UEM has regions and no turns.
    if (format && format_info(*format).has_reader && *format != Format::kUem) {
      by_format[*format].push_back(file);
    } else {
      ++others;
    }
  }
  if (error) {
    base::fail(ErrorCode::kBadFile, "{}: the folder can't be read: {}", folder.string(),
               error.message());
  }
  if (by_format.empty()) {
    base::fail(ErrorCode::kNotFound,
               "{}: the folder has no file of turns (*.rttm or another format that diarist reads)",
               folder.string());
  }
  auto chosen = by_format.find(Format::kRttm);
  if (chosen == by_format.end()) {
    if (by_format.size() > 1) {
      base::fail(ErrorCode::kInvalidArgument,
                 "{}: the folder has no RTTM but files of several other formats ({}, {}); name the "
                 "ones that are meant in a list: @LIST",
                 folder.string(), format_info(by_format.begin()->first).name,
                 format_info(by_format.rbegin()->first).name);
    }
    chosen = by_format.begin();
  }
  for (const auto& [format, files] : by_format) {
    if (format != chosen->first) others += files.size();
  }
  if (others > 0) {
    notes.push_back(fmt::format("{}: {} files that are not {} were not read", folder.string(),
                                others, format_info(chosen->first).name));
  }
  std::vector<fs::path> files = std::move(chosen->second);
  std::sort(files.begin(), files.end());
  return files;
}

// Joins the recordings of many files.
class Collector {
 public:
  void add(const fs::path& file) {
    RttmFile turns = read_turns(file);
    if (turns.empty()) turns[file.stem().string()];
    for (auto& [uri, of_uri] : turns) {
      const auto [known, is_new] = source_.emplace(uri, file);
      if (!is_new) {
        base::fail(
            ErrorCode::kInvalidArgument,
            "recording '{}' is in {} and in {}; give each recording once, under an id of its "
            "own",
            uri, known->second.string(), file.string());
      }
      inputs_.turns[uri] = std::move(of_uri);
    }
    inputs_.files.push_back(file);
  }

  TurnInputs finish() && { return std::move(inputs_); }
  std::vector<std::string>& notes() { return inputs_.notes; }

 private:
  TurnInputs inputs_;
  std::map<std::string, fs::path> source_;
};

}  // namespace

TurnInputs read_turn_inputs(const std::string& what) {
  if (!what.starts_with('@')) {
    std::error_code ignored;
    if (!fs::is_directory(what, ignored)) return {read_turns(what), {what}, {}};
  }
  Collector collector;
  const std::vector<fs::path> files =
      what.starts_with('@') ? list_files(what) : files_of(what, collector.notes());
  for (const fs::path& file : files) collector.add(file);
  return std::move(collector).finish();
}

Regions read_region_inputs(const std::string& what) {
  std::vector<fs::path> files;
  std::error_code error;
  if (what.starts_with('@')) {
    files = list_files(what);
  } else if (fs::is_directory(what, error)) {
    for (fs::directory_iterator entry(what, error), end; !error && entry != end;
         entry.increment(error)) {
      if (lower_ending(entry->path()) == ".uem") files.push_back(entry->path());
    }
    if (files.empty()) {
      base::fail(ErrorCode::kNotFound, "{}: the folder has no *.uem file", what);
    }
    std::sort(files.begin(), files.end());
  } else {
    files.emplace_back(what);
  }
  Regions regions;
  for (const fs::path& file : files) {
    for (const auto& [uri, more] : read_uem(file)) {
      std::vector<Region>& known = regions[uri];
      known.insert(known.end(), more.begin(), more.end());
    }
  }
  return regions;
}

std::vector<fs::path> parse_path_list(std::string_view text, const std::string& source,
                                      const fs::path& folder) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  constexpr std::string_view kBlank = " \t\r\v\f";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<fs::path> paths;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t first = line.find_first_not_of(kBlank);
    if (first == std::string_view::npos || line[first] == '#') continue;
    line = line.substr(first, line.find_last_not_of(kBlank) - first + 1);
    if (line.find('\0') != std::string_view::npos) {
      base::fail(
          ErrorCode::kBadFile,
          "{}, line {}: a zero byte, which no path has; the list is a text with one path per "
          "line",
          source, number);
    }
    paths.push_back(folder / fs::path(std::string(line)));
  }
  if (paths.empty()) {
    base::fail(ErrorCode::kBadFile, "{}: no path in it; write one per line", source);
  }
  return paths;
}

}  // namespace diarist
