// diarist::Diarization and what is written of it.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "diarist/formats.hpp"
#include "diarist/report.hpp"
#include "diarist/result.hpp"
#include "diarist/shaping.hpp"
#include "diarist/waveform.hpp"
#include "errors.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace diarist::python {

std::vector<unsigned char> spread_activity(const std::vector<unsigned char>& activity) {
  std::vector<unsigned char> spread;
  spread.reserve(activity.size() * 3);
  for (const unsigned char bits : activity)
    for (int speaker = 0; speaker < 3; ++speaker)
      spread.push_back(static_cast<unsigned char>((bits >> speaker) & 1));
  return spread;
}

namespace {

using TurnTuple = std::tuple<double, double, int, float>;

// Text of the engine; what is no UTF-8 becomes U+FFFD.
nb::object text(const std::string& bytes) {
  return nb::steal(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

nb::list turn_list(const std::vector<Turn>& turns) {
  nb::list list;
  for (const Turn& turn : turns)
    list.append(nb::make_tuple(turn.start, turn.end, turn.speaker, turn.confidence));
  return list;
}

std::vector<Turn> turns_of(const nb::list& list, std::size_t speakers) {
  std::vector<Turn> turns;
  for (const nb::handle item : list) {
    const auto tuple = nb::cast<nb::tuple>(item);
    turns.push_back({.start = nb::cast<double>(tuple[0]),
                     .end = nb::cast<double>(tuple[1]),
                     .speaker = nb::cast<int>(tuple[2]),
                     .confidence = nb::cast<float>(tuple[3])});
    if (turns.back().speaker < 0 || static_cast<std::size_t>(turns.back().speaker) >= speakers)
      fail_argument("a pickled diarization names a speaker that it does not have");
  }
  return turns;
}

nb::list speaker_list(const Diarization& result) {
  nb::list list;
  for (const Speaker& speaker : result.speakers)
    list.append(nb::make_tuple(text(speaker.name), speaker.speech_seconds));
  return list;
}

// [speakers, D], or None where there are none or one has no centroid.
nb::object embeddings(const Diarization& result) {
  if (result.speakers.empty()) return nb::none();
  const std::size_t dim = result.speakers.front().embedding.size();
  std::vector<float> rows;
  for (const Speaker& speaker : result.speakers) {
    if (dim == 0 || speaker.embedding.size() != dim) return nb::none();
    rows.insert(rows.end(), speaker.embedding.begin(), speaker.embedding.end());
  }
  return own_array(std::move(rows), {result.speakers.size(), dim});
}

nb::object stages(const Diarization& result) {
  const std::shared_ptr<const StageResults>& kept = result.stages;
  if (!kept) return nb::none();
  const auto chunks = static_cast<std::size_t>(kept->chunks);
  const auto dim = static_cast<std::size_t>(kept->embedding_dim);
  nb::dict stages;
  stages["segmentations"] = own_array(spread_activity(kept->activity), {chunks, 589, 3});
  stages["embeddings"] = view_array(kept->embeddings.data(), {chunks, 3, dim}, kept);
  stages["hard_clusters"] = view_array(kept->hard_clusters.data(), {chunks, 3}, kept);
  stages["counts"] = view_array(kept->counts.data(), {kept->counts.size()}, kept);
  return stages;
}

nb::object waveform(const Diarization& result) {
  const std::shared_ptr<const Waveform>& kept = result.waveform;
  if (!kept) return nb::none();
  return nb::make_tuple(view_array(kept->peak.data(), {kept->peak.size()}, kept),
                        view_array(kept->power.data(), {kept->power.size()}, kept));
}

nb::bytes bytes_of(const std::vector<unsigned char>& values) {
  return nb::bytes(reinterpret_cast<const char*>(values.data()), values.size());
}

// Everything but stage results: JSON, and what JSON rounds or leaves out.
nb::tuple state_of(const Diarization& result) {
  nb::list vectors;
  for (const Speaker& speaker : result.speakers)
    vectors.append(nb::make_tuple(speaker.speech_seconds, speaker.embedding));
  nb::object levels = nb::none();
  if (result.waveform)
    levels = nb::make_tuple(result.waveform->duration, bytes_of(result.waveform->peak),
                            bytes_of(result.waveform->power));
  return nb::make_tuple(to_json(result), turn_list(result.turns), turn_list(result.exclusive_turns),
                        vectors, levels);
}

std::vector<unsigned char> bytes_to_vector(const nb::handle& object) {
  const auto bytes = nb::cast<nb::bytes>(object);
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.c_str());
  return {data, data + bytes.size()};
}

void set_state(Diarization* self, const nb::tuple& state) {
  std::vector<Diarization> parsed =
      parse_results(nb::cast<std::string>(state[0]), Format::kJson, "a pickled diarization", "");
  Diarization result = std::move(parsed.at(0));
  const auto vectors = nb::cast<nb::list>(state[3]);
  if (nb::len(vectors) != result.speakers.size())
    fail_argument("a pickled diarization has speakers and embeddings of other numbers");
  for (std::size_t i = 0; i < result.speakers.size(); ++i) {
    const auto pair = nb::cast<nb::tuple>(vectors[i]);
    result.speakers[i].speech_seconds = nb::cast<double>(pair[0]);
    result.speakers[i].embedding = nb::cast<std::vector<float>>(pair[1]);
  }
  result.turns = turns_of(nb::cast<nb::list>(state[1]), result.speakers.size());
  result.exclusive_turns = turns_of(nb::cast<nb::list>(state[2]), result.speakers.size());
  if (!state[4].is_none()) {
    const auto levels = nb::cast<nb::tuple>(state[4]);
    result.waveform =
        std::make_shared<const Waveform>(Waveform{.duration = nb::cast<double>(levels[0]),
                                                  .peak = bytes_to_vector(levels[1]),
                                                  .power = bytes_to_vector(levels[2])});
  }
  new (self) Diarization(std::move(result));
}

Diarization shape(const Diarization& result, double min_duration_on, double min_duration_off,
                  double merge_gap, double pad, bool exclusive, const nb::object& names) {
  TurnShaping shaping{.min_duration_off = min_duration_off,
                      .min_duration_on = min_duration_on,
                      .merge_gap = merge_gap,
                      .pad = pad,
                      .exclusive = exclusive};
  if (PyDict_Check(names.ptr())) {
    for (const auto [from, to] : nb::cast<nb::dict>(names))
      shaping.renames[nb::cast<std::string>(from)] = nb::cast<std::string>(to);
  } else if (!names.is_none()) {
    for (const nb::handle name : names) shaping.names.push_back(nb::cast<std::string>(name));
  }
  return shaped(result, shaping);
}

Format format_named(const std::string& name) {
  if (const std::optional<Format> format = format_of_name(name)) return *format;
  fail_argument("there is no format '" + name + "'; there are " + format_names());
}

}  // namespace

void bind_result(nb::module_& module) {
  nb::class_<Diarization>(module, "Result")
      .def_rw("uri", &Diarization::uri)
      .def_ro("duration", &Diarization::duration)
      .def_prop_ro("turns", [](const Diarization& self) { return turn_list(self.turns); })
      .def_prop_ro("exclusive_turns",
                   [](const Diarization& self) { return turn_list(self.exclusive_turns); })
      .def_prop_ro("speakers", &speaker_list)
      .def_prop_ro("embeddings", &embeddings)
      .def_prop_ro("stages", &stages)
      .def_prop_ro("waveform", &waveform)
      .def_prop_ro("warnings",
                   [](const Diarization& self) {
                     nb::list list;
                     for (const std::string& warning : self.warnings) list.append(text(warning));
                     return list;
                   })
      .def(
          "to_rttm",
          [](const Diarization& self, bool exclusive) { return text(to_rttm(self, exclusive)); },
          "exclusive"_a = false)
      .def(
          "to_text",
          [](const Diarization& self, const std::string& format, int columns, bool ascii) {
            return text(to_text(self, format_named(format), {.columns = columns, .ascii = ascii}));
          },
          "format"_a, "columns"_a = 80, "ascii"_a = false)
      .def(
          "to_html",
          [](const Diarization& self, const std::string& title) {
            return text(to_html(self, {.title = title}));
          },
          "title"_a = "")
      .def(
          "to_svg",
          [](const Diarization& self, const std::string& title, int width) {
            return text(to_svg(self, {.title = title, .width = width}));
          },
          "title"_a = "", "width"_a = 1000)
      .def(
          "to_png",
          [](const Diarization& self, const std::string& title, int width) {
            const std::string png = to_png(self, {.title = title, .width = width});
            return nb::bytes(png.data(), png.size());
          },
          "title"_a = "", "width"_a = 1000)
      .def("shaped", &shape, nb::kw_only(), "min_duration_on"_a = 0.0, "min_duration_off"_a = 0.0,
           "merge_gap"_a = 0.0, "pad"_a = 0.0, "exclusive"_a = false, "names"_a = nb::none())
      .def("__getstate__", &state_of)
      .def("__setstate__", &set_state);
}

}  // namespace diarist::python
