// Rows as RFC 4180 has them; columns are known by the names in the first row.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/error.hpp"
#include "output/formats/fields.hpp"
#include "output/formats/readers.hpp"
#include "output/formats/unicode.hpp"

namespace diarist::output {
namespace {

constexpr int kMissing = -1;

struct Row {
  std::size_t line = 0;  // where it begins
  std::vector<std::string> cells;
  bool blank() const { return cells.size() == 1 && cells[0].empty(); }
};

// Takes the rows of a text one by one; quoted cells may hold line ends.
class RowReader {
 public:
  RowReader(std::string_view text, char delimiter, const Source& source)
      : text_(text), delimiter_(delimiter), source_(source) {}

  bool next(Row& row) {
    if (at_ >= text_.size()) return false;
    row = {.line = line_, .cells = {}};
    row.cells.push_back(cell());
    while (at_ < text_.size() && text_[at_] == delimiter_) {
      ++at_;
      row.cells.push_back(cell());
    }
    end_line();
    return true;
  }

 private:
  std::string cell() {
    if (at_ >= text_.size() || text_[at_] != '"') return plain();
    const std::size_t begin = line_;
    std::string value;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        const bool doubled = at_ + 1 < text_.size() && text_[at_ + 1] == '"';
        if (!doubled) {
          ++at_;
          return value + plain();
        }
        ++at_;
      }
      if (text_[at_] == '\n') ++line_;
      value += text_[at_];
    }
    base::fail(ErrorCode::kBadFile, "{}, line {}: a quote is never closed; close it", source_.name,
               begin);
  }

  std::string plain() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != delimiter_ && text_[at_] != '\n' &&
           text_[at_] != '\r') {
      ++at_;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  void end_line() {
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size() && text_[at_] == '\n') ++at_;
    ++line_;
  }

  std::string_view text_;
  char delimiter_;
  const Source& source_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

struct Columns {
  int uri = kMissing;
  int start = kMissing;
  int end = kMissing;
  int duration = kMissing;
  int speaker = kMissing;
};

Columns columns_of(const Row& header) {
  Columns columns;
  for (std::size_t i = 0; i < header.cells.size(); ++i) {
    const std::string name = lower_case(trimmed(header.cells[i]));
    int* column = name == "uri" || name == "file" || name == "recording" ? &columns.uri
                  : name == "start"                                      ? &columns.start
                  : name == "end"                                        ? &columns.end
                  : name == "duration"                                   ? &columns.duration
                  : name == "speaker" || name == "label"                 ? &columns.speaker
                                                                         : nullptr;
    if (column != nullptr && *column == kMissing) *column = static_cast<int>(i);
  }
  return columns;
}

char delimiter_of(std::string_view first_line) {
  const auto count = [&](char c) { return std::count(first_line.begin(), first_line.end(), c); };
  if (count('\t') > 0) return '\t';
  return count(';') > count(',') ? ';' : ',';
}

// A spreadsheet that separates with semicolons does so because its decimal sign is the comma.
std::optional<double> number(std::string text, char delimiter) {
  if (delimiter == ';') std::replace(text.begin(), text.end(), ',', '.');
  return seconds_from(trimmed(text));
}

}  // namespace

Results results_of_csv(std::string_view text, const Source& source) {
  std::string_view rest = text;
  const char delimiter = delimiter_of(take_line(rest));
  RowReader reader(text, delimiter, source);
  Row row;
  if (!reader.next(row)) return {};
  const Columns columns = columns_of(row);
  if (columns.start == kMissing || (columns.end == kMissing && columns.duration == kMissing) ||
      columns.speaker == kMissing) {
    base::fail(ErrorCode::kBadFile,
               "{}, line 1: the columns start, end (or duration) and speaker are needed; name them "
               "in the first line, like uri,start,end,speaker",
               source.name);
  }
  const std::size_t width = row.cells.size();
  std::map<std::string, std::vector<NamedTurn>> recordings;
  while (reader.next(row)) {
    if (row.blank()) continue;
    const std::string place = fmt::format("{}, line {}", source.name, row.line);
    if (row.cells.size() != width) {
      base::fail(ErrorCode::kBadFile, "{}: {} cells in a table of {} columns; correct the line",
                 place, row.cells.size(), width);
    }
    const auto cell = [&](int column) { return row.cells[static_cast<std::size_t>(column)]; };
    const auto seconds = [&](int column) {
      const std::optional<double> value = number(cell(column), delimiter);
      if (!value) {
        base::fail(ErrorCode::kBadFile, "{}: {} is no number of seconds >= 0; correct it", place,
                   output::quoted(cell(column)));
      }
      return *value;
    };
    const double start = seconds(columns.start);
    const double end =
        columns.end != kMissing ? seconds(columns.end) : start + seconds(columns.duration);
    check_times(start, end, place);
    recordings[columns.uri == kMissing ? source.uri : cell(columns.uri)].push_back(
        {start, end, cell(columns.speaker)});
  }
  Results results;
  for (const auto& [uri, turns] : recordings) results.push_back(result_of(uri, turns));
  return results;
}

}  // namespace diarist::output
