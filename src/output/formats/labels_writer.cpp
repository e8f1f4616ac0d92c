// One line per turn: Audacity's label track, and lab.

#include <fmt/format.h>

#include <iterator>

#include "diarist/regions.hpp"
#include "output/formats/writers.hpp"

namespace diarist::output {

std::string audacity_text(const Diarization& result) {
  std::string text;
  for_each_turn(result, [&](std::int64_t start, std::int64_t end, const std::string& name) {
    // Six decimals, as Audacity writes them.
    fmt::format_to(std::back_inserter(text), "{}000\t{}000\t{}\n", milliseconds_text(start),
                   milliseconds_text(end), escaped(name, kLineText));
  });
  return text;
}

std::string lab_text(const Diarization& result) {
  std::string text;
  for_each_turn(result, [&](std::int64_t start, std::int64_t end, const std::string& name) {
    fmt::format_to(std::back_inserter(text), "{} {} {}\n", milliseconds_text(start),
                   milliseconds_text(end), encode_field(name));
  });
  return text;
}

std::string uem_text(const Diarization& result) {
  check_printable(result);
  return fmt::format("{} 1 0.000 {}\n", encode_field(result.uri),
                     milliseconds_text(printed_length(result)));
}

}  // namespace diarist::output
