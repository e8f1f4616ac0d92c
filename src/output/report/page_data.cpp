#include "output/report/page_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "diarist/formats.hpp"
#include "diarist/waveform.hpp"
#include "output/json_text.hpp"
#include "output/number_text.hpp"
#include "output/report/markup.hpp"
#include "output/speaker_name.hpp"

namespace diarist::output {
namespace {

// 10 ms per level up to 200 minutes; then twice as long, again and again.
constexpr std::size_t kMostLevels = 1200000;
constexpr std::size_t kPowerStep = 4;  // levels of power are four times as long

// [start, end, speaker, confidence, RTTM duration] per turn.
std::string turns_text(const Diarization& result, const std::vector<Turn>& turns) {
  std::string text = "[";
  for (const Turn& turn : turns) {
    speaker_name(result, turn);  // checks the turn
    const PrintedTurn printed = printed_turn(result, turn);
    const float confidence = std::isfinite(turn.confidence) ? turn.confidence : 0.0F;
    fmt::format_to(std::back_inserter(text), "{}[{},{},{},{},{}]", text.size() > 1 ? "," : "",
                   printed.start, printed.end, turn.speaker,
                   std::lround(1000.0 * std::clamp(confidence, 0.0F, 1.0F)), printed.duration);
  }
  text += ']';
  return text;
}

// Each level the largest of `step`, or their root mean square.
std::string coarser(const std::vector<std::uint8_t>& levels, std::size_t step, bool largest) {
  std::string bytes;
  for (std::size_t i = 0; i < levels.size(); i += step) {
    const std::size_t end = std::min(levels.size(), i + step);
    double sum = 0;
    std::uint8_t most = 0;
    for (std::size_t k = i; k < end; ++k) {
      most = std::max(most, levels[k]);
      // Levels are roots of amplitudes, so amplitudes squared are fourth powers.
      sum += std::pow(levels[k], 4);
    }
    const double power = std::pow(sum / static_cast<double>(end - i), 0.25);
    bytes += static_cast<char>(largest ? most : static_cast<std::uint8_t>(std::lround(power)));
  }
  return bytes;
}

std::string wave_text(const Waveform* waveform) {
  if (waveform == nullptr || waveform->peak.empty()) return "null";
  std::size_t step = 1;
  while (waveform->peak.size() / step > kMostLevels) step *= 2;
  return fmt::format(R"({{"perSecond":{},"powerStep":{},"peak":"{}","power":"{}"}})",
                     json_number(Waveform::kLevelsPerSecond / static_cast<double>(step)),
                     kPowerStep, base64(coarser(waveform->peak, step, true)),
                     base64(coarser(waveform->power, step * kPowerStep, false)));
}

// The result's JSON without the lists that the page writes anew.
std::string document_text(const Diarization& result) {
  Diarization bare = result;
  bare.turns.clear();
  bare.exclusive_turns.clear();
  bare.speakers.clear();
  return nlohmann::ordered_json::parse(to_json(bare)).dump();
}

std::string footer_text(const Diarization& result) {
  std::string text = fmt::format("Made by diarist {}", DIARIST_VERSION);
  const EffectiveSettings& settings = result.settings;
  if (!settings.preset.empty())
    text += fmt::format(", preset {} on {}", settings.preset, settings.device);
  text += ". This page makes no connection: names, edits and sound stay on this computer.";
  for (const std::string& warning : result.warnings) text += fmt::format(" Warning: {}.", warning);
  return text;
}

}  // namespace

double page_duration(const Diarization& result) {
  double last = std::isfinite(result.duration) ? result.duration : 0;
  if (last <= 0 && result.waveform) last = result.waveform->duration;
  for (const Turn& turn : result.turns) last = std::max(last, turn.end);
  return last;
}

std::string page_data(const Diarization& result, const ReportOptions& options) {
  std::string names;
  for (const Speaker& speaker : result.speakers) {
    if (!names.empty()) names += ',';
    names += json_string(speaker.name);
  }
  const bool known = std::any_of(result.turns.begin(), result.turns.end(),
                                 [](const Turn& turn) { return turn.confidence < 1; });
  const ReportAudio& audio = options.audio;
  return json_inside_html(fmt::format(
      R"({{"uri":{},"duration":{},"confidence":{},"speakers":[{}],
"turns":{},
"exclusive":{},
"audio":{{"name":{},"href":{},"type":{}}},
"footer":{},
"document":{},
"wave":{}}})",
      json_string(result.uri), json_number(page_duration(result)), known, names,
      turns_text(result, result.turns), turns_text(result, result.exclusive_turns),
      json_string(audio.name), json_string(audio.href), json_string(audio.type),
      json_string(footer_text(result)), document_text(result), wave_text(result.waveform.get())));
}

}  // namespace diarist::output
