#include "report_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "diarist/error.hpp"
#include "diarist/waveform.hpp"
#include "manners.hpp"
#include "output_files.hpp"

namespace diarist::cli {
namespace {

namespace fs = std::filesystem;

struct MediaType {
  std::string_view ending;
  std::string_view type;
};

// What Chromium, Firefox and Safari play.
constexpr std::array<MediaType, 11> kPlayable = {{{".wav", "audio/wav"},
                                                  {".mp3", "audio/mpeg"},
                                                  {".m4a", "audio/mp4"},
                                                  {".mp4", "audio/mp4"},
                                                  {".aac", "audio/aac"},
                                                  {".ogg", "audio/ogg"},
                                                  {".oga", "audio/ogg"},
                                                  {".opus", "audio/ogg"},
                                                  {".webm", "audio/webm"},
                                                  {".weba", "audio/webm"},
                                                  {".flac", "audio/flac"}}};

std::string lower_ending(const fs::path& file) {
  std::string ending = file.extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return ending;
}

bool is_file(const std::string& audio) {
  std::error_code ignored;
  return !audio.empty() && audio != "-" && fs::is_regular_file(audio, ignored);
}

// A path as a relative URL: everything but letters, digits and a few signs as %XX.
std::string url_of(const fs::path& path) {
  std::string url;
  for (const char c : path.generic_string()) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || std::string_view("-._~/").find(c) != std::string_view::npos)
      url += c;
    else
      url += fmt::format("%{:02X}", byte);
  }
  // Never taken for a scheme or a host.
  return url.starts_with("../") ? url : "./" + url;
}

// Where the page finds the recording; empty when the two share no path.
std::string href_of(const std::string& audio, const std::string& page) {
  std::error_code error;
  const fs::path recording = fs::weakly_canonical(audio, error);
  const fs::path folder = fs::weakly_canonical(fs::absolute(page).parent_path(), error);
  const fs::path relative = recording.lexically_relative(folder);
  return error || relative.empty() ? std::string() : url_of(relative);
}

std::string whole_file(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (!stream && !stream.eof())
    throw Error(ErrorCode::kBadFile, fmt::format("{}: can't be read", file));
  return bytes;
}

void embed(const ReportOutputs& outputs, const std::string& audio, const RunControl& control,
           ReportAudio& into) {
  const std::string ending = lower_ending(audio);
  const auto known = std::find_if(kPlayable.begin(), kPlayable.end(),
                                  [&](const MediaType& type) { return type.ending == ending; });
  const auto most = static_cast<std::uintmax_t>(outputs.embed_limit * 1e6);
  into.href.clear();
  if (known == kPlayable.end()) {
    complain(fmt::format(
        "{}: browsers don't play this kind of file; the page holds it as 16 kHz WAV", audio));
    into.type = "audio/wav";
    into.bytes = read_as_wav(audio, static_cast<std::size_t>(most), control);
    return;
  }
  const std::uintmax_t size = fs::file_size(audio);
  if (size > most)
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}: {:.1f} MB would go into the page, more than --embed-limit {:g}; "
                            "raise it, give a smaller file (MP3, Opus), or leave out --embed-audio",
                            audio, static_cast<double>(size) / 1e6, outputs.embed_limit));
  into.type = known->type;
  into.bytes = whole_file(audio);
}

std::string plot_text(const Diarization& result, const PlotOptions& options, const fs::path& file) {
  return lower_ending(file) == ".png" ? to_png(result, options) : to_svg(result, options);
}

void write(const std::string& file, const std::string& text) {
  if (file == "-")
    print(text);
  else
    write_file(file, text);
}

// File names can't hold a slash; everything else of an id is kept.
std::string file_of(const std::string& folder, std::string id, const char* ending) {
  std::replace(id.begin(), id.end(), '/', '_');
  return (fs::path(folder) / (id + ending)).string();
}

void check_place(const std::string& file, bool several) {
  if (file.empty() || file == "-") return;
  if (!several) return check_output_place(file);
  if (manners().dry_run) return;  // the places of every recording are looked at later
  std::error_code error;
  fs::create_directories(file, error);
  if (error)
    throw Error(ErrorCode::kBadFile,
                fmt::format("{}: can't make this folder: {}", file, error.message()));
}

}  // namespace

void add_report_options(CLI::App& command, ReportOutputs& outputs, const std::string& page_option) {
  command
      .add_option(page_option, outputs.page,
                  "a page to look at, listen to and correct: one HTML file, no network "
                  "(a folder for several recordings)")
      ->type_name("OUT.html");
  command
      .add_option("--plot", outputs.plot,
                  "a plot for papers: .svg or .png (a folder of .svg for several recordings)")
      ->type_name("OUT.svg");
  command.add_flag("--embed-audio", outputs.embed_audio,
                   "put the recording into the page, so that it plays anywhere");
  command
      .add_option("--embed-limit", outputs.embed_limit,
                  "largest recording that --embed-audio takes, in MB")
      ->check(CLI::Range(0.0, 1500.0))
      ->capture_default_str();
}

void check_report_outputs(const ReportOutputs& outputs, bool several) {
  if (several && (outputs.page == "-" || outputs.plot == "-"))
    throw Error(ErrorCode::kInvalidArgument,
                "reports of several recordings need a folder, not standard output");
  const std::string ending = lower_ending(outputs.plot);
  if (!outputs.plot.empty() && outputs.plot != "-" && !several && ending != ".svg" &&
      ending != ".png")
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("--plot {}: give a name that ends in .svg or .png", outputs.plot));
  if (outputs.embed_audio && outputs.page.empty())
    throw Error(ErrorCode::kInvalidArgument, "--embed-audio is for a page: name one as well");
  check_place(outputs.page, several);
  check_place(outputs.plot, several);
}

std::vector<fs::path> report_files(const ReportOutputs& outputs, const std::string& id,
                                   bool several) {
  std::vector<fs::path> files;
  if (!outputs.page.empty() && outputs.page != "-")
    files.emplace_back(several ? file_of(outputs.page, id, ".html") : outputs.page);
  if (!outputs.plot.empty() && outputs.plot != "-")
    files.emplace_back(several ? file_of(outputs.plot, id, ".svg") : outputs.plot);
  return files;
}

void write_reports(const ReportOutputs& outputs, const std::string& audio, bool several,
                   const Diarization& result, const RunControl& control) {
  if (!outputs.page.empty()) {
    const std::string file = several ? file_of(outputs.page, result.uri, ".html") : outputs.page;
    ReportOptions options{.title = outputs.title, .audio = {}};
    const bool there = is_file(audio);
    options.audio.name = there ? fs::path(audio).filename().string() : std::string("The recording");
    if (there && file != "-") options.audio.href = href_of(audio, file);
    if (outputs.embed_audio) {
      if (!there)
        throw Error(ErrorCode::kInvalidArgument,
                    "--embed-audio needs the recording as a file; name one, or leave it out");
      embed(outputs, audio, control, options.audio);
    }
    write(file, to_html(result, options));
  }
  if (!outputs.plot.empty()) {
    const std::string file = several ? file_of(outputs.plot, result.uri, ".svg") : outputs.plot;
    write(file, plot_text(result, {.title = outputs.title}, file));
  }
}

}  // namespace diarist::cli
