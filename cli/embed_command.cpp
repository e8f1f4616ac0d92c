// diarist embed: a recording in, one speaker embedding per turn or for the whole out.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "diarist/embedder.hpp"
#include "diarist/error.hpp"
#include "diarist/formats.hpp"
#include "diarist/stages.hpp"
#include "embedder_options.hpp"
#include "input_options.hpp"
#include "interrupt.hpp"
#include "output_files.hpp"
#include "progress_line.hpp"

namespace diarist::cli {
namespace {

struct EmbedArguments {
  std::string audio;
  std::string segments;
  std::string out;
  EmbedderArguments embedder;
  AudioOptions input;
};

// The turns of the recording: those under its name, or the only ones there are.
std::vector<TimeSpan> read_turns(const std::string& segments, const std::string& audio) {
  const RttmFile file = diarist::read_turns(segments);
  if (file.empty()) return {};
  auto found = file.begin();
  if (file.size() > 1) {
    const std::string id = std::filesystem::path(audio).stem().string();
    found = file.find(id);
    if (found == file.end()) {
      std::vector<std::string> ids;
      for (const auto& entry : file) ids.push_back(entry.first);
      throw Error(ErrorCode::kBadFile,
                  fmt::format("{}: has turns of {} and none of {}; rename the audio or give a file "
                              "with the turns of one recording",
                              segments, fmt::join(ids, ", "), id));
    }
  }
  std::vector<TimeSpan> spans;
  for (const RttmTurn& turn : found->second)
    spans.push_back({turn.start, turn.start + turn.duration});
  return spans;
}

// Spans that can't be embedded are the fault of the files, whose names the library does not know.
std::vector<float> vectors_of(const Embedder& embedder, const EmbedArguments& arguments,
                              const std::vector<TimeSpan>& spans, const RunControl& control) {
  try {
    return embedder.embed(std::filesystem::path(arguments.audio), spans, control, arguments.input);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) throw;
    const std::string place =
        arguments.segments.empty()
            ? arguments.audio
            : fmt::format("{} with the turns of {}", arguments.audio, arguments.segments);
    throw Error(ErrorCode::kBadFile, fmt::format("{}: {}", place, error.what()));
  }
}

int embed(const EmbedArguments& arguments) {
  const InterruptGuard interrupt;
  check_output_place(arguments.out);
  std::vector<TimeSpan> spans;
  if (!arguments.segments.empty()) spans = read_turns(arguments.segments, arguments.audio);
  EmbedderOptions options = embedder_options(arguments.embedder);
  options.log = [](LogLevel level, std::string_view text) {
    if (level == LogLevel::kWarning) complain(fmt::format("warning: {}", text));
  };
  const Embedder embedder(options);
  ProgressLine line(arguments.audio);
  RunControl control;
  control.stop = interrupt.token();
  control.progress = [&](const Progress& progress) { line.show(progress); };
  control.log = [&](LogLevel level, std::string_view text) {
    if (level != LogLevel::kWarning) return;
    line.clear();
    complain(fmt::format("{}: warning: {}", arguments.audio, text));
  };
  std::vector<float> vectors;
  if (arguments.segments.empty() || !spans.empty())
    vectors = vectors_of(embedder, arguments, spans, control);
  line.clear();
  save_embeddings(vectors, embedder.dim(), arguments.out);
  return kOk;
}

}  // namespace

void add_embed(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<EmbedArguments>();
  CLI::App* command =
      app.add_subcommand("embed", "speaker embeddings of a recording or of its turns");
  command->add_option("audio", arguments->audio, "recording: WAV, FLAC, MP3, M4A, ...")->required();
  command->add_option(
      "--segments", arguments->segments,
      "turns (RTTM, JSON, ...): one embedding each, in their order (default: one for all)");
  command->add_option("--out", arguments->out, "NumPy file to write: float32 [rows, dim]")
      ->required()
      ->type_name("X.npy");
  add_embedder_options(*command, arguments->embedder);
  add_input_options(*command, arguments->input, false);
  command->footer(
      "A turn is cut into equal pieces of at most 10 s; its embedding is their average weighted "
      "by\n"
      "feature rows. A turn under 0.25 s is an error. community-1 and pyannote-3.1 give 256 "
      "numbers\n"
      "(WeSpeaker ResNet34), open and open-lite 192 (CAM++).\n"
      "Examples:\n"
      "  diarist embed speaker.wav --out voice.npy\n"
      "  diarist run meeting.wav | awk '$5 >= 0.25' > turns.rttm\n"
      "  diarist embed meeting.wav --segments turns.rttm --out turns.npy");
  command->callback([arguments, &action] { action = [arguments] { return embed(*arguments); }; });
}

}  // namespace diarist::cli
