#include "diarist/voices.hpp"

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "capi/engines.hpp"
#include "capi/guard.hpp"
#include "capi/handles.hpp"
#include "capi/result.hpp"
#include "capi/structs.hpp"

namespace diarist::capi {
namespace {

diarist_voice_options default_options() {
  constexpr double kMeasured = -2;  // a threshold that nobody gave
  const VoiceOptions defaults;
  return {.struct_size = sizeof(diarist_voice_options),
          .threshold = kMeasured,
          .margin = defaults.margin,
          .min_seconds = defaults.min_seconds};
}

/// A library that threads may share, and the list that C reads.
class Voices {
 public:
  explicit Voices(VoiceLibrary library) : library_(std::move(library)) { list(); }

  VoiceLibrary library() const {
    const std::lock_guard lock(mutex_);
    return library_;
  }

  template <typename Change>
  void change(Change&& how) {
    const std::lock_guard lock(mutex_);
    how(library_);
    list();
  }

  void give(const diarist_voice*& list, std::size_t& count) const {
    const std::lock_guard lock(mutex_);
    list = list_.data();
    count = list_.size();
  }

 private:
  void list() {
    list_.clear();
    for (const Voice& voice : library_.voices()) {
      double seconds = 0;
      for (const VoiceSample& sample : voice.samples) seconds += sample.seconds;
      list_.push_back(
          {.name = voice.name.c_str(), .sample_count = voice.samples.size(), .seconds = seconds});
    }
  }

  mutable std::mutex mutex_;
  VoiceLibrary library_;
  std::vector<diarist_voice> list_;
};

using VoiceHandles = Handles<HandleKind::kVoices, diarist_voices, Voices>;

std::string text_of(const char* given, const char* name) { return &not_null(given, name); }

VoiceOptions options_of(const diarist_voice_options* given) {
  const diarist_voice_options known =
      read_struct(given, default_options(), "diarist_voice_options");
  VoiceOptions options;
  if (!(known.threshold < -1)) options.threshold = known.threshold;
  options.margin = known.margin;
  options.min_seconds = known.min_seconds;
  return options;
}

diarist_voices* new_voices(VoiceLibrary library) {
  return VoiceHandles::add(std::make_shared<Voices>(std::move(library)));
}

}  // namespace
}  // namespace diarist::capi

using diarist::capi::Embedders;
using diarist::capi::guarded;
using diarist::capi::not_null;
using diarist::capi::Results;
using diarist::capi::text_of;
using diarist::capi::VoiceHandles;

extern "C" {

diarist_status diarist_voices_create(diarist_voices** voices) {
  return guarded([&] {
    not_null(voices, "voices") = nullptr;
    *voices = diarist::capi::new_voices({});
  });
}

diarist_status diarist_voices_load(const char* path, diarist_voices** voices) {
  return guarded([&] {
    not_null(voices, "voices") = nullptr;
    *voices = diarist::capi::new_voices(diarist::VoiceLibrary::load(text_of(path, "path")));
  });
}

diarist_status diarist_voices_save(diarist_voices* voices, const char* path) {
  return guarded([&] { VoiceHandles::get(voices)->library().save(text_of(path, "path")); });
}

diarist_status diarist_voices_destroy(diarist_voices* voices) {
  return guarded([&] { VoiceHandles::drop(voices); });
}

diarist_status diarist_voices_add_speaker(diarist_voices* voices, const char* name,
                                          diarist_result* result, size_t speaker) {
  return guarded([&] {
    const auto object = VoiceHandles::get(voices);
    const std::string called = text_of(name, "name");
    const auto kept = Results::get(result);
    const diarist::Diarization& value = kept->value();
    if (speaker >= value.speakers.size())
      diarist::capi::refuse("speaker is " + std::to_string(speaker) + ", but there are " +
                            std::to_string(value.speakers.size()) + " speakers");
    object->change([&](diarist::VoiceLibrary& library) {
      library.add(called, value, value.speakers[speaker].name);
    });
  });
}

diarist_status diarist_voices_add_embedding(diarist_voices* voices, const char* name,
                                            diarist_embedder* embedder, const float* embedding,
                                            size_t dim, double seconds) {
  return guarded([&] {
    const auto object = VoiceHandles::get(voices);
    const std::string called = text_of(name, "name");
    const diarist::VoiceModel model = diarist::voice_model(Embedders::get(embedder)->info());
    const float* const first = &not_null(embedding, "embedding");
    if (dim != static_cast<std::size_t>(model.dim))
      diarist::capi::refuse("embedding: " + std::to_string(dim) + " numbers; the embedder makes " +
                            std::to_string(model.dim));
    object->change([&](diarist::VoiceLibrary& library) {
      library.add(called, model, {{first, first + dim}, seconds, ""});
    });
  });
}

diarist_status diarist_voices_remove(diarist_voices* voices, const char* name) {
  return guarded([&] {
    const auto object = VoiceHandles::get(voices);
    const std::string called = text_of(name, "name");
    object->change([&](diarist::VoiceLibrary& library) { library.remove(called); });
  });
}

diarist_status diarist_voices_rename(diarist_voices* voices, const char* name, const char* to) {
  return guarded([&] {
    const auto object = VoiceHandles::get(voices);
    const std::string before = text_of(name, "name");
    const std::string after = text_of(to, "to");
    object->change([&](diarist::VoiceLibrary& library) { library.rename(before, after); });
  });
}

diarist_status diarist_voices_list(diarist_voices* voices, const diarist_voice** list,
                                   size_t* count) {
  return guarded([&] {
    if (list != nullptr) *list = nullptr;
    if (count != nullptr) *count = 0;
    not_null(list, "the pointer to the list");
    not_null(count, "count");
    VoiceHandles::get(voices)->give(*list, *count);
  });
}

diarist_status diarist_voice_options_init(diarist_voice_options* options, size_t struct_size) {
  return guarded([&] {
    diarist::capi::write_struct(options, struct_size, diarist::capi::default_options(),
                                "diarist_voice_options");
  });
}

diarist_status diarist_result_name_speakers(diarist_result* result, diarist_voices* voices,
                                            const diarist_voice_options* options,
                                            diarist_result** named) {
  return guarded([&] {
    not_null(named, "named") = nullptr;
    const diarist::VoiceOptions wanted = diarist::capi::options_of(options);
    const auto kept = Results::get(result);
    *named = diarist::capi::new_result(
        diarist::name_speakers(kept->value(), VoiceHandles::get(voices)->library(), wanted));
  });
}

}  // extern "C"
