// The readers of turns: one target per format (DIARIST_FUZZ_FORMAT is its name), and UEM. What was
// read is written in every format and must come back.

#include <stdexcept>
#include <string>

#include "diarist/formats.hpp"
#include "diarist/regions.hpp"
#include "fuzz.hpp"

namespace diarist::fuzz {
namespace {

constexpr std::string_view kFormat = DIARIST_FUZZ_FORMAT;

Diarization sample(const std::string& uri, double duration) {
  Diarization result;
  result.uri = uri;
  result.duration = duration;
  result.speakers = {{"SPEAKER_00", 3, {}}, {"Anna \"A\" <b> & -->", 1, {}}};
  result.turns = {{0.5, 2.5, 0}, {1.25, 2.25, 1}, {1.5, 3, 0}};
  result.exclusive_turns = result.turns;
  return result;
}

void read_turns_of(const std::string& text) {
  const std::optional<Format> format = format_of_name(kFormat);
  for (const Diarization& result : parse_results(text, format, "input", "input")) {
    for (const FormatInfo& info : formats()) {
      const std::string written = to_text(result, info.format);
      if (!info.has_reader) continue;
      const Diarization back = parse_results(written, info.format, "written", result.uri).at(0);
      if (back.turns.size() != result.turns.size()) {
        throw std::logic_error("turns are lost in " + std::string(info.name));
      }
    }
  }
}

}  // namespace

std::vector<std::string> seeds() {
  if (kFormat == "uem") {
    return {"a 1 0.000 12.5\nb%20c\tNA\t1\t2e1\r\n", "\xEF\xBB\xBF;; x\na 1 0 0\n"};
  }
  const Format format = format_of_name(kFormat).value();
  std::vector<std::string> texts = {to_text(sample("a", 30), format),
                                    to_text(sample("two words", 0), format),
                                    to_text(Diarization{}, format)};
  std::string wide = "\xFF\xFE";
  for (const char c : texts[0]) wide += {c, '\0'};
  texts.push_back(wide);
  if (format == Format::kTextGrid) {
    texts.push_back(
        "\"ooTextFile\" \"TextGrid\" 0 2 <exists> 2 \"TextTier\" \"b\" 0 2 1 1 \"x\" "
        "\"IntervalTier\" \"A\" 0 2 1 0 1 \"x\" ! end");
  }
  if (format == Format::kVtt) {
    texts.push_back(
        "WEBVTT x\n\nNOTE a\n\nid\n00:01.000 --> 00:02.000 line:0\n<v.x A &amp; B>a</v> "
        "<v C>b\n\n00:01.000 --> 00:02.000\n[D] e\n");
  }
  return texts;
}

}  // namespace diarist::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace diarist;
  const std::string text(reinterpret_cast<const char*>(data), size);
  fuzz::expect_error_or_result([&] {
    if (fuzz::kFormat == "uem") {
      const Regions regions = parse_uem(text, "input");
      if (parse_uem(to_uem(regions), "written").size() != regions.size()) {
        throw std::logic_error("a recording is lost");
      }
      return;
    }
    fuzz::read_turns_of(text);
  });
  // What kind of text it is must be told of any bytes.
  fuzz::expect_error_or_result([&] { parse_results(text, {}, "input", "input"); });
  return 0;
}
