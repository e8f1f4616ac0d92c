#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "base/byte_reader.hpp"
#include "model/checkpoint.hpp"
#include "model/checkpoint_numbers.hpp"

namespace diarist::model {
namespace {

using base::fail;
using detail::NumberType;
using nlohmann::json;

constexpr std::uint64_t kLargestHeader = 100'000'000;  // the format's own limit
constexpr int kDeepest = 4;

std::optional<std::pair<NumberType, std::size_t>> number_type(const std::string& name) {
  if (name == "F32") return {{NumberType::kF32, 4}};
  if (name == "F64") return {{NumberType::kF64, 8}};
  if (name == "F16") return {{NumberType::kF16, 2}};
  if (name == "BF16") return {{NumberType::kBf16, 2}};
  if (name == "I64" || name == "U64") return {{NumberType::kInteger, 8}};
  if (name == "I32" || name == "U32") return {{NumberType::kInteger, 4}};
  if (name == "I16" || name == "U16") return {{NumberType::kInteger, 2}};
  if (name == "I8" || name == "U8" || name == "BOOL") return {{NumberType::kInteger, 1}};
  return std::nullopt;
}

// nlohmann-json keeps the last of two equal keys; the format forbids them, since two readers could
// then see two different models in one file.
json parse_header(std::string_view text, const std::string& source) {
  std::set<std::string> names;
  std::string problem;
  const auto watch = [&](int depth, json::parse_event_t event, json& value) {
    if (depth > kDeepest) problem = "nested too deeply";
    if (event == json::parse_event_t::key && depth == 1 &&
        !names.insert(value.get<std::string>()).second)
      problem = "a tensor appears twice";
    return problem.empty();  // what isn't kept needs no memory
  };
  json header = json::parse(text, watch, /*allow_exceptions=*/false);
  if (!problem.empty())
    fail(ErrorCode::kBadFile, "{}: the safetensors header is wrong ({})", source, problem);
  if (header.is_discarded() || !header.is_object())
    fail(ErrorCode::kBadFile, "{}: the safetensors header is not valid JSON", source);
  return header;
}

std::int64_t natural(const json& value, const std::string& source, const std::string& name) {
  if (!value.is_number_unsigned() ||
      value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX))
    fail(ErrorCode::kBadFile, "{}: tensor {} has a shape or offset that is no count", source, name);
  return value.get<std::int64_t>();
}

struct Entry {
  std::string name;
  NumberType type;
  base::Shape shape;
  std::uint64_t begin, end;  // in the data part
};

Entry read_entry(const std::string& name, const json& value, const std::string& source) {
  const auto member = [&](const char* key, json::value_t type) -> const json& {
    const auto found = value.is_object() ? value.find(key) : value.end();
    if (found == value.end() || found->type() != type)
      fail(ErrorCode::kBadFile, "{}: tensor {} has no valid {}", source, name, key);
    return *found;
  };
  const auto dtype = member("dtype", json::value_t::string).get<std::string>();
  const auto type = number_type(dtype);
  if (!type) {
    fail(ErrorCode::kBadFile, "{}: tensor {} has type {}; save it as F32, F64, F16 or BF16", source,
         name, dtype);
  }
  Entry entry{name, type->first, {}, 0, 0};
  for (const json& dim : member("shape", json::value_t::array))
    entry.shape.push_back(natural(dim, source, name));
  const json& offsets = member("data_offsets", json::value_t::array);
  if (offsets.size() != 2)
    fail(ErrorCode::kBadFile, "{}: tensor {} has no valid data_offsets", source, name);
  entry.begin = static_cast<std::uint64_t>(natural(offsets[0], source, name));
  entry.end = static_cast<std::uint64_t>(natural(offsets[1], source, name));
  const std::uint64_t bytes = detail::checked_count(entry.shape, source, name) * type->second;
  if (entry.begin > entry.end || entry.end - entry.begin != bytes) {
    fail(ErrorCode::kBadFile, "{}: the data_offsets of tensor {} don't match its shape", source,
         name);
  }
  return entry;
}

}  // namespace

Checkpoint parse_safetensors(std::span<const std::byte> bytes, const std::string& source) {
  base::ByteReader reader(bytes, source);
  const auto length = reader.le<std::uint64_t>("header length");
  if (length > kLargestHeader)
    fail(ErrorCode::kBadFile, "{}: not a safetensors file (header too long)", source);
  const json header = parse_header(base::as_text(reader.take(length, "header")), source);
  const auto data = reader.take(reader.remaining(), "data");

  std::vector<Entry> entries;
  for (const auto& [name, value] : header.items())
    if (name != "__metadata__") entries.push_back(read_entry(name, value, source));
  // The tensors must fill the data part without gaps and overlaps, in any order.
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t filled = 0;
  for (const Entry& entry : entries) {
    if (entry.begin != filled || entry.end > data.size()) {
      fail(ErrorCode::kBadFile, "{}: the file is damaged or cut short (tensor {} at {}..{} of {})",
           source, entry.name, entry.begin, entry.end, data.size());
    }
    filled = entry.end;
  }
  if (filled != data.size())
    fail(ErrorCode::kBadFile, "{}: {} bytes belong to no tensor", source, data.size() - filled);

  Checkpoint checkpoint;
  for (Entry& entry : entries) {
    if (entry.type == NumberType::kInteger) continue;
    const auto part = data.subspan(static_cast<std::size_t>(entry.begin),
                                   static_cast<std::size_t>(entry.end - entry.begin));
    checkpoint.emplace(entry.name, detail::make_tensor(std::move(entry.shape), part, entry.type,
                                                       source, entry.name));
  }
  return checkpoint;
}

std::vector<std::byte> to_safetensors(const Checkpoint& tensors,
                                      const std::map<std::string, std::string>& metadata) {
  json header = json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    if (name == "__metadata__")
      fail(ErrorCode::kInvalidArgument, "safetensors: no tensor may be called {}", name);
    const std::uint64_t end = offset + tensor.values().size_bytes();
    header[name] = {{"dtype", "F32"}, {"shape", tensor.shape()}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const json::exception&) {
    fail(ErrorCode::kInvalidArgument, "safetensors: a name or note is not valid UTF-8");
  }
  text.append((8 - text.size() % 8) % 8, ' ');  // the data starts at a multiple of 8
  std::vector<std::byte> bytes(8 + text.size() + offset);
  std::byte* to = bytes.data();
  const auto append = [&](std::span<const std::byte> part) {
    to = std::copy(part.begin(), part.end(), to);
  };
  const std::uint64_t length = text.size();
  append(std::as_bytes(std::span(&length, 1)));
  append(std::as_bytes(std::span(text)));
  for (const auto& [name, tensor] : tensors) append(std::as_bytes(tensor.values()));
  return bytes;
}

}  // namespace diarist::model
