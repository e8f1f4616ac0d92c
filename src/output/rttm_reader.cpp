#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/file.hpp"
#include "diarist/formats.hpp"
#include "output/number_text.hpp"

namespace diarist {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kForm = "SPEAKER <uri> 1 <start> <duration> <NA> <NA> <label> <NA> <NA>";

// A line has 8 fields up to the label; confidence and signal look-ahead time may follow.
constexpr std::size_t kFieldsNeeded = 8;
constexpr std::size_t kFieldsMost = 10;

// Line types of NIST's Rich Transcription formats other than SPEAKER.
constexpr std::array<std::string_view, 14> kOtherTypes = {
    "SEGMENT",    "NOSCORE", "NO_RT_METADATA", "LEXEME",    "NON-LEX",
    "NON-SPEECH", "FILLER",  "EDIT",           "SU",        "IP",
    "CB",         "A/P",     "SPKR-INFO",      "NO-SPEAKER"};

struct Fields {
  std::array<std::string_view, kFieldsMost> text;
  std::size_t count = 0;  // may exceed kFieldsMost: the rest is only counted
};

Fields split(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r\v\f";
  Fields fields;
  std::size_t at = line.find_first_not_of(kBlank);
  while (at != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(kBlank, at), line.size());
    if (fields.count < kFieldsMost) fields.text[fields.count] = line.substr(at, end - at);
    ++fields.count;
    at = line.find_first_not_of(kBlank, end);
  }
  return fields;
}

// A piece of the file for a message of one line: short and plain ASCII, whatever it is.
std::string quoted(std::string_view text) {
  constexpr std::size_t kMost = 40;
  std::string shown(text.substr(0, kMost));
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F) c = '?';
  }
  return "'" + shown + (text.size() > kMost ? "...'" : "'");
}

std::optional<double> seconds(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}

// Reads the lines of one file in order.
class Reader {
 public:
  explicit Reader(const std::string& source) : source_(source) {}

  void add_line(std::string_view line) {
    ++number_;
    const Fields fields = split(line);
    if (fields.count == 0 || fields.text[0].starts_with(";;")) return;
    if (fields.text[0] == "SPEAKER") {
      add_speaker(fields);
      known_ = true;
    } else if (std::find(kOtherTypes.begin(), kOtherTypes.end(), fields.text[0]) !=
               kOtherTypes.end()) {
      known_ = true;
    } else if (unknown_line_ == 0) {
      unknown_line_ = number_;
      unknown_ = quoted(fields.text[0]);
    }
  }

  RttmFile finish() {
    if (!known_ && unknown_line_ > 0) {
      base::fail(ErrorCode::kBadFile,
                 "{}, line {}: {} is no line type of RTTM, and no other line has one; give a file "
                 "with lines like {}",
                 source_, unknown_line_, unknown_, kForm);
    }
    return std::move(file_);
  }

 private:
  void add_speaker(const Fields& fields) {
    if (fields.count < kFieldsNeeded) {
      bad(fmt::format("a SPEAKER line needs at least {} fields and this has {}", kFieldsNeeded,
                      fields.count));
    }
    if (fields.count > kFieldsMost) {
      bad(
          fmt::format("a SPEAKER line has at most {} fields and this has {} (write a space inside "
                      "a name as %20)",
                      kFieldsMost, fields.count));
    }
    RttmTurn turn;
    turn.start = number_field("start", fields.text[3]);
    turn.duration = number_field("duration", fields.text[4]);
    if (!std::isfinite(turn.start + turn.duration)) bad("the end is too large for a number");
    turn.label = output::decode_field(fields.text[7]);
    file_[output::decode_field(fields.text[1])].push_back(std::move(turn));
  }

  double number_field(std::string_view name, std::string_view text) const {
    const std::optional<double> value = seconds(text);
    if (!value) bad(fmt::format("{} {} is not a number of seconds >= 0", name, quoted(text)));
    return *value;
  }

  [[noreturn]] void bad(const std::string& problem) const {
    base::fail(ErrorCode::kBadFile, "{}, line {}: {}; correct the line to {}", source_, number_,
               problem, kForm);
  }

  const std::string& source_;
  RttmFile file_;
  std::size_t number_ = 0;
  bool known_ = false;
  std::size_t unknown_line_ = 0;
  std::string unknown_;
};

}  // namespace

RttmFile parse_rttm(std::string_view text, const std::string& source) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Reader reader(source);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.add_line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.finish();
}

RttmFile read_rttm(const std::filesystem::path& file) {
  return parse_rttm(base::read_text(file), file.string());
}

RttmFile read_turns(const std::filesystem::path& file) { return read_rttm(file); }

}  // namespace diarist
