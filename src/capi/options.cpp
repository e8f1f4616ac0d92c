#include "capi/options.hpp"

#include <limits>
#include <string>

#include "capi/guard.hpp"
#include "capi/structs.hpp"

namespace diarist::capi {
namespace {

std::string text_of(const char* given) { return given == nullptr ? "" : given; }

constexpr diarist_run_options kRunDefaults = {.struct_size = sizeof(diarist_run_options),
                                              .step_seconds = 1};
constexpr diarist_audio kAudioDefaults = {
    .struct_size = sizeof(diarist_audio), .sample_rate = 16000, .channels = 1};

// Unset for DIARIST_PRECISION_DEFAULT.
std::optional<Precision> precision_of(int32_t given) {
  switch (given) {
    case DIARIST_PRECISION_DEFAULT:
      return std::nullopt;
    case DIARIST_PRECISION_EXACT:
      return Precision::kExact;
    case DIARIST_PRECISION_FAST:
      return Precision::kFast;
    case DIARIST_PRECISION_TF32:
      return Precision::kTf32;
    default:
      refuse("precision is " + std::to_string(given) + ": use a number of diarist_precision");
  }
}

std::optional<int> given_number(int32_t number) {
  return number == 0 ? std::nullopt : std::optional<int>(number);
}

}  // namespace

DiarizerOptions options_of(const diarist_options* given) {
  const diarist_options known =
      read_struct(given, {.struct_size = sizeof(diarist_options)}, "diarist_options");
  DiarizerOptions options;
  options.preset = text_of(known.preset);
  options.models = text_of(known.models);
  if (known.device != nullptr) options.device = known.device;
  options.target = text_of(known.target);
  options.precision = precision_of(known.precision).value_or(options.precision);
  options.threads = known.threads;
  options.batch = known.batch;
  options.max_gpu_memory = known.max_gpu_memory;
  options.allow_unknown_weights = known.allow_unknown_weights != 0;
  return options;
}

EmbedderOptions options_of(const diarist_embedder_options* given) {
  const diarist_embedder_options known = read_struct(
      given, {.struct_size = sizeof(diarist_embedder_options)}, "diarist_embedder_options");
  EmbedderOptions options;
  options.preset = text_of(known.preset);
  options.models = text_of(known.models);
  options.weights = text_of(known.weights);
  if (known.device != nullptr) options.device = known.device;
  options.target = text_of(known.target);
  options.precision = precision_of(known.precision);
  options.threads = known.threads;
  options.batch = known.batch;
  options.allow_unknown_weights = known.allow_unknown_weights != 0;
  return options;
}

diarist_run_options run_options_of(const diarist_run_options* given) {
  return read_struct(given, kRunDefaults, "diarist_run_options");
}

RunOptions options_of(const diarist_run_options& given) {
  RunOptions options;
  options.speakers = {.num = given_number(given.num_speakers),
                      .min = given_number(given.min_speakers),
                      .max = given_number(given.max_speakers)};
  options.step_seconds = given.step_seconds;
  options.reference = given.reference != 0;
  options.keep_stages = given.keep_stages != 0;
  options.audio.track = given.track;
  options.audio.channel = given.channel;
  options.audio.split_channels = given.split_channels != 0;
  options.audio.container_clock = given.container_clock != 0;
  options.audio.from = given.from;
  if (given.to != 0) options.audio.to = given.to;
  if (given.raw_format != nullptr) options.audio.raw = parse_raw_format(given.raw_format);
  return options;
}

AudioView audio_of(const diarist_audio* given) {
  not_null(given, "audio");
  const diarist_audio known = read_struct(given, kAudioDefaults, "diarist_audio");
  if (known.samples != nullptr && known.pcm16 != nullptr)
    refuse("audio: samples and pcm16 are both given; give one of them");
  if (known.samples == nullptr && known.pcm16 == nullptr && known.frames > 0)
    refuse("audio: " + std::to_string(known.frames) + " frames, but samples and pcm16 are null");
  if (known.channels < 1)
    refuse("audio: channels is " + std::to_string(known.channels) + "; give 1 or more");
  const auto channels = static_cast<std::size_t>(known.channels);
  constexpr std::size_t kMost = std::numeric_limits<std::ptrdiff_t>::max() / sizeof(float);
  if (known.frames > kMost / channels)
    refuse("audio: " + std::to_string(known.frames) + " frames don't fit into memory");
  AudioView audio;
  const std::size_t values = known.frames * channels;
  if (known.pcm16 != nullptr)
    audio.pcm16 = {known.pcm16, values};
  else
    audio.samples = {known.samples, values};
  audio.sample_rate = known.sample_rate;
  audio.channels = known.channels;
  audio.planar = known.planar != 0;
  return audio;
}

TurnShaping shaping_of(const diarist_shaping* given) {
  not_null(given, "shaping");
  const diarist_shaping known =
      read_struct(given, {.struct_size = sizeof(diarist_shaping)}, "diarist_shaping");
  TurnShaping shaping;
  if (known.name_count > 0) not_null(known.names, "shaping: names");
  for (std::size_t i = 0; i < known.name_count; ++i)
    shaping.names.emplace_back(&not_null(known.names[i], "shaping: a name"));
  shaping.min_duration_off = known.min_duration_off;
  shaping.min_duration_on = known.min_duration_on;
  shaping.merge_gap = known.merge_gap;
  shaping.pad = known.pad;
  shaping.exclusive = known.exclusive != 0;
  return shaping;
}

}  // namespace diarist::capi

using diarist::capi::guarded;
using diarist::capi::write_struct;

extern "C" {

diarist_status diarist_options_init(diarist_options* options, size_t struct_size) {
  return guarded([&] { write_struct(options, struct_size, {}, "diarist_options"); });
}

diarist_status diarist_embedder_options_init(diarist_embedder_options* options,
                                             size_t struct_size) {
  return guarded([&] { write_struct(options, struct_size, {}, "diarist_embedder_options"); });
}

diarist_status diarist_run_options_init(diarist_run_options* options, size_t struct_size) {
  return guarded([&] {
    write_struct(options, struct_size, diarist::capi::kRunDefaults, "diarist_run_options");
  });
}

diarist_status diarist_audio_init(diarist_audio* audio, size_t struct_size) {
  return guarded(
      [&] { write_struct(audio, struct_size, diarist::capi::kAudioDefaults, "diarist_audio"); });
}

diarist_status diarist_shaping_init(diarist_shaping* shaping, size_t struct_size) {
  return guarded([&] { write_struct(shaping, struct_size, {}, "diarist_shaping"); });
}

}  // extern "C"
