// The one table of formats. A new format is a row here, a name in the enumeration, a writer and a
// reader.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/error.hpp"
#include "base/file.hpp"
#include "diarist/formats.hpp"
#include "output/formats/readers.hpp"
#include "output/formats/unicode.hpp"
#include "output/formats/writers.hpp"

namespace diarist {
namespace {

using output::Results;
using output::Source;

struct Entry {
  FormatInfo info;
  std::string (*write)(const Diarization&) = nullptr;
  Results (*read)(std::string_view, const Source&) = nullptr;
};

std::string write_rttm(const Diarization& result) { return to_rttm(result); }

// In the order of the enumeration.
const std::array<Entry, 13>& entries() {
  using enum Format;
  static const std::array<Entry, 13> kTableOfFormats = {{
      {{kRttm, "rttm", {}, {"rttm"}, true, true, "", "NIST Rich Transcription, one line per turn"},
       write_rttm,
       output::results_of_rttm},
      {{kJson,
        "json",
        {},
        {"json"},
        true,
        false,
        "",
        "everything diarist knows: turns, speakers, settings, timings"},
       to_json,
       output::results_of_json},
      {{kCsv, "csv", {}, {"csv"}, true, true, output::kCsvHeader, "table for spreadsheets"},
       output::csv_text,
       output::results_of_csv},
      {{kTsv, "tsv", {"tab"}, {"tsv", "tab"}, true, true, output::kTsvHeader, "the same with tabs"},
       output::tsv_text,
       output::results_of_csv},
      {{kSrt, "srt", {"subrip"}, {"srt"}, true, false, "", "SubRip subtitles, [NAME] as text"},
       output::srt_text,
       output::results_of_srt},
      {{kVtt,
        "vtt",
        {"webvtt"},
        {"vtt", "webvtt"},
        true,
        false,
        "",
        "WebVTT subtitles with voices, <v NAME>"},
       output::vtt_text,
       output::results_of_vtt},
      {{kTable,
        "table",
        {"text", "txt"},
        {"txt"},
        false,
        true,
        "",
        "for people: turns, totals, a small picture"},
       nullptr,
       nullptr},
      {{kTextGrid,
        "textgrid",
        {"praat"},
        {"TextGrid"},
        true,
        false,
        "",
        "Praat, one interval tier per speaker"},
       output::text_grid_text,
       output::results_of_text_grid},
      {{kElan, "eaf", {"elan"}, {"eaf"}, true, false, "", "ELAN, one tier per speaker"},
       output::elan_text,
       output::results_of_elan},
      {{kAudacity,
        "audacity",
        {"labels"},
        {"labels.txt", "labels"},
        true,
        false,
        "",
        "label track of Audacity"},
       output::audacity_text,
       output::results_of_audacity},
      {{kLab, "lab", {}, {"lab"}, true, false, "", "lines of start, end, label"},
       output::lab_text,
       output::results_of_lab},
      {{kPyannote,
        "pyannote",
        {"annotation"},
        {"pyannote.json"},
        true,
        false,
        "",
        "Annotation of pyannote.core as JSON"},
       output::pyannote_text,
       output::results_of_pyannote},
      {{kUem,
        "uem",
        {},
        {"uem"},
        false,
        true,
        "",
        "NIST UEM: the recording as one region to score"},
       output::uem_text,
       nullptr},
  }};
  return kTableOfFormats;
}

const Entry& entry(Format format) {
  const auto index = static_cast<std::size_t>(format);
  if (index >= entries().size()) {
    base::fail(ErrorCode::kInvalidArgument, "format number {} is not known; use one of: {}", index,
               format_names());
  }
  return entries()[index];
}

// Endings of which the longest fits, and its length.
std::pair<std::optional<Format>, std::size_t> match_ending(const std::filesystem::path& file) {
  const std::string name = output::lower_case(file.filename().string());
  std::pair<std::optional<Format>, std::size_t> best{std::nullopt, 0};
  for (const FormatInfo& info : formats()) {
    for (const std::string_view ending : info.endings) {
      const std::string dotted = fmt::format(".{}", output::lower_case(ending));
      if (name.size() > dotted.size() && name.ends_with(dotted) && dotted.size() > best.second) {
        best = {info.format, dotted.size()};
      }
    }
  }
  return best;
}

// The file's name without an ending of the table, else without its last one.
std::string uri_of(const std::filesystem::path& file) {
  const std::size_t length = match_ending(file).second;
  const std::string name = file.filename().string();
  return length > 0 ? name.substr(0, name.size() - length) : file.stem().string();
}

// What an ending promises and what the file holds may differ where several formats share one.
std::optional<Format> format_to_read(std::optional<Format> promised) {
  const bool shared =
      promised == Format::kJson || promised == Format::kPyannote || promised == Format::kTable;
  return shared ? std::nullopt : promised;
}

}  // namespace

std::span<const FormatInfo> formats() {
  static const std::vector<FormatInfo> kInfos = [] {
    std::vector<FormatInfo> list;
    for (const Entry& one : entries()) list.push_back(one.info);
    return list;
  }();
  return kInfos;
}

const FormatInfo& format_info(Format format) { return entry(format).info; }

std::optional<Format> format_of_name(std::string_view name) {
  const std::string wanted = output::lower_case(name);
  for (const FormatInfo& info : formats()) {
    const bool other = std::find(info.other_names.begin(), info.other_names.end(), wanted) !=
                       info.other_names.end();
    if (info.name == wanted || other) return info.format;
  }
  return std::nullopt;
}

std::optional<Format> format_of_ending(const std::filesystem::path& file) {
  return match_ending(file).first;
}

std::string format_names(bool readable) {
  std::string names;
  for (const FormatInfo& info : formats()) {
    if (readable && !info.has_reader) continue;
    if (!names.empty()) names += ", ";
    names += info.name;
  }
  return names;
}

std::string to_text(const Diarization& result, Format format, const TextOptions& options) {
  if (format == Format::kTable) return to_table(result, options.columns, options.ascii);
  return entry(format).write(result);
}

std::vector<Diarization> parse_results(std::string_view text, std::optional<Format> format,
                                       const std::string& source, const std::string& uri) {
  const std::string decoded = output::as_utf8(text);
  const Format chosen = format ? *format : output::format_of_content(decoded);
  const Entry& found = entry(chosen);
  if (found.read == nullptr) {
    base::fail(ErrorCode::kInvalidArgument,
               "{}: turns can't be read from format {}; give one of: {}", source, found.info.name,
               format_names(true));
  }
  Results results = found.read(decoded, {source, uri});
  // A file that may hold many recordings and holds none is one without speech.
  if (results.empty()) results.push_back(output::result_of(uri, {}));
  return results;
}

std::vector<Diarization> read_results(const std::filesystem::path& file,
                                      std::optional<Format> format) {
  if (!format) format = format_to_read(format_of_ending(file));
  return parse_results(base::read_text(file), format, file.string(), uri_of(file));
}

RttmFile read_turns(const std::filesystem::path& file) {
  const std::string text = output::as_utf8(base::read_text(file));
  const std::optional<Format> ending = format_to_read(format_of_ending(file));
  const Format format = ending ? *ending : output::format_of_content(text);
  // RTTM as it is: other than a result it may hold turns without a length, and no recording at all.
  if (format == Format::kRttm) return parse_rttm(text, file.string());
  RttmFile turns;
  for (const Diarization& result : parse_results(text, format, file.string(), uri_of(file))) {
    std::vector<RttmTurn>& list = turns[result.uri];
    for (const Turn& turn : result.turns) {
      list.push_back({turn.start, turn.end - turn.start,
                      result.speakers[static_cast<std::size_t>(turn.speaker)].name});
    }
  }
  return turns;
}

}  // namespace diarist
