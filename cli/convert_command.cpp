// diarist convert: turns from one format into another.

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "diarist/error.hpp"
#include "diarist/formats.hpp"
#include "output_files.hpp"
#include "result_sink.hpp"
#include "shaping_options.hpp"

namespace diarist::cli {
namespace {

struct ConvertArguments {
  std::string input;
  std::string uri;
  std::vector<Format> from;
  OutputPlace place;
  TurnShaping shaping;
};

std::string standard_input() {
  std::string text;
  char block[65536];
  while (const std::size_t count = std::fread(block, 1, sizeof block, stdin)) {
    text.append(block, count);
  }
  if (std::ferror(stdin) != 0)
    throw Error(ErrorCode::kBadFile, "standard input: can't be read; give a file");
  return text;
}

std::vector<Diarization> read(const ConvertArguments& arguments) {
  std::optional<Format> from;
  if (!arguments.from.empty()) from = arguments.from.front();
  if (arguments.input == "-")
    return parse_results(standard_input(), from, "standard input", "audio");
  return read_results(arguments.input, from);
}

int convert(const ConvertArguments& arguments) {
  if (arguments.from.size() > 1)
    throw Error(ErrorCode::kInvalidArgument, "--from takes one format");
  const std::string& out = arguments.place.out;
  if (arguments.place.formats.empty() && !format_of_ending(out))
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}: no ending that tells the format; give --to with one of: {}",
                            out == "-" ? "standard output" : out, format_names()));
  std::vector<Diarization> results = read(arguments);
  if (!arguments.uri.empty()) {
    if (results.size() > 1)
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{}: holds {} recordings and --uri is one name", arguments.input,
                              results.size()));
    results[0].uri = arguments.uri;
  }
  std::vector<std::string> ids;
  for (const Diarization& result : results) ids.push_back(result.uri);
  ResultSink sink(ids, arguments.place);
  for (std::size_t i = 0; i < ids.size(); ++i)
    for (const std::filesystem::path& file : sink.targets(i))
      refuse_shared_files({arguments.input}, {file});
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Diarization result = shaped(std::move(results[i]), arguments.shaping);
    for (const std::string& warning : result.warnings) {
      warn(warning, arguments.input);
    }
    if (!sink.write(i, result)) return kOk;
  }
  sink.finish();
  return kOk;
}

}  // namespace

void add_convert(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<ConvertArguments>();
  arguments->place.file_unless_folder = true;
  CLI::App* command = app.add_subcommand("convert", "turns from one format into another");
  command->add_option("in", arguments->input, "file with turns; - is standard input")
      ->required()
      ->type_name("IN");
  command
      ->add_option("out", arguments->place.out,
                   "file, or folder (it is there or ends with /) for one file per recording; - is "
                   "standard output")
      ->required()
      ->type_name("OUT");
  add_format_option(*command, "--from", arguments->from,
                    "format of IN; otherwise its ending or content tells", true);
  add_format_option(*command, "--to", arguments->place.formats,
                    "format of OUT; otherwise its ending tells; several into a folder");
  command->add_option("--uri", arguments->uri, "name of the recording, instead of the one in IN");
  add_shaping_options(*command, arguments->shaping);
  command->footer(
      "Examples:\n"
      "  diarist convert meeting.rttm meeting.TextGrid\n"
      "  diarist convert meeting.json meeting.srt --names Anna,Ben --merge-gap 1\n"
      "  diarist convert all.rttm elan/ --to eaf\n"
      "  diarist run call.wav | diarist convert - - --to vtt");
  command->callback([arguments, &action] { action = [arguments] { return convert(*arguments); }; });
}

}  // namespace diarist::cli
