#pragma once
// JSON as it was written: members in their order, numbers digit by digit. Transcripts go through
// this tree, so that what labelling does not touch stays as it is.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace diarist::output {

struct JsonMember;

/// A value of a JSON text.
struct JsonNode {
  enum class Kind { kNull, kBoolean, kNumber, kString, kArray, kObject };
  Kind kind = Kind::kNull;
  /// Strings: the content. Numbers and booleans: the characters of the source, which may be NaN or
  /// Infinity as Python writes them.
  std::string text;
  std::vector<JsonMember> members;  // of arrays with empty keys

  /// Member of an object; null when this is none or has no such key. Of equal keys the last counts.
  const JsonNode* find(std::string_view key) const;
  JsonNode* find(std::string_view key);
  /// Replaces a member of an object, or adds it at the end.
  void set(std::string_view key, JsonNode value);

  static JsonNode number(double value);
  static JsonNode string(std::string value);
  static JsonNode array();
  static JsonNode object();
};

struct JsonMember {
  std::string key;
  JsonNode value;
};

/// How a JSON text is laid out.
struct JsonLayout {
  bool lines = false;         // a line per item
  std::string indent;         // of one level, where there are lines
  bool blank_item = true;     // ", " and not ","
  bool blank_colon = true;    // ": " and not ":"
  bool escape_ascii = false;  // characters beyond ASCII are escaped
};

struct JsonText {
  JsonNode root;
  JsonLayout layout;
  std::vector<std::string> warnings;
};

/// Parses a JSON text. Bytes that are not UTF-8 (whisper.cpp cuts characters between tokens), bare
/// NaN and Infinity (Python) and control characters inside strings are accepted with a warning.
/// \throws Error kBadFile with line and column.
JsonText parse_json_text(std::string_view text, const std::string& source);

/// Writes a tree; bytes that are not UTF-8 become U+FFFD. No line end follows.
std::string json_text(const JsonNode& root, const JsonLayout& layout);

}  // namespace diarist::output
