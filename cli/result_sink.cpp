#include "result_sink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "diarist/error.hpp"
#include "manners.hpp"
#include "option_facts.hpp"
#include "output_files.hpp"

namespace diarist::cli {
namespace {

bool is_folder(const std::string& out) {
  std::error_code ignored;
  return out.ends_with('/') || std::filesystem::is_directory(out, ignored);
}

}  // namespace

std::vector<Format> formats_of(const std::string& names) {
  std::vector<Format> formats;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = names.find(',', begin);
    const std::string name = names.substr(begin, end == std::string::npos ? end : end - begin);
    const std::optional<Format> format = format_of_name(name);
    if (!format) {
      throw CLI::ValidationError(
          "--format", "'" + name + "' is not known; use one or more of: " + format_names());
    }
    if (std::find(formats.begin(), formats.end(), *format) == formats.end()) {
      formats.push_back(*format);
    }
  }
  return formats;
}

CLI::Option* add_format_option(CLI::App& command, const std::string& name,
                               std::vector<Format>& formats, const std::string& what,
                               bool readable) {
  return command
      .add_option_function<std::string>(
          name, [&formats](const std::string& names) { formats = formats_of(names); },
          what + ": " + format_names(readable))
      ->type_name(kFormatList);
}

std::string file_name(std::string id) {
  for (char& c : id)
    if (c == '/') c = '_';
  return id;
}

ResultSink::ResultSink(std::vector<std::string> ids, const OutputPlace& place)
    : ids_(std::move(ids)), out_(place.out), formats_(place.formats) {
  const std::optional<Format> ending = format_of_ending(out_);
  if (place.out.empty() || place.out == "-") {
    kind_ = Kind::kStandardOutput;
  } else {
    std::error_code ignored;
    const bool there = std::filesystem::exists(out_, ignored);
    const bool named_as_file = ending || place.file_unless_folder || there;
    kind_ = named_as_file && !is_folder(place.out) ? Kind::kFile : Kind::kFolder;
  }
  if (formats_.empty()) {
    formats_ = {kind_ == Kind::kFile && ending ? *ending : Format::kRttm};
  }
  refuse_what_does_not_fit();
  if (kind_ == Kind::kFile) check_output_place(out_);
  if (kind_ == Kind::kFolder && !manners().dry_run) {
    std::error_code error;
    std::filesystem::create_directories(out_, error);
    if (error)
      throw Error(ErrorCode::kBadFile,
                  fmt::format("{}: can't make this folder: {}", place.out, error.message()));
  }
}

void ResultSink::refuse_what_does_not_fit() const {
  const auto refuse = [](const std::string& text) {
    throw Error(ErrorCode::kInvalidArgument, text);
  };
  if (kind_ == Kind::kFolder) {
    std::set<std::filesystem::path> files;
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      for (const Format format : formats_) {
        if (!files.insert(file_of(i, format)).second)
          refuse(fmt::format("two results would be written to {}; run them one by one",
                             file_of(i, format).string()));
      }
    }
    return;
  }
  const FormatInfo& info = format_info(formats_[0]);
  if (formats_.size() > 1)
    refuse("several formats go into a folder, not one file or standard output");
  if (ids_.size() > 1 && !info.holds_many)
    refuse(fmt::format("a file of {} holds one recording only; let the {} go into a folder",
                       std::string(info.name), ids_.size()));
}

std::filesystem::path ResultSink::file_of(std::size_t i, Format format) const {
  return out_ /
         fmt::format("{}.{}", file_name(ids_[i]), std::string(format_info(format).endings.front()));
}

std::vector<std::filesystem::path> ResultSink::targets(std::size_t i) const {
  if (kind_ == Kind::kStandardOutput) return {};
  if (kind_ == Kind::kFile) return {out_};
  std::vector<std::filesystem::path> files;
  for (const Format format : formats_) files.push_back(file_of(i, format));
  return files;
}

bool ResultSink::write(std::size_t i, const Diarization& result) {
  if (kind_ == Kind::kFolder) {
    for (const Format format : formats_) write_file(file_of(i, format), to_text(result, format));
    return true;
  }
  const bool shown = kind_ == Kind::kStandardOutput;
  std::string text =
      to_text(result, formats_[0], {.columns = shown ? terminal_columns() : 80, .ascii = false});
  if (!first_) text.erase(0, format_info(formats_[0]).first_line.size());
  first_ = false;
  if (shown) return print(text);
  collected_ += text;
  return true;
}

void ResultSink::finish() {
  if (kind_ == Kind::kFile && !first_) write_file(out_, collected_);
}

}  // namespace diarist::cli
