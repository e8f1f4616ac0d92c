#include "output/transcript_text_cut.hpp"

#include <algorithm>

#include "output/transcript_cues.hpp"

namespace diarist::output {
namespace {

// Where each word begins in the text; empty when the words are not just those of the text.
std::vector<std::size_t> word_places(const std::string& text,
                                     const std::vector<TranscriptWord>& words) {
  const std::string_view view(text);
  std::vector<std::size_t> places;
  std::size_t at = 0;
  for (const TranscriptWord& word : words) {
    const std::string_view core = without_blanks(word.text);
    const std::size_t next = std::min(view.find_first_not_of(" \t\r\n\f\v", at), view.size());
    if (core.empty()) {
      places.push_back(at);
      continue;
    }
    if (!view.substr(next).starts_with(core)) return {};
    // Whisper's words begin with their blank.
    const std::size_t lead = word.text.find(core);
    places.push_back(next - std::min(lead, next - at));
    at = next + core.size();
  }
  return is_blank(view.substr(at)) ? places : std::vector<std::size_t>();
}

std::string joined(const std::vector<TranscriptWord>& words, std::size_t from, std::size_t to) {
  const bool blanks_inside = std::any_of(words.begin(), words.end(), [](const TranscriptWord& w) {
    return w.text.starts_with(' ') || w.text.ends_with(' ');
  });
  std::string text;
  for (std::size_t i = from; i < to; ++i) {
    if (i > from && !blanks_inside) text += ' ';
    text += words[i].text;
  }
  return text;
}

}  // namespace

std::vector<std::string> cut_text(const std::string& text, const std::vector<TranscriptWord>& words,
                                  const std::vector<std::size_t>& cuts) {
  const std::vector<std::size_t> places = word_places(text, words);
  std::vector<std::string> pieces;
  std::size_t first = 0;
  for (std::size_t k = 0; k <= cuts.size(); ++k) {
    const bool last = k == cuts.size();
    const std::size_t next = last ? words.size() : cuts[k];
    if (places.empty()) {
      pieces.push_back(joined(words, first, next));
    } else {
      const std::size_t from = k == 0 ? 0 : places[first];
      const std::size_t to = last ? text.size() : places[next];
      std::string piece = text.substr(from, to - from);
      while (!last && !piece.empty() && is_blank(std::string_view(&piece.back(), 1)))
        piece.pop_back();
      pieces.push_back(std::move(piece));
    }
    first = next;
  }
  return pieces;
}

}  // namespace diarist::output
