// diarist's own JSON (docs/json.md) and pyannote's Annotation.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.hpp"
#include "output/formats/readers.hpp"
#include "output/turn_order.hpp"

namespace diarist::output {
namespace {

using nlohmann::json;

constexpr int kNewestVersion = 1;

// What `read` makes of the text; whatever the JSON library dislikes is a damaged file.
template <typename Read>
Results from_json(std::string_view text, const Source& source, Read&& read) {
  try {
    const json document = json::parse(text);
    if (!document.is_object()) {
      base::fail(ErrorCode::kBadFile, "{}: the JSON is no object; give one that diarist wrote",
                 source.name);
    }
    return {read(document)};
  } catch (const json::exception& error) {
    base::fail(ErrorCode::kBadFile, "{}: {}; give JSON as docs/formats.md shows it", source.name,
               error.what());
  }
}

// Null where a number was not known.
double number_or(const json& object, const char* key, double otherwise) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? otherwise : found->get<double>();
}

template <typename Value>
void take(const json& object, const char* key, Value& value) {
  const auto found = object.find(key);
  if (found != object.end() && !found->is_null()) value = found->get<Value>();
}

// Looks a name up among the speakers, adding it where it is missing.
int speaker_number(Diarization& result, std::map<std::string, int>& numbers,
                   const std::string& name) {
  const auto [place, added] = numbers.emplace(name, static_cast<int>(result.speakers.size()));
  if (added) result.speakers.push_back({name, 0, {}});
  return place->second;
}

std::vector<Turn> turns_of(const json& list, Diarization& result,
                           std::map<std::string, int>& numbers, const Source& source) {
  std::vector<Turn> turns;
  std::size_t empty = 0;
  for (const json& item : list) {
    Turn turn{item.at("start").get<double>(), item.at("end").get<double>(), 0};
    check_times(turn.start, turn.end, fmt::format("{}, turn {}", source.name, turns.size() + 1));
    if (!(turn.start < turn.end)) {
      ++empty;
      continue;
    }
    turn.speaker = speaker_number(result, numbers, item.at("speaker").get<std::string>());
    // Of files before there were confidences, and of other hands.
    turn.confidence = static_cast<float>(std::clamp(number_or(item, "confidence", 1), 0.0, 1.0));
    turns.push_back(turn);
  }
  if (empty > 0)
    result.warnings.push_back(fmt::format("turns without a length left out: {}", empty));
  sort_turns(turns);
  return turns;
}

void take_shaping(const json& object, TurnShaping& shaping) {
  take(object, "min_duration_on", shaping.min_duration_on);
  take(object, "min_duration_off", shaping.min_duration_off);
  take(object, "merge_gap", shaping.merge_gap);
  take(object, "pad", shaping.pad);
  take(object, "exclusive", shaping.exclusive);
  take(object, "names", shaping.renames);
}

void take_audio(const json& object, InputSettings& audio) {
  take(object, "raw", audio.raw);
  take(object, "track", audio.track);
  std::string channels;
  take(object, "channels", channels);
  audio.split_channels = channels == "split";
  const char* const end = channels.data() + channels.size();
  std::from_chars(channels.data(), end, audio.channel);  // stays 0 for a word
  take(object, "from", audio.from);
  take(object, "to", audio.to);
  std::string clock;
  take(object, "clock", clock);
  audio.container_clock = clock == "container";
}

SpeakerVoice voice_of(const json& object, const Source& source) {
  SpeakerVoice voice;
  take(object, "speaker", voice.speaker);
  take(object, "best", voice.best);
  voice.score = number_or(object, "best_score", 0);
  take(object, "next", voice.next);
  voice.next_score = number_or(object, "next_score", 0);
  const std::string decision = object.at("decision").get<std::string>();
  for (const VoiceDecision known :
       {VoiceDecision::kNamed, VoiceDecision::kLowScore, VoiceDecision::kAmbiguous,
        VoiceDecision::kTaken, VoiceDecision::kTooShort, VoiceDecision::kNoVector}) {
    if (decision != voice_decision_name(known)) continue;
    voice.decision = known;
    return voice;
  }
  base::fail(ErrorCode::kBadFile, "{}: the decision \"{}\" about a voice is not known", source.name,
             decision.substr(0, 40));
}

void take_voices(const json& object, std::optional<VoiceSettings>& voices) {
  if (object.is_null()) return;
  voices = VoiceSettings{number_or(object, "threshold", 0), number_or(object, "margin", 0),
                         number_or(object, "min_seconds", 0)};
}

void take_settings(const json& object, EffectiveSettings& settings) {
  take(object, "preset", settings.preset);
  take(object, "device", settings.device);
  take(object, "kernels", settings.kernels);
  take(object, "precision", settings.precision);
  take(object, "reference", settings.reference);
  take(object, "step_seconds", settings.step_seconds);
  take(object, "num_speakers", settings.num_speakers);
  take(object, "min_speakers", settings.min_speakers);
  take(object, "max_speakers", settings.max_speakers);
  take(object, "models", settings.models);
  take(object, "kernel_choices", settings.kernel_choices);
  if (const auto shaping = object.find("shaping"); shaping != object.end())
    take_shaping(*shaping, settings.shaping);
  if (const auto audio = object.find("audio"); audio != object.end())
    take_audio(*audio, settings.audio);
  if (const auto voices = object.find("voices"); voices != object.end())
    take_voices(*voices, settings.voices);
}

void take_timings(const json& object, Diarization& result) {
  StageTimings& t = result.timings;
  take(object, "threads", result.settings.threads);
  const std::pair<const char*, double*> stages[] = {
      {"decode", &t.decode},       {"upload", &t.upload},
      {"features", &t.features},   {"segmentation", &t.segmentation},
      {"embedding", &t.embedding}, {"clustering", &t.clustering},
      {"output", &t.output},       {"total", &t.total}};
  for (const auto& [name, seconds] : stages) *seconds = number_or(object, name, 0);
  t.device_idle = number_or(object, "device_idle", -1);
}

}  // namespace

Results results_of_json(std::string_view text, const Source& source) {
  return from_json(text, source, [&](const json& document) {
    const std::string format = document.value("format", "");
    if (format != "diarist.diarization") {
      base::fail(ErrorCode::kBadFile,
                 "{}: this JSON is neither a result of diarist (its \"format\" is \"{}\") nor an "
                 "Annotation of pyannote",
                 source.name, format.substr(0, 40));
    }
    const int version = document.at("version").get<int>();
    if (version > kNewestVersion) {
      base::fail(ErrorCode::kBadFile,
                 "{}: version {} of the schema; this diarist reads up to {}, take a newer one",
                 source.name, version, kNewestVersion);
    }
    Diarization result;
    take(document, "uri", result.uri);
    result.duration = number_or(document, "duration", 0);
    check_times(0, result.duration, source.name);
    take(document, "warnings", result.warnings);
    std::map<std::string, int> numbers;
    if (const auto speakers = document.find("speakers"); speakers != document.end()) {
      for (const json& speaker : *speakers) {
        const int number = speaker_number(result, numbers, speaker.at("name").get<std::string>());
        Speaker& known = result.speakers[static_cast<std::size_t>(number)];
        known.speech_seconds = number_or(speaker, "seconds", 0);
        if (const auto voice = speaker.find("voice"); voice != speaker.end() && !voice->is_null())
          known.voice = voice_of(*voice, source);
      }
    }
    result.turns = turns_of(document.at("turns"), result, numbers, source);
    const auto exclusive = document.find("exclusive_turns");
    result.exclusive_turns = exclusive == document.end()
                                 ? first_come_turns(result.turns)
                                 : turns_of(*exclusive, result, numbers, source);
    if (document.contains("settings")) take_settings(document.at("settings"), result.settings);
    if (document.contains("timings")) take_timings(document.at("timings"), result);
    return result;
  });
}

Results results_of_pyannote(std::string_view text, const Source& source) {
  return from_json(text, source, [&](const json& document) {
    if (document.value("pyannote", "") != "Annotation") {
      base::fail(ErrorCode::kBadFile,
                 "{}: this is no Annotation of pyannote; give JSON with \"pyannote\": "
                 "\"Annotation\"",
                 source.name);
    }
    std::vector<NamedTurn> turns;
    for (const json& item : document.at("content")) {
      const json& segment = item.at("segment");
      const json& label = item.at("label");
      const NamedTurn turn{segment.at("start").get<double>(), segment.at("end").get<double>(),
                           // Labels may be numbers there.
                           label.is_number_integer() ? label.dump() : label.get<std::string>()};
      check_times(turn.start, turn.end,
                  fmt::format("{}, segment {}", source.name, turns.size() + 1));
      turns.push_back(turn);
    }
    return result_of(document.value("uri", source.uri), turns);
  });
}

}  // namespace diarist::output
