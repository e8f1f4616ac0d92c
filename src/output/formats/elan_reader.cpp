#include <fmt/format.h>

#include <map>
#include <optional>
#include <pugixml.hpp>

#include "base/error.hpp"
#include "output/formats/escapes.hpp"
#include "output/formats/fields.hpp"
#include "output/formats/readers.hpp"

namespace diarist::output {
namespace {

class ElanReader {
 public:
  ElanReader(const pugi::xml_node& document, const Source& source)
      : document_(document), source_(source), uri_(source.uri) {}

  Results read() {
    for (const auto& property : document_.child("HEADER").children("PROPERTY")) {
      const std::string_view name = property.attribute("NAME").value();
      const std::string_view value = property.text().get();
      if (name == "diarist.uri") uri_ = unescaped(value, kLineText);
      if (name == "diarist.duration") duration_ = seconds_from(trimmed(value)).value_or(0);
    }
    for (const auto& slot : document_.child("TIME_ORDER").children("TIME_SLOT")) {
      const std::optional<double> time = seconds_from(slot.attribute("TIME_VALUE").value());
      if (time) times_[slot.attribute("TIME_SLOT_ID").value()] = *time / 1000;
    }
    for (const auto& tier : document_.children("TIER")) {
      // A tier below another one divides its annotations (words, glosses) and speaks of the same.
      if (tier.attribute("PARENT_REF").empty()) read_tier(tier);
    }
    check_times(0, duration_, source_.name);
    return {result_of(uri_, turns_, duration_)};
  }

 private:
  void read_tier(const pugi::xml_node& tier) {
    const std::string_view id = tier.attribute("TIER_ID").value();
    const std::string_view participant = tier.attribute("PARTICIPANT").value();
    const std::string name = unescaped(participant.empty() ? id : participant, kLineText);
    for (const auto& annotation : tier.children("ANNOTATION")) {
      const pugi::xml_node aligned = annotation.child("ALIGNABLE_ANNOTATION");
      if (!aligned) continue;
      const std::string place =
          fmt::format("{}, annotation {}", source_.name,
                      output::quoted(aligned.attribute("ANNOTATION_ID").value()));
      const double start = time_of(aligned.attribute("TIME_SLOT_REF1").value(), place);
      const double end = time_of(aligned.attribute("TIME_SLOT_REF2").value(), place);
      check_times(start, end, place);
      turns_.push_back({start, end, name});
    }
  }

  double time_of(const std::string& slot, const std::string& place) const {
    const auto found = times_.find(slot);
    if (found == times_.end()) {
      base::fail(ErrorCode::kBadFile, "{}: time slot {} has no time; align it in ELAN", place,
                 output::quoted(slot));
    }
    return found->second;
  }

  const pugi::xml_node document_;
  const Source& source_;
  std::string uri_;
  double duration_ = 0;
  std::map<std::string, double> times_;
  std::vector<NamedTurn> turns_;
};

}  // namespace

Results results_of_elan(std::string_view text, const Source& source) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
  if (!parsed) {
    base::fail(ErrorCode::kBadFile, "{}: byte {}: {}; save the file from ELAN again", source.name,
               parsed.offset, parsed.description());
  }
  const pugi::xml_node root = document.child("ANNOTATION_DOCUMENT");
  if (!root) {
    base::fail(ErrorCode::kBadFile,
               "{}: there is no ANNOTATION_DOCUMENT; give a file that ELAN saved", source.name);
  }
  return ElanReader(root, source).read();
}

}  // namespace diarist::output
