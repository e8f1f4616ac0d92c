#include "voice_options.hpp"

#include <fmt/format.h>

#include <utility>

#include "diarist/error.hpp"
#include "diarist/info.hpp"
#include "diarist/models.hpp"
#include "engine_options.hpp"
#include "output_files.hpp"

namespace diarist::cli {
namespace {

// What a user would do something about.
std::string words_about(const SpeakerVoice& voice) {
  switch (voice.decision) {
    case VoiceDecision::kTaken:
      return fmt::format("{} sounds like {} too ({:.2f}), whose name another speaker has",
                         voice.speaker, voice.best, voice.score);
    case VoiceDecision::kAmbiguous:
      return fmt::format("{} sounds like {} ({:.2f}) and like {} ({:.2f}); it keeps its number",
                         voice.speaker, voice.best, voice.score, voice.next, voice.next_score);
    case VoiceDecision::kTooShort:
      return fmt::format("{} sounds like {} ({:.2f}) but says too little to be sure", voice.speaker,
                         voice.best, voice.score);
    default:
      return {};
  }
}

}  // namespace

void add_voice_options(CLI::App& command, VoiceArguments& arguments) {
  VoiceOptions& options = arguments.options;
  command.add_option("--voices", arguments.library,
                     "name speakers after the voices of this library (see: diarist voices)");
  command
      .add_option("--voices-threshold", options.threshold,
                  "least score of a name, -1 to 1 (default: measured for the preset's network)")
      ->check(CLI::Range(-1.0, 1.0));
  command
      .add_option("--voices-margin", options.margin,
                  "least distance to the score of the next voice")
      ->check(CLI::Range(0.0, 2.0))
      ->capture_default_str();
  command
      .add_option("--voices-min-seconds", options.min_seconds,
                  "leave speakers unnamed who speak less than this")
      ->check(zero_or_more())
      ->capture_default_str();
}

void load_voices(VoiceArguments& arguments) {
  if (arguments.library.empty()) {
    if (arguments.options.threshold) warn("--voices-threshold does nothing without --voices");
    return;
  }
  arguments.voices = VoiceLibrary::load(arguments.library);
  const std::optional<VoiceModel>& model = arguments.voices->model();
  if (!model)
    warn("has no voices; enrol one with: diarist voices add", arguments.library);
  else if (!arguments.options.threshold && !measured_voice_threshold(*model))
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}: no threshold was measured for voices of {}; give "
                            "--voices-threshold (docs/voices.md tells how to find it)",
                            arguments.library, model->network));
}

void check_voices(const VoiceArguments& arguments, const std::string& preset,
                  const std::string& models) {
  if (!arguments.voices || !arguments.voices->model()) return;
  const VoiceModel& model = *arguments.voices->model();
  std::string bundle_name;
  for (const PresetInfo& info : build_info().presets)
    if (info.name == preset) bundle_name = info.bundle;
  for (const BundleReport& bundle : list_bundles(models)) {
    if (bundle.name != bundle_name || !bundle.ok) continue;
    for (const ModelFileReport& file : bundle.files)
      if (file.kind == model.network && file.sha256 == model.sha256) return;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}: its voices are of {} {}, which is not the embedding network of "
                            "the preset {}; run with the preset they were enrolled with, or enrol "
                            "them again with this one",
                            arguments.library, model.network, model.sha256.substr(0, 12), preset));
  }
}

Diarization named(Diarization result, const VoiceArguments& arguments, const std::string& input) {
  if (!arguments.voices || !arguments.voices->model()) return result;
  result = name_speakers(std::move(result), *arguments.voices, arguments.options);
  for (const Speaker& speaker : result.speakers) {
    const std::string words = speaker.voice ? words_about(*speaker.voice) : std::string();
    if (!words.empty()) warn(words, input);
  }
  return result;
}

}  // namespace diarist::cli
