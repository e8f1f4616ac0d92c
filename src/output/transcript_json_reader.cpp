// JSON with a list of segments: openai-whisper, faster-whisper, WhisperX, OpenAI's service.

#include "base/error.hpp"
#include "output/transcript_document.hpp"
#include "output/transcript_times.hpp"

namespace diarist::output {
namespace {

constexpr const char* kForms =
    "give JSON of whisper, faster-whisper or WhisperX (an object with \"segments\", or a list of "
    "segments), or of whisper.cpp (with \"transcription\")";

std::string text_of(const JsonNode* node, const std::string& source, const JsonPlace& place,
                    std::string_view member) {
  if (node == nullptr || node->kind == JsonNode::Kind::kNull) return {};
  if (node->kind != JsonNode::Kind::kString)
    base::fail(ErrorCode::kBadFile, "{}: {} must be text", source, place.text(member));
  return node->text;
}

class SegmentsReader {
 public:
  SegmentsReader(const std::string& source, Transcript& transcript)
      : source_(source), transcript_(transcript) {}

  void read_segments(const JsonNode& list, std::string_view name) {
    transcript_.segments.reserve(list.members.size());
    for (std::size_t i = 0; i < list.members.size(); ++i)
      transcript_.segments.push_back(segment(list.members[i].value, {name, i}));
  }

  void read_loose_words(const JsonNode& list, std::string_view name) {
    transcript_.loose_words.reserve(list.members.size());
    for (std::size_t i = 0; i < list.members.size(); ++i)
      transcript_.loose_words.push_back(word(list.members[i].value, {name, i}));
  }

  void finish() const { odd_times_.add_warnings(source_, transcript_.warnings); }

 private:
  TranscriptSegment segment(const JsonNode& node, JsonPlace place) {
    if (node.kind != JsonNode::Kind::kObject)
      base::fail(ErrorCode::kBadFile,
                 "{}: {} must be an object with start, end and text (dump faster-whisper's "
                 "segments with dataclasses.asdict)",
                 source_, place.text());
    TranscriptSegment segment;
    segment.origin = place.item;
    segment.start = json_time(node.find("start"), 1, source_, place, "start");
    segment.end = json_time(node.find("end"), 1, source_, place, "end");
    odd_times_.check(segment.start, segment.end, place);
    segment.text = text_of(node.find("text"), source_, place, "text");
    const JsonNode* words = node.find("words");
    if (words == nullptr || words->kind == JsonNode::Kind::kNull) return segment;
    if (words->kind != JsonNode::Kind::kArray)
      base::fail(ErrorCode::kBadFile, "{}: {} must be a list", source_, place.text("words"));
    segment.words.reserve(words->members.size());
    place.inner = "words";
    for (std::size_t i = 0; i < words->members.size(); ++i) {
      place.inner_item = i;
      segment.words.push_back(word(words->members[i].value, place));
    }
    return segment;
  }

  TranscriptWord word(const JsonNode& node, const JsonPlace& place) {
    const JsonNode* start = node.find("start");
    const JsonNode* end = node.find("end");
    const JsonNode* text = node.find("word");
    if (text == nullptr) text = node.find("text");
    // Older versions of faster-whisper have named tuples, which are lists in JSON.
    if (node.kind == JsonNode::Kind::kArray && node.members.size() >= 3) {
      start = &node.members[0].value;
      end = &node.members[1].value;
      text = &node.members[2].value;
    } else if (node.kind != JsonNode::Kind::kObject) {
      base::fail(ErrorCode::kBadFile, "{}: {} must be an object with word, start and end", source_,
                 place.text());
    }
    TranscriptWord word;
    word.start = json_time(start, 1, source_, place, "start");
    word.end = json_time(end, 1, source_, place, "end");
    odd_times_.check(word.start, word.end, place);
    word.text = text_of(text, source_, place, "word");
    return word;
  }

  const std::string& source_;
  Transcript& transcript_;
  OddTimes odd_times_;
};

const JsonNode* list_member(const JsonNode& root, std::string_view key) {
  const JsonNode* node = root.find(key);
  return node != nullptr && node->kind == JsonNode::Kind::kArray ? node : nullptr;
}

}  // namespace

const JsonNode& segment_list(const TranscriptDocument& document) {
  const JsonNode& root = document.json.root;
  return document.list_key.empty() ? root : *root.find(document.list_key);
}

void read_json_transcript(std::string_view text, const std::string& source, Transcript& transcript,
                          TranscriptDocument& document) {
  transcript.format = TranscriptFormat::kJson;
  document.json = parse_json_text(text, source);
  transcript.warnings = document.json.warnings;
  const JsonNode& root = document.json.root;
  if (const JsonNode* list = list_member(root, "transcription")) {
    document.whisper_cpp = true;
    document.list_key = "transcription";
    return read_whisper_cpp(*list, source, transcript, document);
  }
  const bool bare = root.kind == JsonNode::Kind::kArray;
  const JsonNode* list = bare ? &root : list_member(root, "segments");
  if (list == nullptr)
    base::fail(ErrorCode::kBadFile, "{}: has no list of segments; {}", source, kForms);
  if (!bare) document.list_key = "segments";
  SegmentsReader reader(source, transcript);
  reader.read_segments(*list, document.list_key);
  for (const char* key : {"word_segments", "words"}) {
    const JsonNode* loose = list_member(root, key);
    if (loose == nullptr) continue;
    document.loose_key = key;
    reader.read_loose_words(*loose, key);
    break;
  }
  reader.finish();
}

}  // namespace diarist::output
