// diarist::VoiceLibrary: speakers named after enrolled voices.

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "diarist/voices.hpp"
#include "errors.hpp"
#include "samples.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace diarist::python {

namespace {

VoiceModel model_of(const nb::dict& info) {
  EmbedderInfo made;
  made.network = nb::cast<std::string>(info["network"]);
  made.weights = nb::cast<std::string>(info["weights"]);
  made.dim = nb::cast<int>(info["dim"]);
  return voice_model(made);
}

void add_vector(VoiceLibrary& self, const std::string& name, const nb::dict& info,
                const AnyArray& embedding, double seconds, const std::string& source) {
  const std::span<const float> numbers = floats_of(embedding, "embedding");
  self.add(name, model_of(info), {{numbers.begin(), numbers.end()}, seconds, source});
}

// (name, ((seconds, source), ...)) of every voice.
nb::list voices_of(const VoiceLibrary& self) {
  nb::list voices;
  for (const Voice& voice : self.voices()) {
    nb::list samples;
    for (const VoiceSample& sample : voice.samples)
      samples.append(nb::make_tuple(sample.seconds, sample.source));
    voices.append(nb::make_tuple(voice.name, samples));
  }
  return voices;
}

nb::object embeddings_of(const VoiceLibrary& self, const std::string& name) {
  const Voice* const voice = self.find(name);
  if (voice == nullptr) fail_argument("there is no voice '" + name + "'");
  std::vector<float> rows;
  for (const VoiceSample& sample : voice->samples)
    rows.insert(rows.end(), sample.embedding.begin(), sample.embedding.end());
  const std::size_t dim = rows.size() / voice->samples.size();
  return own_array(std::move(rows), {voice->samples.size(), dim});
}

nb::list match(const VoiceLibrary& self, const AnyArray& embedding, const nb::dict& info) {
  nb::list matches;
  for (const VoiceMatch& found : self.match(floats_of(embedding, "embedding"), model_of(info)))
    matches.append(nb::make_tuple(found.name, found.score));
  return matches;
}

nb::object model(const VoiceLibrary& self) {
  if (!self.model()) return nb::none();
  return nb::make_tuple(self.model()->network, self.model()->sha256, self.model()->dim);
}

Diarization named(const Diarization& result, const VoiceLibrary& voices,
                  std::optional<double> threshold, double margin, double min_seconds) {
  return name_speakers(result, voices,
                       {.threshold = threshold, .margin = margin, .min_seconds = min_seconds});
}

// One (speaker, decision, best, score, next, next_score) per speaker; none unless compared.
nb::object voices_of_result(const Diarization& result) {
  if (!result.settings.voices) return nb::none();
  const auto name = [](const std::string& text) -> nb::object {
    return text.empty() ? nb::none() : nb::cast(text);
  };
  nb::list list;
  for (const Speaker& speaker : result.speakers) {
    const SpeakerVoice voice = speaker.voice.value_or(SpeakerVoice{});
    list.append(nb::make_tuple(voice.speaker, voice_decision_name(voice.decision), name(voice.best),
                               voice.score, name(voice.next), voice.next_score));
  }
  return list;
}

}  // namespace

void bind_voices(nb::module_& module) {
  nb::class_<VoiceLibrary>(module, "VoiceLibrary")
      .def(nb::init<>())
      .def_static("load", &VoiceLibrary::load, "file"_a)
      .def_static("parse", &VoiceLibrary::parse, "text"_a, "source"_a)
      .def("save", &VoiceLibrary::save, "file"_a)
      .def("to_text", &VoiceLibrary::to_text)
      .def("add_speaker",
           nb::overload_cast<const std::string&, const Diarization&, const std::string&>(
               &VoiceLibrary::add),
           "name"_a, "result"_a, "speaker"_a)
      .def("add_vector", &add_vector, "name"_a, "info"_a, "embedding"_a, "seconds"_a, "source"_a)
      .def("remove", nb::overload_cast<const std::string&>(&VoiceLibrary::remove), "name"_a)
      .def("remove_sample",
           nb::overload_cast<const std::string&, std::size_t>(&VoiceLibrary::remove), "name"_a,
           "sample"_a)
      .def("rename", &VoiceLibrary::rename, "name"_a, "to"_a)
      .def("match", &match, "embedding"_a, "info"_a)
      .def("embeddings", &embeddings_of, "name"_a)
      .def_prop_ro("voices", &voices_of)
      .def_prop_ro("model", &model);
  module.def("named", &named, "result"_a, "voices"_a, "threshold"_a.none(), "margin"_a,
             "min_seconds"_a);
  module.def("speaker_voices", &voices_of_result, "result"_a);
}

}  // namespace diarist::python
