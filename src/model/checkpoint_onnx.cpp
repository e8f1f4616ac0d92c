// The few messages of ONNX's protobuf schema that carry tensors. Field numbers are the schema's.

#include <cstdint>
#include <optional>
#include <utility>

#include "base/byte_reader.hpp"
#include "model/checkpoint.hpp"
#include "model/checkpoint_numbers.hpp"

namespace diarist::model {
namespace {

using base::fail;
using detail::NumberType;
using Bytes = std::span<const std::byte>;

constexpr std::uint64_t kModelGraph = 7;
constexpr std::uint64_t kGraphNode = 1, kGraphInitializer = 5;
constexpr std::uint64_t kNodeOutput = 2, kNodeOperation = 4, kNodeAttribute = 5;
constexpr std::uint64_t kAttributeName = 1, kAttributeTensor = 5;

// One field of a message: a number, or the bytes of a text, packed list or inner message.
struct Field {
  std::uint64_t id = 0;
  std::uint64_t number = 0;  // wire types 0, 1 and 5
  Bytes bytes;               // wire type 2
  int wire = 0;
};

class Message {
 public:
  Message(Bytes bytes, const std::string& source) : reader_(bytes, source) {}

  /// The next field, or nothing at the end.
  std::optional<Field> next() {
    if (reader_.at_end()) return std::nullopt;
    const std::uint64_t tag = varint();
    Field field;
    field.id = tag >> 3;
    field.wire = static_cast<int>(tag & 7);
    if (field.id == 0 || field.id >= (std::uint64_t{1} << 29)) damaged();
    switch (field.wire) {
      case 0:
        field.number = varint();
        break;
      case 1:
        field.number = reader_.le<std::uint64_t>("ONNX number");
        break;
      case 2:
        field.bytes = reader_.take(varint(), "ONNX message");
        break;
      case 5:
        field.number = reader_.le<std::uint32_t>("ONNX number");
        break;
      default:
        damaged();
    }
    return field;
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = reader_.le<std::uint8_t>("ONNX number");
      if (shift == 63 && byte > 1) damaged();
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    damaged();
  }

  bool at_end() const { return reader_.at_end(); }

  [[noreturn]] void damaged() const {
    fail(ErrorCode::kBadFile, "{}: not an ONNX file, or damaged at byte {} of a message",
         reader_.source(), reader_.position());
  }

 private:
  base::ByteReader reader_;
};

Bytes need_bytes(const Field& field, const Message& message) {
  if (field.wire != 2) message.damaged();
  return field.bytes;
}

// A repeated number comes alone or as a packed list; both may be mixed.
template <typename Take>
void each_varint(const Field& field, const std::string& source, const Message& message, Take take) {
  if (field.wire == 0) return take(field.number);
  Message packed(need_bytes(field, message), source);
  while (!packed.at_end()) take(packed.varint());
}

// The same for 4-byte and 8-byte numbers, whose bytes are collected as they lie.
void append_fixed(const Field& field, int wire, std::size_t width, const Message& message,
                  std::vector<std::byte>& out) {
  if (field.wire == wire) {
    const auto bytes = std::as_bytes(std::span(&field.number, 1)).first(width);
    out.insert(out.end(), bytes.begin(), bytes.end());
    return;
  }
  const Bytes bytes = need_bytes(field, message);
  if (bytes.size() % width != 0) message.damaged();
  out.insert(out.end(), bytes.begin(), bytes.end());
}

struct OnnxTensor {
  std::string name;
  base::Shape shape;
  std::uint64_t type = 0;
  std::optional<Bytes> raw;
  std::vector<std::byte> floats, doubles, halves;
  bool external = false, segment = false;
};

OnnxTensor read_tensor(Bytes bytes, const std::string& source) {
  OnnxTensor tensor;
  Message message(bytes, source);
  while (const auto field = message.next()) {
    switch (field->id) {
      case 1:
        each_varint(*field, source, message, [&](std::uint64_t dim) {
          tensor.shape.push_back(static_cast<std::int64_t>(dim));
        });
        break;
      case 2:
        tensor.type = field->number;
        break;
      case 3:
        tensor.segment = true;
        break;
      case 4:
        append_fixed(*field, 5, 4, message, tensor.floats);
        break;
      case 5:  // 16-bit floats lie here as bit patterns
        each_varint(*field, source, message, [&](std::uint64_t value) {
          tensor.halves.push_back(static_cast<std::byte>(value));
          tensor.halves.push_back(static_cast<std::byte>(value >> 8));
        });
        break;
      case 8:
        tensor.name = base::as_text(need_bytes(*field, message));
        break;
      case 9:
        tensor.raw = need_bytes(*field, message);
        break;
      case 10:
        append_fixed(*field, 1, 8, message, tensor.doubles);
        break;
      case 13:
        tensor.external = true;
        break;
      case 14:
        tensor.external = tensor.external || field->number == 1;
        break;
      default:
        break;  // notes and integer data
    }
  }
  return tensor;
}

std::optional<NumberType> number_type(std::uint64_t type) {
  switch (type) {
    case 1:
      return NumberType::kF32;
    case 10:
      return NumberType::kF16;
    case 11:
      return NumberType::kF64;
    case 16:
      return NumberType::kBf16;
    case 2:  // 8-bit to 64-bit integers, truth values, texts, 4-bit integers
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
    case 12:
    case 13:
    case 21:
    case 22:
      return NumberType::kInteger;
    default:
      return std::nullopt;
  }
}

void add_tensor(OnnxTensor tensor, const std::string& source, Checkpoint& checkpoint) {
  const auto type = number_type(tensor.type);
  if (!type) {
    fail(ErrorCode::kBadFile, "{}: tensor {} has data type {}; export the model in float32", source,
         tensor.name, tensor.type);
  }
  if (*type == NumberType::kInteger) return;
  if (tensor.external) {
    fail(ErrorCode::kBadFile,
         "{}: tensor {} lies in a separate file; save the model with its data inside", source,
         tensor.name);
  }
  if (tensor.segment)
    fail(ErrorCode::kBadFile, "{}: tensor {} is split into segments", source, tensor.name);
  const Bytes data = tensor.raw                  ? *tensor.raw
                     : *type == NumberType::kF32 ? Bytes(tensor.floats)
                     : *type == NumberType::kF64 ? Bytes(tensor.doubles)
                                                 : Bytes(tensor.halves);
  auto value = detail::make_tensor(std::move(tensor.shape), data, *type, source, tensor.name);
  if (!checkpoint.emplace(tensor.name, std::move(value)).second)
    fail(ErrorCode::kBadFile, "{}: tensor {} appears twice", source, tensor.name);
}

// Exporters write folded values as Constant nodes; the tensor then has the name of the output.
void read_node(Bytes bytes, const std::string& source, Checkpoint& checkpoint) {
  std::string output;
  std::string_view operation;
  std::optional<Bytes> tensor;
  Message message(bytes, source);
  while (const auto field = message.next()) {
    if (field->id == kNodeOutput && output.empty())
      output = base::as_text(need_bytes(*field, message));
    if (field->id == kNodeOperation) operation = base::as_text(need_bytes(*field, message));
    if (field->id != kNodeAttribute) continue;
    std::string_view name;
    std::optional<Bytes> value;
    Message attribute(need_bytes(*field, message), source);
    while (const auto part = attribute.next()) {
      if (part->id == kAttributeName) name = base::as_text(need_bytes(*part, attribute));
      if (part->id == kAttributeTensor) value = need_bytes(*part, attribute);
    }
    if (name == "value" && value) tensor = value;
  }
  if (operation != "Constant" || !tensor) return;
  OnnxTensor constant = read_tensor(*tensor, source);
  constant.name = output;
  add_tensor(std::move(constant), source, checkpoint);
}

}  // namespace

Checkpoint parse_onnx(std::span<const std::byte> bytes, const std::string& source) {
  Checkpoint checkpoint;
  bool found = false;
  Message model(bytes, source);
  while (const auto field = model.next()) {
    if (field->id != kModelGraph) continue;
    found = true;
    Message graph(need_bytes(*field, model), source);
    while (const auto part = graph.next()) {
      if (part->id == kGraphInitializer)
        add_tensor(read_tensor(need_bytes(*part, graph), source), source, checkpoint);
      if (part->id == kGraphNode) read_node(need_bytes(*part, graph), source, checkpoint);
    }
  }
  if (!found) fail(ErrorCode::kBadFile, "{}: not an ONNX file (it has no graph)", source);
  return checkpoint;
}

}  // namespace diarist::model
