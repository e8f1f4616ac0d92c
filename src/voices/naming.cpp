// A speaker is named after the voice it is most like or not at all: second best names would be
// right only where all who speak are enrolled, and nobody says that they are.

#include <cmath>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "diarist/shaping.hpp"
#include "diarist/voices.hpp"
#include "voices/checks.hpp"

namespace diarist {
namespace {

VoiceSettings checked(const VoiceOptions& options, const VoiceModel& model) {
  const auto refuse = [](const char* name, double value, const char* range) {
    base::fail(ErrorCode::kInvalidArgument, "{} of voices is {}; give a number {}", name, value,
               range);
  };
  const std::optional<double> threshold =
      options.threshold ? options.threshold : measured_voice_threshold(model);
  if (!threshold) {
    base::fail(ErrorCode::kInvalidArgument,
               "no threshold was measured for voices of {}; give one (docs/voices.md tells how to "
               "find it)",
               model.network);
  }
  if (!(*threshold >= -1 && *threshold <= 1)) refuse("threshold", *threshold, "from -1 to 1");
  if (!(options.margin >= 0 && options.margin <= 2))
    refuse("margin", options.margin, "from 0 to 2");
  if (!(options.min_seconds >= 0 && std::isfinite(options.min_seconds)))
    refuse("min_seconds", options.min_seconds, ">= 0");
  return {*threshold, options.margin, options.min_seconds};
}

// What is to say about a speaker alone.
SpeakerVoice compared(const Speaker& speaker, const VoiceLibrary& library, const VoiceModel& model,
                      const VoiceSettings& settings) {
  SpeakerVoice voice;
  voice.speaker = speaker.name;
  if (!voices::trouble_with_vector(speaker.embedding, model).empty()) {
    voice.decision = VoiceDecision::kNoVector;
    return voice;
  }
  const std::vector<VoiceMatch> matches = library.match(speaker.embedding, model);
  if (matches.empty()) return voice;
  voice.best = matches[0].name;
  voice.score = matches[0].score;
  if (matches.size() > 1) {
    voice.next = matches[1].name;
    voice.next_score = matches[1].score;
  }
  if (voice.score < settings.threshold) {
    voice.decision = VoiceDecision::kLowScore;
  } else if (matches.size() > 1 && voice.score - voice.next_score < settings.margin) {
    voice.decision = VoiceDecision::kAmbiguous;
  } else if (speaker.speech_seconds < settings.min_seconds) {
    voice.decision = VoiceDecision::kTooShort;
  } else {
    voice.decision = VoiceDecision::kNamed;
  }
  return voice;
}

}  // namespace

Diarization name_speakers(Diarization result, const VoiceLibrary& library,
                          const VoiceOptions& options) {
  const VoiceModel model = voice_model(result);
  const VoiceSettings settings = checked(options, model);
  if (library.model() && !voices::same_network(*library.model(), model)) {
    base::fail(ErrorCode::kInvalidArgument,
               "the speakers of '{}' are of {}, the voices of {}; vectors of two networks can't be "
               "compared: enrol the voices again with this preset, or run with theirs",
               result.uri, voices::words_of(model), voices::words_of(*library.model()));
  }
  std::map<std::string, Speaker*> owners;
  for (Speaker& speaker : result.speakers) {
    speaker.voice = compared(speaker, library, model, settings);
    if (speaker.voice->decision != VoiceDecision::kNamed) continue;
    const auto [place, first] = owners.emplace(speaker.voice->best, &speaker);
    if (first) continue;
    Speaker* loser = &speaker;
    if (place->second->voice->score < speaker.voice->score) std::swap(place->second, loser);
    loser->voice->decision = VoiceDecision::kTaken;
  }
  TurnShaping names;
  for (const auto& [name, speaker] : owners) names.renames[speaker->name] = name;
  TurnShaping before = result.settings.shaping;
  result = shaped(std::move(result), names);
  before.renames = std::move(result.settings.shaping.renames);
  result.settings.shaping = std::move(before);  // what was done to the turns stays on record
  result.settings.voices = settings;
  return result;
}

}  // namespace diarist
