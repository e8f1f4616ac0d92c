#pragma once
// Results with everything that formats find hard, and what their readers must give back.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "diarist/formats.hpp"

namespace diarist::test {

inline const std::vector<std::string>& awkward_names() {
  static const std::vector<std::string> names = {
      "SPEAKER_00",
      "Anna Lee",
      "  two  blanks ",
      "tab\tand\nline\r\nends",
      "\"quoted\", with; commas",
      "it''s \"\"",
      "<v Bob> & </v> &amp;",
      "a --> b",
      "[in] {brackets} ]",
      "100% %20 %0A %C2%85 %5D %",
      "1505728826.11848331",
      "007",
      "日本語 😀",
      "e\xCC\x81\xC2\xA0o \xE2\x80\xA8line",
      "<NA>",
      "%3CNA>",
      "-dash",
      "\\back\\slash",
      "Name: words",
      "\xEF\xBF\xBE",
      std::string(200, 'x'),
      ";; comment",
      "=1+1",
      "NOTE",
      "!no",
  };
  return names;
}

/// Speakers with awkward names; each one's turns are apart, different speakers overlap.
/// \param offset seconds before the first turn.
inline Diarization awkward_result(std::mt19937& draw, double offset = 0) {
  Diarization result;
  const std::vector<std::string>& names = awkward_names();
  result.uri = names[draw() % names.size()];
  std::vector<std::string> left = names;
  std::shuffle(left.begin(), left.end(), draw);
  left.resize(draw() % 5);
  result.duration = offset + 20 + static_cast<double>(draw() % 1000000) / 16000;
  for (std::size_t speaker = 0; speaker < left.size(); ++speaker) {
    result.speakers.push_back({left[speaker], 0, {}});
    double at = offset + static_cast<double>(draw() % 48000) / 16000;
    for (unsigned turns = draw() % 6 + 1; turns > 0 && at < result.duration - 0.1; --turns) {
      const double end =
          std::min(result.duration, at + 0.02 + static_cast<double>(draw() % 90000) / 16000);
      result.turns.push_back({at, end, static_cast<int>(speaker)});
      result.speakers.back().speech_seconds += end - at;
      at = end + 0.01 + static_cast<double>(draw() % 40000) / 16000;
    }
  }
  std::sort(result.turns.begin(), result.turns.end(), [](const Turn& a, const Turn& b) {
    return std::tie(a.start, a.end, a.speaker) < std::tie(b.start, b.end, b.speaker);
  });
  result.exclusive_turns = result.turns;
  return result;
}

using NamedTimes = std::tuple<std::string, double, double>;

/// Name, start and end of every turn, sorted.
inline std::vector<NamedTimes> named_times(const Diarization& result) {
  std::vector<NamedTimes> turns;
  for (const Turn& turn : result.turns) {
    turns.emplace_back(result.speakers[static_cast<std::size_t>(turn.speaker)].name, turn.start,
                       turn.end);
  }
  std::sort(turns.begin(), turns.end());
  return turns;
}

/// Every turn of one result has its twin in the other, `tolerance` seconds away at most.
inline void expect_same_turns(const Diarization& got, const Diarization& wanted, double tolerance) {
  const std::vector<NamedTimes> a = named_times(got);
  const std::vector<NamedTimes> b = named_times(wanted);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(std::get<0>(a[i]), std::get<0>(b[i]));
    EXPECT_NEAR(std::get<1>(a[i]), std::get<1>(b[i]), tolerance);
    EXPECT_NEAR(std::get<2>(a[i]), std::get<2>(b[i]), tolerance);
  }
}

}  // namespace diarist::test
