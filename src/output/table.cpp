#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "diarist/formats.hpp"
#include "output/activity_picture.hpp"
#include "output/number_text.hpp"
#include "output/speaker_name.hpp"
#include "output/terminal_text.hpp"

namespace diarist {
namespace {

constexpr int kLeastColumns = 40;

std::string clock_of(double seconds) {
  return output::clock_text(output::rounded_milliseconds(seconds));
}

std::string counted(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string headline(const Diarization& result, int columns, bool ascii) {
  std::string facts = counted(result.speakers.size(), "speaker", "speakers") + ", " +
                      counted(result.turns.size(), "turn", "turns");
  if (result.duration > 0) facts = clock_of(result.duration) + ", " + facts;
  if (!result.settings.preset.empty()) facts += ", preset " + result.settings.preset;
  const std::string uri = output::shown(result.uri, columns, ascii);
  if (uri.empty()) return facts + "\n";
  const bool fits = output::text_width(uri) + 2 + output::text_width(facts) <= columns;
  return uri + (fits ? ": " : "\n") + facts + "\n";
}

// Columns: start, end, length, speaker; the name is last, so that it may be cut.
std::string turn_lines(const Diarization& result, int columns, bool ascii) {
  using Times = std::array<std::string, 3>;
  std::vector<Times> times = {{"start", "end", "length"}};
  for (const Turn& turn : result.turns) {
    const output::PrintedTurn printed = output::printed_turn(result, turn);
    times.push_back({output::clock_text(printed.start), output::clock_text(printed.end),
                     output::clock_text(printed.end - printed.start)});
  }
  std::array<int, std::tuple_size_v<Times>> widths{};
  for (const Times& line : times) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      widths[i] = std::max(widths[i], output::text_width(line[i]));
    }
  }
  int name_width = columns;
  for (const int width : widths) name_width -= width + 2;
  std::string text;
  for (std::size_t line = 0; line < times.size(); ++line) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      text += output::pad_left(times[line][i], widths[i]) + "  ";
    }
    const std::string name =
        line == 0 ? "speaker" : output::speaker_name(result, result.turns[line - 1]);
    text += output::shown(name, std::max(name_width, 1), ascii) + "\n";
  }
  return text;
}

// Behind the name of a speaker who was compared with voices.
std::string voice_words(const Speaker& speaker) {
  if (!speaker.voice || speaker.voice->best.empty()) return {};
  const SpeakerVoice& voice = *speaker.voice;
  return voice.decision == VoiceDecision::kNamed
             ? fmt::format(" (voice {:.2f})", voice.score)
             : fmt::format(" (nearest {} {:.2f})", voice.best, voice.score);
}

// Columns: speech, share of the recording, turns, speaker.
std::string total_lines(const Diarization& result, int columns, bool ascii) {
  std::vector<int> turns(result.speakers.size(), 0);
  for (const Turn& turn : result.turns) ++turns[static_cast<std::size_t>(turn.speaker)];
  const double seconds = output::seconds_shown(result);
  int width = output::text_width("speech");
  for (const Speaker& speaker : result.speakers) {
    width = std::max(width, output::text_width(clock_of(speaker.speech_seconds)));
  }
  std::string text = output::pad_left("speech", width) + "    share  turns  speaker\n";
  for (std::size_t i = 0; i < result.speakers.size(); ++i) {
    const Speaker& speaker = result.speakers[i];
    const double share = seconds > 0 ? 100 * speaker.speech_seconds / seconds : 0;
    text += fmt::format("{}  {:5.1f} %  {:5}  {}\n",
                        output::pad_left(clock_of(speaker.speech_seconds), width), share, turns[i],
                        output::shown(speaker.name + voice_words(speaker),
                                      std::max(columns - width - 18, 1), ascii));
  }
  return text;
}

}  // namespace

std::string to_table(const Diarization& result, int columns, bool ascii) {
  output::check_printable(result);
  columns = std::max(columns, kLeastColumns);
  std::string text = headline(result, columns, ascii);
  if (result.turns.empty()) return text + "No speech found.\n";
  return text + "\n" + turn_lines(result, columns, ascii) + "\n" +
         total_lines(result, columns, ascii) + "\n" +
         output::activity_picture(result, columns, ascii);
}

}  // namespace diarist
