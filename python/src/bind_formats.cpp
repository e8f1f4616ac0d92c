// Results from text, and error rates.

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "diarist/formats.hpp"
#include "diarist/scoring.hpp"
#include "errors.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace diarist::python {

namespace {

using Path = std::filesystem::path;
/// start, duration, label
using TurnTuples = std::vector<std::tuple<double, double, std::string>>;
using Recordings = std::vector<std::pair<std::string, TurnTuples>>;
using RegionLists = std::vector<std::pair<std::string, std::vector<std::pair<double, double>>>>;

std::vector<RttmTurn> turns_of(const TurnTuples& tuples) {
  std::vector<RttmTurn> turns;
  for (const auto& [start, duration, label] : tuples)
    turns.push_back({.start = start, .duration = duration, .label = label});
  return turns;
}

RttmFile file_of(const Recordings& recordings) {
  RttmFile file;
  for (const auto& [uri, tuples] : recordings) {
    if (file.contains(uri)) fail_argument("two recordings are named '" + uri + "'");
    file[uri] = turns_of(tuples);
  }
  return file;
}

std::optional<Format> format_or_any(const std::optional<std::string>& name) {
  if (!name) return std::nullopt;
  if (const std::optional<Format> format = format_of_name(*name)) return format;
  fail_argument("there is no format '" + *name + "'; there are " + format_names(true));
}

nb::list results(std::vector<Diarization> read) {
  nb::list list;
  for (Diarization& result : read) list.append(nb::cast(std::move(result)));
  return list;
}

// The report as JSON (docs/json.md): one schema for program and library.
std::string score(const Recordings& reference, const Recordings& hypothesis, double collar,
                  bool skip_overlap, bool md_eval, const std::optional<RegionLists>& uem) {
  ScoringOptions options{.collar = collar, .skip_overlap = skip_overlap, .md_eval = md_eval};
  if (uem) {
    options.uem.emplace();
    for (const auto& [uri, regions] : *uem)
      for (const auto& [start, end] : regions)
        (*options.uem)[uri].push_back({.start = start, .end = end});
  }
  const RttmFile references = file_of(reference), hypotheses = file_of(hypothesis);
  const nb::gil_scoped_release release;
  return to_json(score_files(references, hypotheses, options), options);
}

nb::list format_table() {
  nb::list list;
  for (const FormatInfo& format : formats())
    list.append(nb::make_tuple(std::string(format.name), std::string(format.endings.front()),
                               format.has_reader, std::string(format.description)));
  return list;
}

}  // namespace

void bind_formats(nb::module_& module) {
  module.def("formats", &format_table);
  module.def(
      "read_results",
      [](const Path& file, const std::optional<std::string>& format) {
        return results(read_results(file, format_or_any(format)));
      },
      "file"_a, "format"_a = nb::none());
  module.def(
      "parse_results",
      [](const nb::str& text, const std::optional<std::string>& format, const std::string& uri) {
        return results(parse_results(nb::cast<std::string>(text), format_or_any(format),
                                     "the text given", uri));
      },
      "text"_a, "format"_a = nb::none(), "uri"_a = "");
  module.def(
      "result_of_turns",
      [](const std::string& uri, const TurnTuples& turns, double duration) {
        return to_diarization(uri, turns_of(turns), duration);
      },
      "uri"_a, "turns"_a, "duration"_a = 0.0);
  module.def("score", &score, "reference"_a, "hypothesis"_a, nb::kw_only(), "collar"_a = 0.0,
             "skip_overlap"_a = false, "md_eval"_a = false, "uem"_a = nb::none());
}

}  // namespace diarist::python
