// JSON of whisper.cpp: times in milliseconds and as clock text; in the full form tokens, which are
// pieces of words.

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "output/number_text.hpp"
#include "output/transcript_document.hpp"
#include "output/transcript_times.hpp"
#include "output/transcript_utf8.hpp"

namespace diarist::output {
namespace {

struct Span {
  std::optional<double> start;
  std::optional<double> end;
};

// "[_BEG_]", "[_TT_150]", "<|endoftext|>": marks of the model, nothing that was said.
bool is_special(std::string_view text) {
  return (text.starts_with("[_") && text.ends_with("]")) ||
         (text.starts_with("<|") && text.ends_with("|>"));
}

// Writing without blanks between words: a token may begin a word anywhere.
bool is_unspaced(std::uint32_t code) {
  constexpr std::pair<std::uint32_t, std::uint32_t> kRanges[] = {
      {0x0E01, 0x0EDF},    // Thai, Lao
      {0x1000, 0x109F},    // Burmese
      {0x1780, 0x17DD},    // Khmer
      {0x2E80, 0x2FDF},    // radicals
      {0x3041, 0x31FF},    // kana, bopomofo
      {0x3400, 0x9FFF},    // Chinese characters
      {0xF900, 0xFAFF},    // the same, for compatibility
      {0x20000, 0x3FFFF},  // and the rare ones
  };
  return std::any_of(std::begin(kRanges), std::end(kRanges), [&](const auto& range) {
    return code >= range.first && code <= range.second;
  });
}

bool is_whole(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character character = utf8_at(text, at);
    if (character.length == 0) return false;
    at += character.length;
  }
  return true;
}

// A character of Chinese may be spread over tokens; the word goes on until it is whole.
bool begins_word(std::string_view before, std::string_view token) {
  if (before.empty()) return true;
  if (token.empty()) return false;
  if (token.front() == ' ' || token.front() == '\n') return true;
  if (!is_whole(before)) return false;
  const Utf8Character first = utf8_at(token, 0);
  if (first.length > 0) return is_unspaced(first.code);
  // The head of a character that goes on in the next token: of these scripts, by its first byte.
  return static_cast<unsigned char>(token.front()) >= 0xE0;
}

class WhisperCppReader {
 public:
  WhisperCppReader(const std::string& source, Transcript& transcript, TranscriptDocument& document)
      : source_(source), transcript_(transcript), document_(document) {}

  void add(const JsonNode& node, std::size_t index) {
    JsonPlace place{"transcription", index};
    if (node.kind != JsonNode::Kind::kObject)
      base::fail(ErrorCode::kBadFile, "{}: {} must be an object with offsets and text", source_,
                 place.text());
    const Span span = times(node, place);
    TranscriptSegment segment;
    segment.origin = index;
    segment.start = span.start;
    segment.end = span.end;
    segment.text = text(node, place);
    document_.word_tokens.emplace_back();
    const JsonNode* tokens = node.find("tokens");
    if (tokens != nullptr && tokens->kind != JsonNode::Kind::kNull) {
      if (tokens->kind != JsonNode::Kind::kArray)
        base::fail(ErrorCode::kBadFile, "{}: {} must be a list", source_, place.text("tokens"));
      place.inner = "tokens";
      add_words(*tokens, place, segment.words);
    }
    transcript_.segments.push_back(std::move(segment));
  }

  void finish() const { odd_times_.add_warnings(source_, transcript_.warnings); }

 private:
  void add_words(const JsonNode& tokens, JsonPlace place, std::vector<TranscriptWord>& words) {
    for (std::size_t i = 0; i < tokens.members.size(); ++i) {
      place.inner_item = i;
      const JsonNode& token = tokens.members[i].value;
      if (token.kind != JsonNode::Kind::kObject)
        base::fail(ErrorCode::kBadFile, "{}: {} must be an object with text and offsets", source_,
                   place.text());
      const std::string piece = text(token, place);
      if (is_special(piece)) continue;
      const Span span = times(token, place);
      if (words.empty() || begins_word(words.back().text, piece)) {
        words.push_back({span.start, span.end, piece, {}});
        document_.word_tokens.back().push_back(i);
        continue;
      }
      TranscriptWord& word = words.back();
      word.text += piece;
      if (!word.start) word.start = span.start;
      if (span.end && (!word.end || *span.end > *word.end)) word.end = span.end;
    }
  }

  Span times(const JsonNode& node, const JsonPlace& place) {
    Span span;
    if (const JsonNode* offsets = node.find("offsets")) {
      span.start = json_time(offsets->find("from"), 1e-3, source_, place, "offsets.from");
      span.end = json_time(offsets->find("to"), 1e-3, source_, place, "offsets.to");
    } else if (const JsonNode* clocks = node.find("timestamps")) {
      span.start = clock(clocks->find("from"), place, "timestamps.from");
      span.end = clock(clocks->find("to"), place, "timestamps.to");
    }
    odd_times_.check(span.start, span.end, place);
    return span;
  }

  std::optional<double> clock(const JsonNode* node, const JsonPlace& place,
                              std::string_view member) const {
    if (node == nullptr || node->kind == JsonNode::Kind::kNull) return std::nullopt;
    const std::optional<double> seconds =
        node->kind == JsonNode::Kind::kString ? clock_time(node->text) : std::nullopt;
    if (!seconds)
      base::fail(ErrorCode::kBadFile, "{}: {} must be a time like \"00:01:02,345\"", source_,
                 place.text(member));
    return seconds;
  }

  std::string text(const JsonNode& node, const JsonPlace& place) const {
    const JsonNode* text = node.find("text");
    if (text == nullptr || text->kind == JsonNode::Kind::kNull) return {};
    if (text->kind != JsonNode::Kind::kString)
      base::fail(ErrorCode::kBadFile, "{}: {} must be text", source_, place.text("text"));
    return text->text;
  }

  const std::string& source_;
  Transcript& transcript_;
  TranscriptDocument& document_;
  OddTimes odd_times_;
};

// Times of a piece, in the members that the original has.
void set_times(JsonNode& node, std::string_view edge, double seconds) {
  if (JsonNode* offsets = node.find("offsets"))
    offsets->set(edge,
                 {JsonNode::Kind::kNumber, std::to_string(rounded_milliseconds(seconds)), {}});
  if (JsonNode* clocks = node.find("timestamps"))
    clocks->set(edge, JsonNode::string(subtitle_clock(seconds, ',')));
}

}  // namespace

void read_whisper_cpp(const JsonNode& list, const std::string& source, Transcript& transcript,
                      TranscriptDocument& document) {
  WhisperCppReader reader(source, transcript, document);
  for (std::size_t i = 0; i < list.members.size(); ++i) reader.add(list.members[i].value, i);
  reader.finish();
}

JsonNode labelled_whisper_cpp_segment(const JsonNode& original,
                                      const std::vector<std::size_t>& word_tokens,
                                      const TranscriptSegment& segment) {
  const std::size_t first = segment.first_word;
  const std::size_t end = first + segment.words.size();
  const JsonNode* tokens = segment.words.empty() ? nullptr : original.find("tokens");
  JsonNode node = JsonNode::object();
  node.members.reserve(original.members.size() + 1);
  for (const JsonMember& member : original.members) {
    if (&member.value != tokens) {
      node.members.push_back(member);
      continue;
    }
    // Marks of the model before the first word go with it, others with the word before them.
    const std::size_t count = tokens->members.size();
    JsonNode list = JsonNode::array();
    std::size_t word = first;
    for (std::size_t t = first == 0 ? 0 : word_tokens[first];
         t < (end < word_tokens.size() ? word_tokens[end] : count); ++t) {
      while (word + 1 < end && t >= word_tokens[word + 1]) ++word;
      JsonNode token = tokens->members[t].value;
      const JsonNode* text = token.find("text");
      const std::string& speaker = segment.words[word - first].speaker;
      if (text != nullptr && !is_special(text->text) && !speaker.empty())
        token.set("speaker", JsonNode::string(speaker));
      list.members.push_back({{}, std::move(token)});
    }
    node.members.push_back({member.key, std::move(list)});
  }
  if (tokens != nullptr && segment.words.size() < word_tokens.size()) {
    node.set("text", JsonNode::string(segment.text));
    if (first > 0 && segment.start) set_times(node, "from", *segment.start);
    if (end < word_tokens.size() && segment.end) set_times(node, "to", *segment.end);
  }
  if (!segment.speaker.empty()) node.set("speaker", JsonNode::string(segment.speaker));
  return node;
}

}  // namespace diarist::output
