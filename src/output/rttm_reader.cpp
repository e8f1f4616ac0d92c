#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/file.hpp"
#include "diarist/formats.hpp"
#include "output/formats/escapes.hpp"
#include "output/formats/fields.hpp"

namespace diarist {
namespace {

constexpr std::string_view kForm = "SPEAKER <uri> 1 <start> <duration> <NA> <NA> <label> <NA> <NA>";

// A line has 8 fields up to the label; confidence and signal look-ahead time may follow.
constexpr std::size_t kFieldsNeeded = 8;
constexpr std::size_t kFieldsMost = 10;

// Line types of NIST's Rich Transcription formats other than SPEAKER.
constexpr std::array<std::string_view, 14> kOtherTypes = {
    "SEGMENT",    "NOSCORE", "NO_RT_METADATA", "LEXEME",    "NON-LEX",
    "NON-SPEECH", "FILLER",  "EDIT",           "SU",        "IP",
    "CB",         "A/P",     "SPKR-INFO",      "NO-SPEAKER"};

// Reads the lines of one file in order.
class Reader {
 public:
  explicit Reader(const std::string& source) : source_(source) {}

  void add_line(std::string_view line) {
    ++number_;
    const std::vector<std::string_view> fields = output::split_fields(line);
    if (fields.empty() || fields[0].starts_with(";;")) return;
    if (fields[0] == "SPEAKER") {
      add_speaker(fields);
      known_ = true;
    } else if (std::find(kOtherTypes.begin(), kOtherTypes.end(), fields[0]) != kOtherTypes.end()) {
      known_ = true;
    } else if (unknown_line_ == 0) {
      unknown_line_ = number_;
      unknown_ = output::quoted(fields[0]);
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
  void add_speaker(const std::vector<std::string_view>& fields) {
    if (fields.size() < kFieldsNeeded) {
      bad(fmt::format("a SPEAKER line needs at least {} fields and this has {}", kFieldsNeeded,
                      fields.size()));
    }
    if (fields.size() > kFieldsMost) {
      bad(
          fmt::format("a SPEAKER line has at most {} fields and this has {} (write a space inside "
                      "a name as %20)",
                      kFieldsMost, fields.size()));
    }
    RttmTurn turn;
    turn.start = number_field("start", fields[3]);
    turn.duration = number_field("duration", fields[4]);
    if (!std::isfinite(turn.start + turn.duration)) bad("the end is too large for a number");
    turn.label = output::decode_field(fields[7]);
    file_[output::decode_field(fields[1])].push_back(std::move(turn));
  }

  double number_field(std::string_view name, std::string_view text) const {
    const std::optional<double> value = output::seconds_from(text);
    if (!value)
      bad(fmt::format("{} {} is not a number of seconds >= 0", name, output::quoted(text)));
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
  text = output::without_mark(text);
  Reader reader(source);
  while (!text.empty()) reader.add_line(output::take_line(text));
  return reader.finish();
}

RttmFile read_rttm(const std::filesystem::path& file) {
  return parse_rttm(base::read_text(file), file.string());
}

}  // namespace diarist
