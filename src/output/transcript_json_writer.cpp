#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

#include "base/error.hpp"
#include "output/number_text.hpp"
#include "output/transcript_cues.hpp"
#include "output/transcript_document.hpp"

namespace diarist::output {
namespace {

// Number of a time that labelling computed: whole milliseconds.
JsonNode time_node(double seconds) {
  return JsonNode::number(static_cast<double>(rounded_milliseconds(seconds)) / 1000.0);
}

// The node of a word's time if it says just this, so that its digits stay; else a new number.
JsonNode edge_node(const JsonNode& word, std::string_view member, std::size_t position,
                   double seconds) {
  const JsonNode* node =
      word.kind == JsonNode::Kind::kArray ? &word.members[position].value : word.find(member);
  if (node != nullptr && node->kind == JsonNode::Kind::kNumber) {
    double value = 0;
    const char* end = node->text.data() + node->text.size();
    const auto result = std::from_chars(node->text.data(), end, value);
    if (result.ec == std::errc() && result.ptr == end && value == seconds) return *node;
  }
  return time_node(seconds);
}

std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// Cuts WhisperX's lists of characters (--return_char_alignments) where the texts are cut. Pieces of
// one segment come in order, so that every list is walked over once.
class CharacterCut {
 public:
  /// The list of `original` that belongs to a piece; null where it does not spell the text.
  std::optional<JsonNode> next(const JsonNode& original, const JsonNode& list,
                               std::string_view piece) {
    if (list_ != &list) begin(original, list);
    const std::size_t at = spelled_ ? text_.find(piece, byte_) : std::string_view::npos;
    if (at == std::string_view::npos) return std::nullopt;
    const std::size_t first = item_ + character_count(text_.substr(byte_, at - byte_));
    item_ = first + character_count(piece);
    byte_ = at + piece.size();
    return sublist(list, first, item_);
  }

  static JsonNode sublist(const JsonNode& list, std::size_t from, std::size_t to) {
    JsonNode part = JsonNode::array();
    part.members.assign(list.members.begin() + static_cast<std::ptrdiff_t>(from),
                        list.members.begin() + static_cast<std::ptrdiff_t>(to));
    return part;
  }

 private:
  void begin(const JsonNode& original, const JsonNode& list) {
    list_ = &list;
    const JsonNode* text = original.find("text");
    text_ = text != nullptr ? std::string_view(text->text) : std::string_view();
    spelled_ = list.kind == JsonNode::Kind::kArray && !text_.empty() &&
               character_count(text_) == list.members.size();
    byte_ = 0;
    item_ = 0;
  }

  const JsonNode* list_ = nullptr;
  std::string_view text_;
  bool spelled_ = false;
  std::size_t byte_ = 0;
  std::size_t item_ = 0;
};

[[noreturn]] void misfit(std::size_t index) {
  base::fail(ErrorCode::kInvalidArgument,
             "segment {} of the transcript does not fit the document it was read from; write it in "
             "another format, or without the document",
             index);
}

std::size_t word_count(const JsonNode& segment) {
  const JsonNode* words = segment.find("words");
  return words != nullptr && words->kind == JsonNode::Kind::kArray ? words->members.size() : 0;
}

void label_words(JsonNode& list, const std::vector<TranscriptWord>& words) {
  for (std::size_t i = 0; i < std::min(words.size(), list.members.size()); ++i) {
    JsonNode& node = list.members[i].value;
    if (node.kind == JsonNode::Kind::kObject && !words[i].speaker.empty())
      node.set("speaker", JsonNode::string(words[i].speaker));
  }
}

JsonNode plain_segment(const TranscriptSegment& segment, std::size_t id) {
  JsonNode node = JsonNode::object();
  const auto set_times = [](JsonNode& target, std::optional<double> start,
                            std::optional<double> end) {
    if (start) target.set("start", time_node(*start));
    if (end) target.set("end", time_node(*end));
  };
  node.set("id", {JsonNode::Kind::kNumber, std::to_string(id), {}});
  set_times(node, segment.start, segment.end);
  node.set("text", JsonNode::string(std::string(without_blanks(segment.text))));
  if (!segment.words.empty()) {
    JsonNode words = JsonNode::array();
    for (const TranscriptWord& word : segment.words) {
      JsonNode item = JsonNode::object();
      item.set("word", JsonNode::string(word.text));
      set_times(item, word.start, word.end);
      if (!word.speaker.empty()) item.set("speaker", JsonNode::string(word.speaker));
      words.members.push_back({{}, std::move(item)});
    }
    node.set("words", std::move(words));
  }
  if (!segment.speaker.empty()) node.set("speaker", JsonNode::string(segment.speaker));
  return node;
}

// The segment of a document with speakers; of a piece, only its own words.
JsonNode labelled_segment(const JsonNode& original, const TranscriptSegment& segment,
                          CharacterCut& characters) {
  const std::size_t first = segment.first_word;
  const std::size_t end = first + segment.words.size();
  const JsonNode* words = original.find("words");
  const JsonNode* chars = original.find("chars");
  const bool cut = !segment.words.empty() && segment.words.size() < words->members.size();
  JsonNode node = JsonNode::object();
  node.members.reserve(original.members.size() + 1);
  for (const JsonMember& member : original.members) {
    if (&member.value == words && !segment.words.empty()) {
      JsonNode list = CharacterCut::sublist(*words, first, end);
      label_words(list, segment.words);
      node.members.push_back({member.key, std::move(list)});
    } else if (&member.value == chars && cut) {
      std::optional<JsonNode> list = characters.next(original, *chars, segment.text);
      node.members.push_back({member.key, list ? *std::move(list) : member.value});
    } else {
      node.members.push_back(member);
    }
  }
  if (cut) {
    node.set("text", JsonNode::string(segment.text));
    if (first > 0 && segment.start)
      node.set("start", edge_node(words->members[first].value, "start", 0, *segment.start));
    if (end < words->members.size() && segment.end)
      node.set("end", edge_node(words->members[end - 1].value, "end", 1, *segment.end));
  }
  if (!segment.speaker.empty()) node.set("speaker", JsonNode::string(segment.speaker));
  return node;
}

}  // namespace

std::string json_transcript_text(const Transcript& transcript) {
  const TranscriptDocument& document = *transcript.document;
  const JsonNode& originals = segment_list(document);
  JsonNode list = JsonNode::array();
  list.members.reserve(transcript.segments.size());
  CharacterCut characters;
  for (std::size_t i = 0; i < transcript.segments.size(); ++i) {
    const TranscriptSegment& segment = transcript.segments[i];
    if (segment.origin >= originals.members.size()) misfit(i);
    const JsonNode& original = originals.members[segment.origin].value;
    const std::size_t words =
        document.whisper_cpp ? document.word_tokens[segment.origin].size() : word_count(original);
    if (segment.first_word > words || segment.words.size() > words - segment.first_word) misfit(i);
    list.members.push_back(
        {{},
         document.whisper_cpp
             ? labelled_whisper_cpp_segment(original, document.word_tokens[segment.origin], segment)
             : labelled_segment(original, segment, characters)});
  }
  const auto finish = [&](const JsonNode& root) {
    return json_text(root, document.json.layout) + "\n";
  };
  if (document.list_key.empty()) return finish(list);
  const JsonNode* loose =
      document.loose_key.empty() ? nullptr : document.json.root.find(document.loose_key);
  JsonNode root = JsonNode::object();
  std::size_t place = 0;
  for (const JsonMember& member : document.json.root.members) {
    if (&member.value == &originals) {
      place = root.members.size();
      root.members.push_back({member.key, {}});
      continue;
    }
    root.members.push_back(member);
    if (&member.value == loose) label_words(root.members.back().value, transcript.loose_words);
  }
  root.members[place].value = std::move(list);
  return finish(root);
}

std::string plain_json_transcript_text(const Transcript& transcript) {
  JsonNode list = JsonNode::array();
  for (std::size_t i = 0; i < transcript.segments.size(); ++i)
    list.members.push_back({{}, plain_segment(transcript.segments[i], i)});
  JsonNode root = JsonNode::object();
  root.set("segments", std::move(list));
  return json_text(root, {.lines = true, .indent = "  "}) + "\n";
}

}  // namespace diarist::output
