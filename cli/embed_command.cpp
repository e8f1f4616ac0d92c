// diarist embed: a recording in, one speaker embedding per turn or for the whole out.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <stop_token>
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
#include "manners.hpp"
#include "output_files.hpp"
#include "progress_line.hpp"
#include "work_done.hpp"

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

// A pipe can't be put in place by renaming: the array is made in a file of its own first.
void print_embeddings(const std::vector<float>& vectors, int dim) {
  std::string folder = (std::filesystem::temp_directory_path() / "diarist-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr)
    throw Error(ErrorCode::kBadFile,
                fmt::format("{}: can't make a folder: {}", folder, std::strerror(errno)));
  const std::filesystem::path file = std::filesystem::path(folder) / "embeddings.npy";
  struct Removed {
    const std::string& folder;
    ~Removed() {
      std::error_code ignored;
      std::filesystem::remove_all(folder, ignored);
    }
  } const removed{folder};
  save_embeddings(vectors, dim, file);
  std::ifstream stream(file, std::ios::binary);
  print(std::string((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>()));
}

// Stopped from the start, the call ends at its first batch: what it would refuse, this refuses.
int dry_embed(const Embedder& embedder, const EmbedArguments& arguments,
              const std::vector<TimeSpan>& spans) {
  std::stop_source stopped;
  stopped.request_stop();
  RunControl control;
  control.stop = stopped.get_token();
  try {
    if (arguments.segments.empty() || !spans.empty())
      vectors_of(embedder, arguments, spans, control);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kCancelled) throw;
  }
  print(
      fmt::format("would embed {} of {} as {} numbers each -> {}\n",
                  arguments.segments.empty() ? "the whole" : fmt::format("{} turns", spans.size()),
                  one_line(arguments.audio), embedder.dim(),
                  arguments.out == "-" ? "standard output" : one_line(arguments.out)));
  return kOk;
}

int embed(const EmbedArguments& arguments) {
  const InterruptGuard interrupt;
  if (arguments.out != "-") {
    check_output_place(arguments.out);
    refuse_shared_files({arguments.audio, arguments.segments}, {arguments.out});
  }
  std::vector<TimeSpan> spans;
  if (!arguments.segments.empty()) spans = read_turns(arguments.segments, arguments.audio);
  EmbedderOptions options = embedder_options(arguments.embedder);
  options.log = [](LogLevel level, std::string_view text) {
    if (level == LogLevel::kWarning) warn(text);
  };
  const Embedder embedder = [&] {
    const InterruptGuard::Loading loading(interrupt);
    return Embedder(options);
  }();
  if (manners().dry_run) return dry_embed(embedder, arguments, spans);
  ProgressLine line(arguments.audio);
  RunControl control;
  control.stop = interrupt.token();
  control.progress = [&](const Progress& progress) { line.show(progress); };
  control.log = [&](LogLevel level, std::string_view text) {
    if (level == LogLevel::kWarning) warn(text, arguments.audio);
  };
  std::vector<float> vectors;
  if (arguments.segments.empty() || !spans.empty())
    vectors = vectors_of(embedder, arguments, spans, control);
  line.clear();
  if (arguments.out == "-") {
    print_embeddings(vectors, embedder.dim());
  } else {
    const std::lock_guard whole(output_mutex());
    save_embeddings(vectors, embedder.dim(), arguments.out);
  }
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
  command
      ->add_option("--out", arguments->out,
                   "NumPy file to write: float32 [rows, dim]; -: standard output")
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
