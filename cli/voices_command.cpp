// diarist voices: the library of enrolled voices.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "diarist/diarizer.hpp"
#include "diarist/error.hpp"
#include "diarist/voices.hpp"
#include "engine_options.hpp"
#include "input_options.hpp"
#include "interrupt.hpp"
#include "manners.hpp"
#include "output_files.hpp"
#include "progress_line.hpp"
#include "text_table.hpp"
#include "work_done.hpp"

namespace diarist::cli {
namespace {

struct VoicesArguments {
  std::string library, name, to, recording, speaker;
  std::optional<std::size_t> sample;
  DiarizerOptions engine;
  RunOptions run;
};

using Arguments = std::shared_ptr<VoicesArguments>;

// Messages of the library about its content get the name of its file.
template <typename Change>
void change(VoiceLibrary& voices, const std::string& file, Change&& how) {
  try {
    how(voices);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", file, error.what()));
  }
}

void save(const VoiceLibrary& voices, const std::string& file) {
  const std::lock_guard whole(output_mutex());
  voices.save(file);
}

// ---- add -------------------------------------------------------------------------------------

std::string list_of(const Diarization& result) {
  std::string list;
  for (const Speaker& speaker : result.speakers)
    list += fmt::format("{}{} ({:.1f} s)", list.empty() ? "" : ", ", speaker.name,
                        speaker.speech_seconds);
  return list;
}

// Whose voice it is; two people under one name would be a voice that is neither's.
std::string speaker_of(const Diarization& result, const VoicesArguments& arguments) {
  if (result.speakers.empty())
    throw Error(ErrorCode::kBadFile,
                fmt::format("{}: has no speech there; give another recording or stretch",
                            arguments.recording));
  if (arguments.speaker.empty() && result.speakers.size() == 1) return result.speakers[0].name;
  for (const Speaker& speaker : result.speakers)
    if (speaker.name == arguments.speaker) return speaker.name;
  if (!arguments.speaker.empty())
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}: has no speaker {}; it has: {}", arguments.recording,
                            arguments.speaker, list_of(result)));
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{}: has {} speakers: {}; choose one with --speaker, a stretch with "
                          "--from and --to, or say --num-speakers 1 if it is one person",
                          arguments.recording, result.speakers.size(), list_of(result)));
}

Diarization diarize(const VoicesArguments& arguments) {
  const InterruptGuard interrupt;
  const Diarizer diarizer = [&] {
    const InterruptGuard::Loading loading(interrupt);
    return Diarizer(arguments.engine);
  }();
  ProgressLine line(arguments.recording);
  RunControl control;
  control.stop = interrupt.token();
  control.progress = [&](const Progress& progress) { line.show(progress); };
  control.log = [&](LogLevel level, std::string_view text) {
    if (level == LogLevel::kWarning) warn(text, arguments.recording);
  };
  Diarization result =
      diarizer.run(std::filesystem::path(arguments.recording), arguments.run, control);
  line.clear();
  return result;
}

int add(const VoicesArguments& arguments) {
  constexpr double kFewSeconds = 10;
  check_output_place(arguments.library);
  refuse_shared_files({arguments.recording}, {arguments.library});
  std::error_code ignored;
  VoiceLibrary voices;
  if (std::filesystem::exists(arguments.library, ignored))
    voices = VoiceLibrary::load(arguments.library);
  const Diarization result = diarize(arguments);
  const std::string speaker = speaker_of(result, arguments);
  change(voices, arguments.library,
         [&](VoiceLibrary& library) { library.add(arguments.name, result, speaker); });
  save(voices, arguments.library);
  const Voice& voice = *voices.find(arguments.name);
  const double seconds = voice.samples.back().seconds;
  print(one_line(fmt::format("{}: {} has {} {} now, the last one of {:.1f} s", arguments.library,
                             voice.name, voice.samples.size(),
                             voice.samples.size() == 1 ? "sample" : "samples", seconds)) +
        "\n");
  if (seconds < kFewSeconds)
    warn(fmt::format("{:.1f} s of speech are little; give {:.0f} s or more", seconds, kFewSeconds),
         arguments.recording);
  return kOk;
}

void add_add(CLI::App& voices, const Arguments& arguments, Action& action) {
  CLI::App* command = voices.add_subcommand("add", "enrol a voice from a recording");
  command->add_option("LIBRARY", arguments->library, "file of the voices; made if it is not there")
      ->required();
  command->add_option("NAME", arguments->name, "who it is; a name that is there gets a sample more")
      ->required();
  command
      ->add_option("RECORDING", arguments->recording,
                   "WAV, FLAC, MP3, M4A, ... in which the person speaks, best alone")
      ->required();
  command->add_option("--speaker", arguments->speaker,
                      "speaker of the recording, as `diarist run` numbers them: SPEAKER_00; needed "
                      "where several speak");
  add_engine_options(*command, arguments->engine, true);
  add_speaker_options(*command, arguments->run);
  add_input_options(*command, arguments->run.audio, false);
  command->footer(
      "The file holds the voice as numbers, which are biometric data; no audio is kept.\n"
      "The presets open and open-lite share voices, and so do community-1 and pyannote-3.1.\n\n"
      "Examples:\n"
      "  diarist voices add team.voices Anna anna.wav\n"
      "  diarist voices add team.voices Ben meeting.wav --speaker SPEAKER_01\n"
      "  diarist voices add team.voices Cleo meeting.wav --from 12:30 --to 13:10");
  command->callback([arguments, &action] { action = [arguments] { return add(*arguments); }; });
}

// ---- list, remove, rename --------------------------------------------------------------------

int list(const VoicesArguments& arguments) {
  const VoiceLibrary voices = VoiceLibrary::load(arguments.library);
  if (!voices.model()) {
    print(fmt::format("no voices in {}; enrol one with: diarist voices add\n",
                      one_line(arguments.library)));
    return kOk;
  }
  std::vector<std::vector<std::string>> rows = {{"voice", "sample", "from", "speech"}};
  for (const Voice& voice : voices.voices()) {
    for (std::size_t i = 0; i < voice.samples.size(); ++i) {
      const VoiceSample& sample = voice.samples[i];
      rows.push_back({i == 0 ? voice.name : "", fmt::format("{}", i + 1), one_line(sample.source),
                      fmt::format("{:.1f} s", sample.seconds)});
    }
  }
  const VoiceModel& model = *voices.model();
  print(fmt::format("{} voices of {} {}\n", voices.voices().size(), model.network,
                    model.sha256.substr(0, 12)) +
        aligned(rows, 3));
  return kOk;
}

int remove(const VoicesArguments& arguments) {
  VoiceLibrary voices = VoiceLibrary::load(arguments.library);
  change(voices, arguments.library, [&](VoiceLibrary& library) {
    if (!arguments.sample) return library.remove(arguments.name);
    const Voice* const voice = library.find(arguments.name);
    const std::size_t count = voice == nullptr ? 0 : voice->samples.size();
    if (voice != nullptr && (*arguments.sample < 1 || *arguments.sample > count))
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("'{}' has no sample {}; it has {}", arguments.name, *arguments.sample,
                              count));
    library.remove(arguments.name, *arguments.sample - 1);
  });
  save(voices, arguments.library);
  return kOk;
}

int rename(const VoicesArguments& arguments) {
  VoiceLibrary voices = VoiceLibrary::load(arguments.library);
  change(voices, arguments.library,
         [&](VoiceLibrary& library) { library.rename(arguments.name, arguments.to); });
  save(voices, arguments.library);
  return kOk;
}

CLI::App* add_small(CLI::App& voices, const Arguments& arguments, const char* verb,
                    const char* what) {
  CLI::App* command = voices.add_subcommand(verb, what);
  command->add_option("LIBRARY", arguments->library, "file of the voices")->required();
  return command;
}

}  // namespace

void add_voices(CLI::App& app, Action& action) {
  const auto arguments = std::make_shared<VoicesArguments>();
  CLI::App* voices = app.add_subcommand("voices", "known voices, whose names later results carry");
  voices->require_subcommand(1);
  voices->footer(
      "Example: diarist voices add team.voices Anna anna.wav && diarist run --voices team.voices "
      "meeting.wav");
  add_add(*voices, arguments, action);

  CLI::App* command = add_small(*voices, arguments, "list", "show the voices of a library");
  command->footer("Example:\n  diarist voices list team.voices");
  command->callback([arguments, &action] { action = [arguments] { return list(*arguments); }; });

  command = add_small(*voices, arguments, "remove", "take a voice out of a library");
  command->add_option("NAME", arguments->name, "the voice")->required();
  command->add_option("--sample", arguments->sample,
                      "only this sample of it, from 1, as list shows");
  command->footer("Example:\n  diarist voices remove team.voices Anna");
  command->callback([arguments, &action] { action = [arguments] { return remove(*arguments); }; });

  command = add_small(*voices, arguments, "rename", "give a voice another name");
  command->add_option("OLD", arguments->name, "the voice")->required();
  command->add_option("NEW", arguments->to, "its new name")->required();
  command->footer("Example:\n  diarist voices rename team.voices Anna 'Anna Schmidt'");
  command->callback([arguments, &action] { action = [arguments] { return rename(*arguments); }; });
}

}  // namespace diarist::cli
