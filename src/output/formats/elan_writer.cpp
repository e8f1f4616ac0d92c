// ELAN Annotation Format 3.0: one tier per speaker, times in milliseconds.

#include <fmt/format.h>

#include <iterator>
#include <set>

#include "output/formats/unicode.hpp"
#include "output/formats/writers.hpp"

namespace diarist::output {
namespace {

// The schema demands a date, and the same input must give the same bytes.
constexpr std::string_view kHead = R"(<?xml version="1.0" encoding="UTF-8"?>
<ANNOTATION_DOCUMENT AUTHOR="diarist" DATE="1970-01-01T00:00:00+00:00" FORMAT="3.0" VERSION="3.0" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="http://www.mpi.nl/tools/elan/EAFv3.0.xsd">
)";
constexpr std::string_view kTail =
    R"(    <LINGUISTIC_TYPE GRAPHIC_REFERENCES="false" LINGUISTIC_TYPE_ID="default-lt" TIME_ALIGNABLE="true"/>
</ANNOTATION_DOCUMENT>
)";

// Ids of tiers are unique; speakers of one name, or with turns that overlap, need more than one.
std::string tier_id(const Lane& lane, std::set<std::string>& taken) {
  std::string id = *lane.name;
  for (int number = 2; !taken.insert(id).second; ++number) {
    id = fmt::format("{} ({})", *lane.name, number);
  }
  return id;
}

std::string attribute(std::string_view name) { return xml_text(escaped(name, kLineText)); }

}  // namespace

std::string elan_text(const Diarization& result) {
  const std::vector<Lane> lanes = lanes_of(result);
  std::size_t annotations = 0;
  for (const Lane& lane : lanes) annotations += lane.turns.size();
  std::string text(kHead);
  const auto out = std::back_inserter(text);
  fmt::format_to(out,
                 "    <HEADER MEDIA_FILE=\"\" TIME_UNITS=\"milliseconds\">\n"
                 "        <PROPERTY NAME=\"diarist.uri\">{}</PROPERTY>\n"
                 "        <PROPERTY NAME=\"diarist.duration\">{}</PROPERTY>\n"
                 "        <PROPERTY NAME=\"lastUsedAnnotationId\">{}</PROPERTY>\n"
                 "    </HEADER>\n    <TIME_ORDER>\n",
                 attribute(result.uri), milliseconds_text(printed_length(result)), annotations);
  std::size_t slot = 0;
  for (const Lane& lane : lanes) {
    for (const PrintedTurn& turn : lane.turns) {
      for (const std::int64_t time : {turn.start, turn.end}) {
        fmt::format_to(out, "        <TIME_SLOT TIME_SLOT_ID=\"ts{}\" TIME_VALUE=\"{}\"/>\n",
                       ++slot, time);
      }
    }
  }
  text += "    </TIME_ORDER>\n";
  std::set<std::string> taken;
  std::size_t number = 0;
  for (const Lane& lane : lanes) {
    const std::string name = attribute(*lane.name);
    fmt::format_to(
        out, "    <TIER LINGUISTIC_TYPE_REF=\"default-lt\" PARTICIPANT=\"{}\" TIER_ID=\"{}\">\n",
        name, attribute(tier_id(lane, taken)));
    for (std::size_t i = 0; i < lane.turns.size(); ++i) {
      ++number;
      fmt::format_to(out,
                     "        <ANNOTATION>\n"
                     "            <ALIGNABLE_ANNOTATION ANNOTATION_ID=\"a{}\" "
                     "TIME_SLOT_REF1=\"ts{}\" TIME_SLOT_REF2=\"ts{}\">\n"
                     "                <ANNOTATION_VALUE>{}</ANNOTATION_VALUE>\n"
                     "            </ALIGNABLE_ANNOTATION>\n"
                     "        </ANNOTATION>\n",
                     number, 2 * number - 1, 2 * number, name);
    }
    text += "    </TIER>\n";
  }
  return text + std::string(kTail);
}

}  // namespace diarist::output
