// Praat itself reads nothing but free-standing numbers, "strings" and <flags>; everything else in
// the long format is decoration. Read that way, the short format is the same file.

#include <fmt/format.h>

#include <cstddef>
#include <optional>

#include "base/error.hpp"
#include "output/formats/escapes.hpp"
#include "output/formats/fields.hpp"
#include "output/formats/readers.hpp"

namespace diarist::output {
namespace {

constexpr double kMostItems = 1e7;  // a count that is wrong must not become a long wait

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class GridReader {
 public:
  GridReader(std::string_view text, const Source& source) : text_(text), source_(source) {}

  Results read() {
    if (string("the file type") != "ooTextFile") bad("this is no text file of Praat");
    if (string("the class") != "TextGrid") {
      bad("this is no TextGrid; in Praat use Save as text file");
    }
    number("the start");
    const double length = number("the end");
    if (flag() == "<exists>") {
      const std::size_t tiers = count("tiers");
      for (std::size_t i = 0; i < tiers; ++i) read_tier();
    }
    check_times(0, length, place());
    return {result_of(source_.uri, turns_, length)};
  }

 private:
  void read_tier() {
    const std::string type = string("the class of a tier");
    const std::string name = unescaped(string("the name of a tier"), kLineText);
    number("the start of a tier");
    number("the end of a tier");
    const std::size_t items = count("intervals");
    const bool points = type == "TextTier";
    if (!points && type != "IntervalTier") bad("a tier is neither IntervalTier nor TextTier");
    for (std::size_t i = 0; i < items; ++i) {
      const double start = number("the start of an interval");
      const double end = points ? start : number("the end of an interval");
      const std::string text = string("the text of an interval");
      if (points || trimmed(text).empty()) continue;
      check_times(start, end, place());
      turns_.push_back({start, end, name});
    }
  }

  // Moves to the next word, string, number or flag that stands free. Returns its text; a string
  // keeps its first quote as a mark.
  std::string next(const char* wanted) {
    for (;;) {
      while (at_ < text_.size() && is_blank(text_[at_])) step();
      if (at_ >= text_.size()) bad(fmt::format("the file ends where {} should be", wanted));
      if (text_[at_] == '!') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
        continue;
      }
      if (text_[at_] == '"') return quoted_string();
      const std::size_t begin = at_;
      while (at_ < text_.size() && !is_blank(text_[at_])) ++at_;
      const std::string_view word = text_.substr(begin, at_ - begin);
      if (word.starts_with('<') || seconds_from(word) || word.starts_with('-')) {
        return std::string(word);
      }
    }
  }

  std::string quoted_string() {
    std::string value = "\"";
    for (step(); at_ < text_.size(); step()) {
      if (text_[at_] == '"') {
        step();
        if (at_ >= text_.size() || text_[at_] != '"') return value;
      }
      value += text_[at_];
    }
    bad("a quote is never closed");
  }

  void step() {
    if (text_[at_] == '\n') ++line_;
    ++at_;
  }

  std::string string(const char* wanted) {
    std::string value = next(wanted);
    if (!value.starts_with('"')) bad(fmt::format("{} should be here in quotes", wanted));
    return value.substr(1);
  }

  double number(const char* wanted) {
    const std::string word = next(wanted);
    const std::optional<double> value = seconds_from(word);
    if (!value)
      bad(fmt::format("{} should be a number >= 0 and is {}", wanted, output::quoted(word)));
    return *value;
  }

  std::size_t count(const char* wanted) {
    const double value = number(wanted);
    if (value > kMostItems) bad(fmt::format("{} {} are too many", value, wanted));
    return static_cast<std::size_t>(value);
  }

  std::string flag() {
    const std::string word = next("<exists>");
    if (!word.starts_with('<')) bad("<exists> or <absent> should be here");
    return word;
  }

  std::string place() const { return fmt::format("{}, line {}", source_.name, line_); }

  [[noreturn]] void bad(const std::string& problem) const {
    base::fail(ErrorCode::kBadFile, "{}: {}; save the TextGrid from Praat again", place(), problem);
  }

  std::string_view text_;
  const Source& source_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::vector<NamedTurn> turns_;
};

}  // namespace

Results results_of_text_grid(std::string_view text, const Source& source) {
  return GridReader(text, source).read();
}

}  // namespace diarist::output
