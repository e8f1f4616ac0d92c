#include "output/transcript_json_tree.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "output/number_text.hpp"
#include "output/transcript_json_repair.hpp"

namespace diarist::output {
namespace {

using nlohmann::json;

// Deeper texts are no transcripts, and writing goes down level by level.
constexpr std::size_t kDeepest = 200;

// Builds the tree from nlohmann-json's events: these carry the digits of a number.
class Builder : public nlohmann::json_sax<json> {
 public:
  Builder(const std::string& source, bool repaired) : source_(source), repaired_(repaired) {}

  JsonNode take() { return std::move(root_); }

  bool null() override { return add({}); }
  bool boolean(bool value) override {
    return add({JsonNode::Kind::kBoolean, value ? "true" : "false", {}});
  }
  bool number_integer(number_integer_t value) override {
    return add({JsonNode::Kind::kNumber, std::to_string(value), {}});
  }
  bool number_unsigned(number_unsigned_t value) override {
    return add({JsonNode::Kind::kNumber, std::to_string(value), {}});
  }
  bool number_float(number_float_t /*value*/, const string_t& digits) override {
    std::string text = digits;
    std::replace(text.begin(), text.end(), ',', '.');  // the parser's own, in some locales
    return add({JsonNode::Kind::kNumber, std::move(text), {}});
  }
  bool string(string_t& value) override {
    if (!repaired_) return add(JsonNode::string(std::move(value)));
    const std::string_view bare = bare_number(value);
    if (!bare.empty()) return add({JsonNode::Kind::kNumber, std::string(bare), {}});
    return add(JsonNode::string(restored(std::move(value))));
  }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(JsonNode::object()); }
  bool start_array(std::size_t /*size*/) override { return open(JsonNode::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& value) override {
    key_ = repaired_ ? restored(std::move(value)) : std::move(value);
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const json::exception& error) override {
    std::string what = error.what();
    const std::size_t name = what.find("] ");
    if (name != std::string::npos) what.erase(0, name + 2);
    for (char& c : what) {
      if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F) c = '?';
    }
    if (what.size() > 240) what.replace(160, what.size() - 240, "...");
    base::fail(ErrorCode::kBadFile, "{}: is no valid JSON ({}); write it again", source_, what);
  }

 private:
  bool add(JsonNode node) {
    place(std::move(node));
    return true;
  }

  bool open(JsonNode node) {
    if (open_.size() >= kDeepest)
      base::fail(ErrorCode::kBadFile, "{}: is nested more than {} levels deep: no transcript",
                 source_, kDeepest);
    open_.push_back(&place(std::move(node)));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  // Pointers in open_ stay valid: a parent grows only after its children are closed.
  JsonNode& place(JsonNode node) {
    if (open_.empty()) return root_ = std::move(node);
    std::vector<JsonMember>& members = open_.back()->members;
    members.push_back({std::exchange(key_, {}), std::move(node)});
    return members.back().value;
  }

  const std::string& source_;
  bool repaired_;
  JsonNode root_;
  std::vector<JsonNode*> open_;
  std::string key_;
};

// The layout of a text, from its first items.
JsonLayout layout_of(std::string_view text) {
  JsonLayout layout;
  layout.escape_ascii =
      std::none_of(text.begin(), text.end(), [](char c) { return (c & 0x80) != 0; });
  const std::size_t first = std::min(text.find_first_of("{["), text.size());
  const std::size_t item = text.find_first_not_of(" \t\r\n", std::min(first + 1, text.size()));
  const std::size_t line = text.substr(0, std::min(item, text.size())).find_last_of('\n');
  if (item != std::string_view::npos && line != std::string_view::npos && line > first) {
    layout.lines = true;
    layout.indent = std::string(text.substr(line + 1, item - line - 1));
  }
  bool in_string = false;
  bool colon = false;
  bool comma = false;
  for (std::size_t i = first; i + 1 < text.size() && !(colon && comma); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && c == ':' && !colon) {
      colon = true;
      layout.blank_colon = text[i + 1] == ' ';
    } else if (!in_string && c == ',' && !comma) {
      comma = true;
      layout.blank_item = text[i + 1] == ' ';
    }
  }
  return layout;
}

class Writer {
 public:
  explicit Writer(const JsonLayout& layout) : layout_(layout) {}

  void write(const JsonNode& node, std::size_t level) {
    switch (node.kind) {
      case JsonNode::Kind::kNull:
        text_ += "null";
        return;
      case JsonNode::Kind::kBoolean:
      case JsonNode::Kind::kNumber:
        text_ += node.text;
        return;
      case JsonNode::Kind::kString:
        write_string(node.text);
        return;
      case JsonNode::Kind::kArray:
        return write_members(node, level, '[', ']');
      case JsonNode::Kind::kObject:
        return write_members(node, level, '{', '}');
    }
  }

  std::string take() { return std::move(text_); }

 private:
  void write_members(const JsonNode& node, std::size_t level, char open, char close) {
    text_ += open;
    bool first = true;
    for (const JsonMember& member : node.members) {
      if (!first) text_ += ',';
      if (layout_.lines) {
        new_line(level + 1);
      } else if (!first && layout_.blank_item) {
        text_ += ' ';
      }
      first = false;
      if (node.kind == JsonNode::Kind::kObject) {
        write_string(member.key);
        text_ += layout_.blank_colon ? ": " : ":";
      }
      write(member.value, level + 1);
    }
    if (layout_.lines && !first) new_line(level);
    text_ += close;
  }

  void new_line(std::size_t level) {
    text_ += '\n';
    for (std::size_t i = 0; i < level; ++i) text_ += layout_.indent;
  }

  void write_string(const std::string& value) {
    text_ += json(value).dump(-1, ' ', layout_.escape_ascii, json::error_handler_t::replace);
  }

  const JsonLayout& layout_;
  std::string text_;
};

void warn(std::vector<std::string>& warnings, const std::string& source, std::size_t count,
          std::size_t line, const char* what) {
  if (count > 0)
    warnings.push_back(fmt::format("{}: {} {} (first near line {})", source, count, what, line));
}

}  // namespace

const JsonNode* JsonNode::find(std::string_view key) const {
  if (kind != Kind::kObject) return nullptr;
  const auto found = std::find_if(members.rbegin(), members.rend(),
                                  [&](const JsonMember& member) { return member.key == key; });
  return found == members.rend() ? nullptr : &found->value;
}

JsonNode* JsonNode::find(std::string_view key) {
  return const_cast<JsonNode*>(std::as_const(*this).find(key));
}

void JsonNode::set(std::string_view key, JsonNode value) {
  if (JsonNode* found = find(key)) {
    *found = std::move(value);
  } else {
    members.push_back({std::string(key), std::move(value)});
  }
}

JsonNode JsonNode::number(double value) { return {Kind::kNumber, json_number(value), {}}; }

JsonNode JsonNode::string(std::string value) { return {Kind::kString, std::move(value), {}}; }

JsonNode JsonNode::array() { return {Kind::kArray, {}, {}}; }

JsonNode JsonNode::object() { return {Kind::kObject, {}, {}}; }

JsonText parse_json_text(std::string_view text, const std::string& source) {
  JsonText result;
  const RepairedJson repaired = repaired_json(text);
  Builder builder(source, repaired.changed);
  const std::string_view parsed = repaired.changed ? std::string_view(repaired.text) : text;
  json::sax_parse(parsed.begin(), parsed.end(), &builder);
  result.root = builder.take();
  result.layout = layout_of(text);
  warn(result.warnings, source, repaired.broken_bytes, repaired.first_line,
       "bytes are no UTF-8; what stays broken is written as U+FFFD");
  warn(result.warnings, source, repaired.control_characters, repaired.first_line,
       "control characters inside strings; written as escapes");
  return result;
}

std::string json_text(const JsonNode& root, const JsonLayout& layout) {
  Writer writer(layout);
  writer.write(root, 0);
  return writer.take();
}

}  // namespace diarist::output
