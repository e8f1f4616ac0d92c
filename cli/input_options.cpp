#include "input_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include "diarist/error.hpp"

namespace diarist::cli {
namespace {

[[noreturn]] void fail_time(const std::string& text) {
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format("'{}' is no time; give seconds or [hh:]mm:ss, e.g. 90.5 or 1:30.5", text));
}

double number_of(std::string_view part, const std::string& text) {
  double number = 0;
  const char* const begin = part.data();
  const char* const end = begin + part.size();
  const auto [rest, error] = std::from_chars(begin, end, number, std::chars_format::fixed);
  if (error != std::errc() || rest != end || !(number >= 0) || part.starts_with('-'))
    fail_time(text);
  return number;
}

// CLI11 turns what a callback throws into wrong usage when it is one of its own errors.
template <typename Parse>
auto usage_error(const char* option, Parse parse) {
  try {
    return parse();
  } catch (const Error& error) {
    throw CLI::ValidationError(option, error.what());
  }
}

}  // namespace

double parse_time(const std::string& text) {
  double seconds = 0;
  int parts = 0;
  for (std::size_t at = 0; at <= text.size(); ++parts) {
    const std::size_t colon = std::min(text.find(':', at), text.size());
    const double number = number_of(std::string_view(text).substr(at, colon - at), text);
    const bool last = colon == text.size();
    // Minutes and hours are whole; what follows a colon is under 60.
    if (parts == 3 || (parts > 0 && number >= 60) || (!last && number != std::floor(number)))
      fail_time(text);
    seconds = seconds * 60 + number;
    at = colon + 1;
  }
  return seconds;
}

void add_input_options(CLI::App& command, AudioOptions& options, bool with_sides) {
  const auto group = command.add_option_group("Input", "how recordings are read (docs/audio.md)");
  group
      ->add_option_function<std::string>(
          "--raw",
          [&options](const std::string& text) {
            options.raw = usage_error("--raw", [&] { return parse_raw_format(text); });
          },
          "samples without a header: s16le, s16be, u8, s24le, s32le, f32le, f64le, mulaw or alaw, "
          "with rate and channels, e.g. s16le:16000:1")
      ->type_name("FORMAT:RATE:CHANNELS");
  group->add_option("--track", options.track, "sound track of a container, from 1")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  CLI::Option* channel =
      group
          ->add_option("--channel", options.channel,
                       "use this channel alone, from 1 (default: the mean of all)")
          ->check(CLI::Range(1, 1024))
          ->type_name("N");
  if (with_sides)
    group
        ->add_flag("--split-channels", options.split_channels,
                   "one speaker or group per side of a stereo recording: LEFT_00, RIGHT_00, ...; "
                   "numbers of speakers then hold for each side")
        ->excludes(channel);
  group
      ->add_option_function<std::string>(
          "--from",
          [&options](const std::string& text) {
            options.from = usage_error("--from", [&] { return parse_time(text); });
          },
          "begin here; turn times stay those of the whole recording")
      ->type_name("TIME");
  group
      ->add_option_function<std::string>(
          "--to",
          [&options](const std::string& text) {
            options.to = usage_error("--to", [&] { return parse_time(text); });
          },
          "end here; times are seconds or [hh:]mm:ss")
      ->type_name("TIME");
  group->add_flag("--container-clock", options.container_clock,
                  "times are those of the container, with silence before a late start and in gaps "
                  "(default: decoded samples are counted)");
}

}  // namespace diarist::cli
