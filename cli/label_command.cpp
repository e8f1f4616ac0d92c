// diarist label: speakers for a transcript.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "diarist/diarizer.hpp"
#include "diarist/error.hpp"
#include "diarist/formats.hpp"
#include "diarist/transcripts.hpp"
#include "engine_options.hpp"
#include "interrupt.hpp"
#include "output_files.hpp"
#include "progress_line.hpp"

namespace diarist::cli {
namespace {

constexpr const char* kStandardInput = "standard input";

struct LabelArguments {
  std::string transcript;
  std::string turns;
  std::string uri;
  std::optional<TranscriptFormat> format;
  SpeakerStyle style = SpeakerStyle::kColon;
  std::string out;
  LabelOptions label;
  bool whole = false;
  bool overlapping = false;
  DiarizerOptions engine;
  RunOptions run;
};

std::string read_standard_input() {
  std::string text;
  std::array<char, 1 << 16> buffer;
  std::size_t count = 0;
  while ((count = std::fread(buffer.data(), 1, buffer.size(), stdin)) > 0)
    text.append(buffer.data(), count);
  if (std::ferror(stdin) != 0)
    throw Error(ErrorCode::kBadFile, fmt::format("{}: can't be read", kStandardInput));
  return text;
}

// Standard input as a file, since turns and recordings are read from files.
class InputFile {
 public:
  explicit InputFile(const std::string& name) : path_(name), name_(name) {
    if (name != "-") return;
    std::string pattern = (std::filesystem::temp_directory_path() / "diarist.XXXXXX").string();
    const int descriptor = mkstemp(pattern.data());
    if (descriptor < 0)
      throw Error(ErrorCode::kBadFile,
                  fmt::format("{}: can't make a file in {}; set TMPDIR to a folder for it",
                              kStandardInput, std::filesystem::temp_directory_path().string()));
    close(descriptor);
    path_ = pattern;
    name_ = kStandardInput;
    temporary_ = true;
    const std::string bytes = read_standard_input();
    std::ofstream stream(path_, std::ios::binary);
    stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!stream.flush())
      throw Error(ErrorCode::kBadFile, fmt::format("{}: can't be written to {}; set TMPDIR to "
                                                   "a folder with room",
                                                   kStandardInput, path_.string()));
  }
  ~InputFile() {
    std::error_code ignored;
    if (temporary_) std::filesystem::remove(path_, ignored);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  const std::string& name() const noexcept { return name_; }

  /// A message about the file under the name that the user gave.
  Error named(const Error& error) const {
    std::string text = error.what();
    const std::string path = path_.string();
    if (temporary_ && text.starts_with(path)) text.replace(0, path.size(), name_);
    return Error(error.code(), text);
  }

 private:
  std::filesystem::path path_;
  std::string name_;
  bool temporary_ = false;
};

// Text has no zero bytes and no control characters but those that lay it out; every container of
// audio has some among its first bytes.
bool is_text(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::array<char, 4096> head;
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  const auto end = head.begin() + stream.gcount();
  return std::none_of(head.begin(), end, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && (byte < '\t' || byte > '\r');
  });
}

std::vector<RttmTurn> turns_of(const Diarization& result, bool overlapping) {
  std::vector<RttmTurn> turns;
  for (const Turn& turn : overlapping ? result.turns : result.exclusive_turns)
    turns.push_back({turn.start, turn.end - turn.start,
                     result.speakers[static_cast<std::size_t>(turn.speaker)].name});
  return turns;
}

std::vector<RttmTurn> diarize(const LabelArguments& arguments, const InputFile& input) {
  const InterruptGuard interrupt;
  const Diarizer diarizer = [&] {
    const InterruptGuard::Loading loading(interrupt);
    return Diarizer(arguments.engine);
  }();
  ProgressLine line(input.name());
  RunControl control;
  control.stop = interrupt.token();
  control.progress = [&](const Progress& progress) { line.show(progress); };
  Diarization result = diarizer.run(input.path(), arguments.run, control);
  line.clear();
  for (const std::string& warning : result.warnings) warn(warning, input.name());
  return turns_of(result, arguments.overlapping);
}

std::string listed(const RttmFile& file) {
  constexpr std::size_t kMost = 8;
  std::string list;
  std::size_t count = 0;
  for (const auto& [uri, turns] : file) {
    if (++count > kMost) return list + ", ...";
    list += (list.empty() ? "" : ", ") + uri;
  }
  return list;
}

std::vector<RttmTurn> stored_turns(const LabelArguments& arguments, const InputFile& input) {
  const RttmFile file = read_turns(input.path());
  if (!arguments.uri.empty()) {
    const auto found = file.find(arguments.uri);
    if (found == file.end())
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{}: has no turns of '{}'; it has: {}", input.name(), arguments.uri,
                              file.empty() ? "none" : listed(file)));
    return found->second;
  }
  if (file.size() > 1)
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}: has turns of {} recordings; choose one with --uri: {}",
                            input.name(), file.size(), listed(file)));
  if (file.empty()) {
    warn(fmt::format("{}: has no turns; everything is {}", input.name(), arguments.label.unknown));
    return {};
  }
  return file.begin()->second;
}

std::vector<RttmTurn> turns_from(const LabelArguments& arguments) {
  const InputFile input(arguments.turns);
  try {
    std::error_code ignored;
    const bool regular = std::filesystem::is_regular_file(input.path(), ignored);
    return !regular || is_text(input.path()) ? stored_turns(arguments, input)
                                             : diarize(arguments, input);
  } catch (const Error& error) {
    throw input.named(error);
  }
}

int label(LabelArguments arguments) {
  if (arguments.transcript == "-" && arguments.turns == "-")
    throw Error(ErrorCode::kInvalidArgument,
                "the transcript and the turns can't both be standard input; name a file for one");
  if (!arguments.out.empty()) {
    check_output_place(arguments.out);
    refuse_shared_files({arguments.transcript, arguments.turns}, {arguments.out});
  }
  Transcript transcript = arguments.transcript == "-"
                              ? parse_transcript(read_standard_input(), kStandardInput)
                              : read_transcript(arguments.transcript);
  for (const std::string& warning : transcript.warnings) warn(warning);
  arguments.label.split = !arguments.whole;
  const TranscriptFormat format = arguments.format.value_or(transcript.format);
  const Transcript labelled =
      label_transcript(std::move(transcript), turns_from(arguments), arguments.label);
  const std::string text = write_transcript(labelled, format, arguments.style);
  if (arguments.out.empty()) {
    print(text);
  } else {
    write_file(arguments.out, text);
  }
  return kOk;
}

}  // namespace

void add_label(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<LabelArguments>();
  CLI::App* command = app.add_subcommand("label", "speakers for a transcript");
  command
      ->add_option("transcript", arguments->transcript,
                   "JSON of whisper, faster-whisper, WhisperX or whisper.cpp, SRT or WebVTT; - for "
                   "standard input")
      ->required()
      ->type_name("TRANSCRIPT");
  command
      ->add_option("--turns", arguments->turns,
                   "who spoke when: a file of turns, or the recording itself; - for standard input")
      ->required()
      ->type_name("T.rttm|AUDIO");
  command->add_option("--uri", arguments->uri, "recording, where the turns are of several");
  command
      ->add_option("--offset", arguments->label.offset,
                   "seconds into the recording at which the transcript's clock starts")
      ->capture_default_str();
  command
      ->add_option("--max-distance", arguments->label.max_distance,
                   "where nobody speaks, seconds to the nearest turn that still counts")
      ->capture_default_str();
  command->add_flag("--smooth", arguments->label.smooth,
                    "give a single word between two words of one speaker to that speaker");
  command->add_flag("--whole", arguments->whole,
                    "don't split segments; each gets the speaker with most of its words' time");
  command->add_option("--unknown", arguments->label.unknown, "name where nobody speaks")
      ->capture_default_str();
  command->add_option("--format", arguments->format, "json, srt, vtt or txt (default: as it came)")
      ->transform(one_of<TranscriptFormat>({{"json", TranscriptFormat::kJson},
                                            {"srt", TranscriptFormat::kSrt},
                                            {"vtt", TranscriptFormat::kVtt},
                                            {"txt", TranscriptFormat::kText}}));
  command
      ->add_option("--style", arguments->style,
                   "in SRT and text: colon (Anna: text, default) or brackets ([Anna] text)")
      ->transform(one_of<SpeakerStyle>(
          {{"colon", SpeakerStyle::kColon}, {"brackets", SpeakerStyle::kBrackets}}));
  command->add_option("--out", arguments->out, "file to write instead of standard output");
  command->add_flag("--overlapping", arguments->overlapping,
                    "with a recording: use turns that overlap, not one speaker at a time");
  add_engine_options(*command, arguments->engine, true);
  add_speaker_options(*command, arguments->run);
  command->footer(
      "Rules, formats and a comparison with WhisperX: docs/transcripts.md\n"
      "Examples:\n"
      "  diarist label meeting.json --turns meeting.rttm > labelled.json\n"
      "  diarist label meeting.srt --turns meeting.wav --num-speakers 3 --out named.srt\n"
      "  diarist run meeting.wav | diarist label meeting.json --turns - --format vtt");
  command->callback([arguments, &action] { action = [arguments] { return label(*arguments); }; });
}

}  // namespace diarist::cli
