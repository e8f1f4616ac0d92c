#include <fmt/format.h>

#include <iterator>

#include "output/formats/subtitles.hpp"
#include "output/formats/unicode.hpp"
#include "output/formats/writers.hpp"

namespace diarist::output {

std::string srt_text(const Diarization& result) {
  std::string text;
  std::size_t number = 0;
  for_each_turn(result, [&](std::int64_t start, std::int64_t end, const std::string& name) {
    fmt::format_to(std::back_inserter(text), "{}\n{} --> {}\n[{}]\n\n", ++number,
                   subtitle_clock(start, ','), subtitle_clock(end, ','),
                   escaped(name, kSubRipName));
  });
  return text;
}

std::string vtt_text(const Diarization& result) {
  std::string text = "WEBVTT\n\n";
  for_each_turn(result, [&](std::int64_t start, std::int64_t end, const std::string& name) {
    const std::string shown = xml_text(escaped(name, kLineText));
    fmt::format_to(std::back_inserter(text), "{} --> {}\n<v {}>{}\n\n", subtitle_clock(start, '.'),
                   subtitle_clock(end, '.'), shown, shown);
  });
  return text;
}

}  // namespace diarist::output
