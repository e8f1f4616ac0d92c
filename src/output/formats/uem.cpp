#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "base/file.hpp"
#include "diarist/regions.hpp"
#include "output/formats/fields.hpp"
#include "output/number_text.hpp"

namespace diarist {

Regions parse_uem(std::string_view text, const std::string& source) {
  constexpr std::string_view kForm = "<uri> 1 <start> <end>";
  Regions regions;
  text = output::without_mark(text);
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::vector<std::string_view> fields = output::split_fields(output::take_line(text));
    if (fields.empty() || fields[0].starts_with(";;")) continue;
    const auto bad = [&](const std::string& problem) {
      base::fail(ErrorCode::kBadFile, "{}, line {}: {}; correct the line to {}", source, number,
                 problem, kForm);
    };
    if (fields.size() != 4) {
      bad(fmt::format("a UEM line has 4 fields and this has {}", fields.size()));
    }
    const std::optional<double> start = output::seconds_from(fields[2]);
    if (!start) bad(fmt::format("start {} is not a number >= 0", output::quoted(fields[2])));
    const std::optional<double> end = output::seconds_from(fields[3]);
    if (!end) bad(fmt::format("end {} is not a number >= 0", output::quoted(fields[3])));
    if (*end < *start) bad(fmt::format("the end {} lies before the start {}", *end, *start));
    regions[output::decode_field(fields[0])].push_back({*start, *end});
  }
  return regions;
}

Regions read_uem(const std::filesystem::path& file) {
  return parse_uem(base::read_text(file), file.string());
}

std::string to_uem(const Regions& regions) {
  std::string text;
  for (const auto& [uri, parts] : regions) {
    for (const Region& part : parts) {
      if (!(part.start >= 0 && part.end >= part.start && part.end <= 1e12)) {
        base::fail(ErrorCode::kInvalidArgument,
                   "region of '{}' from {} to {} s can't be written; give 0 <= start <= end", uri,
                   part.start, part.end);
      }
      fmt::format_to(std::back_inserter(text), "{} 1 {} {}\n", output::encode_field(uri),
                     output::three_decimals(part.start), output::three_decimals(part.end));
    }
  }
  return text;
}

}  // namespace diarist
