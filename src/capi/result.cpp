#include "capi/result.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "capi/guard.hpp"
#include "capi/options.hpp"
#include "capi/structs.hpp"
#include "diarist/formats.hpp"

namespace diarist::capi {
namespace {

std::vector<diarist_turn> turns_of(const std::vector<Turn>& turns) {
  std::vector<diarist_turn> list;
  list.reserve(turns.size());
  for (const Turn& turn : turns)
    list.push_back({.start = turn.start,
                    .end = turn.end,
                    .speaker = turn.speaker,
                    .confidence = turn.confidence});
  return list;
}

// Gives a list of a result to the caller; null and 0 when that fails.
template <typename T>
diarist_status give_list(diarist_result* result, const T** list, size_t* count,
                         const std::vector<T>& (Result::*member)() const noexcept) {
  return guarded([&] {
    if (list != nullptr) *list = nullptr;
    if (count != nullptr) *count = 0;
    not_null(list, "the pointer to the list");
    not_null(count, "count");
    const std::vector<T>& values = ((*Results::get(result)).*member)();
    *list = values.data();
    *count = values.size();
  });
}

char* copy_of(const std::string& text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

diarist_stages stages_of(const Result& result) {
  const StageResults* const stages = result.value().stages.get();
  if (stages == nullptr)
    refuse("the result has no stages: set keep_stages in the options of the run");
  return {.struct_size = sizeof(diarist_stages),
          .windows = static_cast<std::size_t>(stages->chunks),
          .frames = stages->counts.size(),
          .embedding_dim = static_cast<std::size_t>(stages->embedding_dim),
          .activity = stages->activity.data(),
          .embeddings = stages->embeddings.data(),
          .hard_clusters = stages->hard_clusters.data(),
          .counts = stages->counts.data()};
}

}  // namespace

Result::Result(Diarization value)
    : value_(std::move(value)),
      turns_(turns_of(value_.turns)),
      exclusive_turns_(turns_of(value_.exclusive_turns)) {
  for (const Speaker& speaker : value_.speakers)
    speakers_.push_back({.name = speaker.name.c_str(),
                         .speech_seconds = speaker.speech_seconds,
                         .embedding = speaker.embedding.data(),
                         .embedding_dim = speaker.embedding.size()});
  if (value_.settings.voices) {
    const auto name = [](const std::string& text) { return text.empty() ? nullptr : text.c_str(); };
    for (const Speaker& speaker : value_.speakers) {
      static const SpeakerVoice kNothing;  // of speakers that another hand added
      const SpeakerVoice& voice = speaker.voice ? *speaker.voice : kNothing;
      voices_.push_back({.speaker = voice.speaker.c_str(),
                         .best = name(voice.best),
                         .score = voice.score,
                         .next = name(voice.next),
                         .next_score = voice.next_score,
                         .decision = static_cast<int32_t>(voice.decision)});
    }
  }
  for (const std::string& warning : value_.warnings) warnings_.push_back(warning.c_str());
}

diarist_result* new_result(Diarization value) {
  return Results::add(std::make_shared<Result>(std::move(value)));
}

}  // namespace diarist::capi

using diarist::capi::give_list;
using diarist::capi::guarded;
using diarist::capi::not_null;
using diarist::capi::Result;
using diarist::capi::Results;

extern "C" {

diarist_status diarist_result_turns(diarist_result* result, const diarist_turn** turns,
                                    size_t* count) {
  return give_list(result, turns, count, &Result::turns);
}

diarist_status diarist_result_exclusive_turns(diarist_result* result, const diarist_turn** turns,
                                              size_t* count) {
  return give_list(result, turns, count, &Result::exclusive_turns);
}

diarist_status diarist_result_speakers(diarist_result* result, const diarist_speaker** speakers,
                                       size_t* count) {
  return give_list(result, speakers, count, &Result::speakers);
}

diarist_status diarist_result_voices(diarist_result* result, const diarist_speaker_voice** list,
                                     size_t* count) {
  return give_list(result, list, count, &Result::voices);
}

diarist_status diarist_result_warnings(diarist_result* result, const char* const** warnings,
                                       size_t* count) {
  return guarded([&] {
    if (warnings != nullptr) *warnings = nullptr;
    if (count != nullptr) *count = 0;
    not_null(warnings, "the pointer to the list");
    not_null(count, "count");
    const auto object = Results::get(result);
    *warnings = object->warnings().data();
    *count = object->warnings().size();
  });
}

diarist_status diarist_result_uri(diarist_result* result, const char** uri) {
  return guarded([&] {
    not_null(uri, "uri") = nullptr;
    *uri = Results::get(result)->value().uri.c_str();
  });
}

diarist_status diarist_result_duration(diarist_result* result, double* seconds) {
  return guarded([&] {
    not_null(seconds, "seconds") = 0;
    *seconds = Results::get(result)->value().duration;
  });
}

diarist_status diarist_result_stages(diarist_result* result, diarist_stages* stages) {
  return guarded([&] {
    const std::size_t size = not_null(stages, "stages").struct_size;
    diarist::capi::write_struct(stages, size, {}, "diarist_stages");
    diarist::capi::write_struct(stages, size, diarist::capi::stages_of(*Results::get(result)),
                                "diarist_stages");
  });
}

diarist_status diarist_result_to_text(diarist_result* result, const char* format, char** text,
                                      size_t* length) {
  return guarded([&] {
    if (length != nullptr) *length = 0;
    not_null(text, "text") = nullptr;
    const std::string name = &not_null(format, "format");
    const std::optional<diarist::Format> known = diarist::format_of_name(name);
    if (!known) diarist::capi::refuse("format " + name + ": use one of " + diarist::format_names());
    const std::string written = diarist::to_text(Results::get(result)->value(), *known);
    *text = diarist::capi::copy_of(written);
    if (length != nullptr) *length = written.size();
  });
}

void diarist_text_free(char* text) { std::free(text); }

diarist_status diarist_result_shape(diarist_result* result, const diarist_shaping* shaping,
                                    diarist_result** shaped) {
  return guarded([&] {
    not_null(shaped, "shaped") = nullptr;
    const diarist::TurnShaping wanted = diarist::capi::shaping_of(shaping);
    *shaped = diarist::capi::new_result(diarist::shaped(Results::get(result)->value(), wanted));
  });
}

diarist_status diarist_result_destroy(diarist_result* result) {
  return guarded([&] { Results::drop(result); });
}

}  // extern "C"
