#pragma once
// Small weight files built byte by byte, for tests and fuzz seeds. Written from the formats'
// descriptions, apart from the readers.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "unit/base/archives.hpp"

namespace diarist::test {

/// Little-endian bytes of numbers.
template <typename T>
std::string raw(const std::vector<T>& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline std::string make_safetensors(const std::string& header, const std::string& data) {
  std::string out;
  put<std::uint64_t>(out, header.size());
  return out + header + data;
}

/// Opcodes of protocol 2, as torch.save writes them.
class PickleWriter {
 public:
  PickleWriter& op(std::string_view bytes) {
    out_ += bytes;
    return *this;
  }
  PickleWriter& text(std::string_view value) {
    out_ += 'X';
    put<std::uint32_t>(out_, static_cast<std::uint32_t>(value.size()));
    out_ += value;
    return *this;
  }
  PickleWriter& number(std::int32_t value) {
    out_ += 'J';
    put<std::uint32_t>(out_, static_cast<std::uint32_t>(value));
    return *this;
  }
  PickleWriter& numbers(const std::vector<std::int32_t>& values) {
    op("(");
    for (const std::int32_t value : values) number(value);
    return op("t");
  }
  PickleWriter& global(std::string_view module, std::string_view name) {
    return op("c").op(module).op("\n").op(name).op("\n");
  }
  /// The persistent id of a storage, e.g. storage("FloatStorage", "0", 6).
  PickleWriter& storage(std::string_view type, std::string_view key, std::int32_t length) {
    op("(").text("storage").global("torch", type).text(key).text("cpu").number(length);
    return op("tQ");
  }
  /// A call of torch._utils._rebuild_tensor_v2.
  PickleWriter& tensor(std::string_view type, std::string_view key, std::int32_t length,
                       std::int32_t offset, const std::vector<std::int32_t>& shape,
                       const std::vector<std::int32_t>& stride) {
    global("torch._utils", "_rebuild_tensor_v2").op("(").storage(type, key, length);
    number(offset).numbers(shape).numbers(stride).op("\x89");
    global("collections", "OrderedDict").op(")R");
    return op("tR");
  }
  std::string finish() const { return "\x80\x02" + out_ + "."; }

 private:
  std::string out_;
};

using Storages = std::vector<std::pair<std::string, std::string>>;

inline std::string make_torch(const std::string& pickle, const Storages& storages,
                              const std::string& folder = "archive", bool deflate = false) {
  std::vector<Packed> entries = {{folder + "/data.pkl", pickle, deflate}};
  for (const auto& [key, data] : storages)
    entries.push_back({folder + "/data/" + key, data, deflate});
  entries.push_back({folder + "/version", "3\n"});
  return make_zip(entries);
}

/// A state dict of every kind of number, as in a small real file.
inline std::string small_state_dict() {
  PickleWriter pickle;
  pickle.op("}q").op(std::string(1, '\0')).op("(");
  pickle.text("weight").tensor("FloatStorage", "0", 6, 0, {2, 3}, {3, 1});
  pickle.text("half").tensor("HalfStorage", "1", 2, 0, {2}, {1});
  pickle.text("steps").tensor("LongStorage", "2", 1, 0, {}, {});
  return pickle.op("u").finish();
}

inline Storages small_storages() {
  return {{"0", raw<float>({1, 2, 3, 4, 5, 6})},
          {"1", raw<std::uint16_t>({0x3c00, 0xc000})},
          {"2", raw<std::int64_t>({7})}};
}

// --- protobuf ---

inline std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  return out + static_cast<char>(value);
}

inline std::string field(int id, std::uint64_t number) {
  return varint(static_cast<std::uint64_t>(id) << 3) + varint(number);
}

inline std::string field(int id, const std::string& bytes) {
  return varint(static_cast<std::uint64_t>(id) << 3 | 2) + varint(bytes.size()) + bytes;
}

/// TensorProto with raw_data.
inline std::string onnx_tensor(const std::string& name, const std::vector<std::uint64_t>& dims,
                               std::uint64_t type, const std::string& data) {
  std::string out;
  for (const std::uint64_t dim : dims) out += field(1, dim);
  return out + field(2, type) + field(8, name) + field(9, data);
}

inline std::string make_onnx(const std::vector<std::string>& tensors,
                             const std::vector<std::string>& nodes = {}) {
  std::string graph;
  for (const std::string& node : nodes) graph += field(1, node);
  graph += field(2, std::string("graph"));
  for (const std::string& tensor : tensors) graph += field(5, tensor);
  return field(1, 8) + field(2, std::string("test")) + field(7, graph);
}

}  // namespace diarist::test
