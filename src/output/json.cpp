// The schema is described in docs/json.md; a change of meaning raises kSchemaVersion.
#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "diarist/formats.hpp"
#include "output/json_text.hpp"
#include "output/number_text.hpp"
#include "output/speaker_name.hpp"

namespace diarist {
namespace {

using output::json_string;
using output::milliseconds_text;

constexpr int kSchemaVersion = 1;

std::string turns_json(const Diarization& result, const std::vector<Turn>& turns) {
  std::vector<std::string> lines;
  for (const Turn& turn : turns) {
    const output::PrintedTurn printed = output::printed_turn(result, turn);
    lines.push_back(fmt::format(R"({{"start": {}, "end": {}, "speaker": {}, "confidence": {}}})",
                                milliseconds_text(printed.start), milliseconds_text(printed.end),
                                json_string(output::speaker_name(result, turn)),
                                output::json_three_decimals(turn.confidence)));
  }
  return output::json_list(lines, 2);
}

// Behind the other members of a speaker; empty where nobody asked for voices.
std::string voice_json(const std::optional<SpeakerVoice>& voice) {
  if (!voice) return {};
  const auto scored = [](const char* key, const std::string& name, double score) {
    return name.empty() ? fmt::format(R"("{0}": null, "{0}_score": null)", key)
                        : fmt::format(R"("{0}": {1}, "{0}_score": {2})", key, json_string(name),
                                      output::json_three_decimals(score));
  };
  return fmt::format(R"(, "voice": {{"decision": "{}", "speaker": {}, {}, {}}})",
                     voice_decision_name(voice->decision), json_string(voice->speaker),
                     scored("best", voice->best, voice->score),
                     scored("next", voice->next, voice->next_score));
}

std::string speakers_json(const Diarization& result) {
  std::vector<int> turns(result.speakers.size(), 0);
  for (const Turn& turn : result.turns) ++turns[static_cast<std::size_t>(turn.speaker)];
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < result.speakers.size(); ++i) {
    lines.push_back(fmt::format(R"({{"name": {}, "seconds": {}, "turns": {}{}}})",
                                json_string(result.speakers[i].name),
                                output::json_three_decimals(result.speakers[i].speech_seconds),
                                turns[i], voice_json(result.speakers[i].voice)));
  }
  return output::json_list(lines, 2);
}

std::string strings_json(const std::vector<std::string>& texts, int indent) {
  std::vector<std::string> lines;
  for (const std::string& text : texts) lines.push_back(json_string(text));
  return output::json_list(lines, indent);
}

// A number of speakers that was not given is null.
std::string hint_json(int number) { return number > 0 ? fmt::format("{}", number) : "null"; }

std::string shaping_json(const TurnShaping& shaping) {
  std::string names;
  for (const auto& [old, name] : shaping.renames) {
    names +=
        fmt::format("{}{}: {}", names.empty() ? "" : ", ", json_string(old), json_string(name));
  }
  return fmt::format(
      R"({{"min_duration_off": {}, "min_duration_on": {}, "merge_gap": {}, "pad": {}, "exclusive": {}, "names": {{{}}}}})",
      output::json_number(shaping.min_duration_off), output::json_number(shaping.min_duration_on),
      output::json_number(shaping.merge_gap), output::json_number(shaping.pad), shaping.exclusive,
      names);
}

std::string audio_json(const InputSettings& audio) {
  const std::string channels = audio.split_channels ? "split"
                               : audio.channel > 0  ? fmt::format("{}", audio.channel)
                                                    : "mix";
  return fmt::format(
      R"({{"raw": {}, "track": {}, "channels": {}, "from": {}, "to": {}, "clock": "{}"}})",
      audio.raw.empty() ? "null" : json_string(audio.raw), hint_json(audio.track),
      json_string(channels), output::json_number(audio.from),
      audio.to > 0 ? output::json_number(audio.to) : "null",
      audio.container_clock ? "container" : "samples");
}

std::string voices_json(const std::optional<VoiceSettings>& voices) {
  if (!voices) return {};
  return fmt::format(
      R"(,
    "voices": {{"threshold": {}, "margin": {}, "min_seconds": {}}})",
      output::json_number(voices->threshold), output::json_number(voices->margin),
      output::json_number(voices->min_seconds));
}

std::string settings_json(const EffectiveSettings& settings) {
  return fmt::format(R"({{
    "preset": {},
    "device": {},
    "kernels": {},
    "precision": {},
    "reference": {},
    "step_seconds": {},
    "num_speakers": {},
    "min_speakers": {},
    "max_speakers": {},
    "models": {},
    "kernel_choices": {},
    "shaping": {},
    "audio": {}{}
  }})",
                     json_string(settings.preset), json_string(settings.device),
                     json_string(settings.kernels), json_string(settings.precision),
                     settings.reference, settings.step_seconds, hint_json(settings.num_speakers),
                     hint_json(settings.min_speakers), hint_json(settings.max_speakers),
                     strings_json(settings.models, 4), strings_json(settings.kernel_choices, 4),
                     shaping_json(settings.shaping), audio_json(settings.audio),
                     voices_json(settings.voices));
}

std::string timings_json(const Diarization& result) {
  const StageTimings& t = result.timings;
  std::string text = fmt::format(R"({{"threads": {})", result.settings.threads);
  const std::pair<const char*, double> stages[] = {
      {"decode", t.decode},       {"upload", t.upload},
      {"features", t.features},   {"segmentation", t.segmentation},
      {"embedding", t.embedding}, {"clustering", t.clustering},
      {"output", t.output},       {"total", t.total}};
  for (const auto& [name, seconds] : stages) {
    text += fmt::format(R"(, "{}": {})", name, output::json_three_decimals(seconds));
  }
  const bool known = t.device_idle >= 0;
  return text + fmt::format(R"(, "device_idle": {}}})",
                            known ? output::json_three_decimals(t.device_idle) : "null");
}

}  // namespace

std::string to_json(const Diarization& result) {
  output::check_printable(result);
  return fmt::format(R"({{
  "format": "diarist.diarization",
  "version": {},
  "engine": "{}",
  "uri": {},
  "duration": {},
  "turns": {},
  "exclusive_turns": {},
  "speakers": {},
  "settings": {},
  "warnings": {},
  "timings": {}
}}
)",
                     kSchemaVersion, DIARIST_VERSION, json_string(result.uri),
                     output::json_number(result.duration), turns_json(result, result.turns),
                     turns_json(result, result.exclusive_turns), speakers_json(result),
                     settings_json(result.settings), strings_json(result.warnings, 2),
                     timings_json(result));
}

}  // namespace diarist
