#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "base/byte_reader.hpp"
#include "base/zip.hpp"
#include "model/checkpoint.hpp"
#include "model/checkpoint_numbers.hpp"
#include "model/pickle.hpp"

namespace diarist::model {
namespace {

using base::fail;
using detail::NumberType;
using detail::Pickle;
using detail::PickleValue;
using Kind = PickleValue::Kind;

constexpr std::uint64_t kLargestEntry = std::uint64_t{4} << 30;
constexpr std::uint64_t kLargestPickle = std::uint64_t{32} << 20;

struct StoredType {
  std::string_view storage, dtype;  // torch.FloatStorage, torch.float32
  NumberType type;
  std::uint64_t bytes;  // per element
};

constexpr std::array<StoredType, 10> kStoredTypes = {{
    {"FloatStorage", "float32", NumberType::kF32, 4},
    {"DoubleStorage", "float64", NumberType::kF64, 8},
    {"HalfStorage", "float16", NumberType::kF16, 2},
    {"BFloat16Storage", "bfloat16", NumberType::kBf16, 2},
    {"LongStorage", "int64", NumberType::kInteger, 8},
    {"IntStorage", "int32", NumberType::kInteger, 4},
    {"ShortStorage", "int16", NumberType::kInteger, 2},
    {"CharStorage", "int8", NumberType::kInteger, 1},
    {"ByteStorage", "uint8", NumberType::kInteger, 1},
    {"BoolStorage", "bool", NumberType::kInteger, 1},
}};

// "torch FloatStorage", "torch.cuda FloatStorage", "torch float32"
const StoredType* stored_type(std::string_view global) {
  if (!global.starts_with("torch")) return nullptr;
  const std::string_view name = global.substr(global.rfind(' ') + 1);
  for (const StoredType& type : kStoredTypes)
    if (type.storage == name || type.dtype == name) return &type;
  return nullptr;
}

// "folder/" of the one entry "folder/data.pkl".
std::string find_folder(const base::ZipReader& zip, const std::string& source) {
  constexpr std::string_view kName = "data.pkl";
  const base::ZipEntry* found = nullptr;
  bool twice = false;
  const auto depth = [](const std::string& name) {
    return std::count(name.begin(), name.end(), '/');
  };
  for (const base::ZipEntry& entry : zip.entries()) {
    if (entry.name != kName && !entry.name.ends_with("/data.pkl")) continue;
    const bool nearer = found == nullptr || depth(entry.name) < depth(found->name);
    twice = !nearer && (twice || depth(entry.name) == depth(found->name));
    if (nearer) found = &entry;
  }
  if (found == nullptr || twice) {
    fail(ErrorCode::kBadFile, "{}: not a torch archive ({} data.pkl inside)", source,
         twice ? "several" : "no");
  }
  return found->name.substr(0, found->name.size() - kName.size());
}

class Archive {
 public:
  Archive(std::span<const std::byte> bytes, const std::string& source)
      : source_(source), zip_(bytes, source, kLargestEntry), folder_(find_folder(zip_, source)) {
    if (zip_.find(folder_ + "constants.pkl") != nullptr) {
      fail(ErrorCode::kBadFile,
           "{}: is a TorchScript program, not a file of weights; save the model's state_dict with "
           "torch.save, or give the file it was made from",
           source_);
    }
    if (const auto* order = zip_.find(folder_ + "byteorder"); order != nullptr) {
      if (order->size > 16 || base::as_text(zip_.read(*order)) != "little") {
        fail(ErrorCode::kBadFile,
             "{}: was saved on a big-endian machine; load and save it on a little-endian one",
             source_);
      }
    }
    for (const base::ZipEntry& entry : zip_.entries())
      most_numbers_ += std::min(entry.size, kLargestEntry);
    const base::ZipEntry& pickled = *zip_.find(folder_ + "data.pkl");
    if (pickled.size > kLargestPickle)
      fail(ErrorCode::kBadFile, "{}: data.pkl is too large ({} bytes)", source_, pickled.size);
    pickle_ = detail::parse_pickle(zip_.read(pickled), source_);
  }

  Checkpoint tensors() {
    std::uint32_t root = pickle_.root;
    if (const auto inner = pickle_.find(root, "state_dict"); inner != Pickle::kMissing)
      root = inner;
    const PickleValue& dictionary = pickle_.values[root];
    if (dictionary.kind != Kind::kDict && dictionary.kind != Kind::kObject) {
      fail(ErrorCode::kBadFile, "{}: holds no dictionary of tensors; save the model's state_dict",
           source_);
    }
    Checkpoint checkpoint;
    for (std::size_t i = dictionary.items.size(); i >= 2;
         i -= 2) {  // the last of equal keys counts
      const PickleValue& key = pickle_.values[dictionary.items[i - 2]];
      const PickleValue& value = pickle_.values[dictionary.items[i - 1]];
      if (key.kind != Kind::kText || value.kind != Kind::kTensor || checkpoint.contains(key.text))
        continue;
      if (auto tensor = read_tensor(key.text, value))
        checkpoint.emplace(key.text, std::move(*tensor));
    }
    if (checkpoint.empty()) {
      fail(ErrorCode::kBadFile, "{}: holds no tensors by name; save the model's state_dict",
           source_);
    }
    return checkpoint;
  }

 private:
  // CRC-checked bytes of a storage; several tensors may look into one.
  const std::vector<std::byte>& storage_bytes(const std::string& key, const std::string& tensor) {
    if (const auto known = storages_.find(key); known != storages_.end()) return known->second;
    const base::ZipEntry* entry = zip_.find(folder_ + "data/" + key);
    if (entry == nullptr)
      fail(ErrorCode::kBadFile, "{}: the data of tensor {} is missing", source_, tensor);
    return storages_.emplace(key, zip_.read(*entry)).first->second;
  }

  std::optional<base::TensorF> read_tensor(const std::string& name, const PickleValue& value) {
    const PickleValue& storage = pickle_.values[value.items[0]];
    const PickleValue& kind =
        pickle_.values[value.items.size() > 1 ? value.items[1] : storage.items[0]];
    const StoredType* type = kind.kind == Kind::kGlobal ? stored_type(kind.text) : nullptr;
    if (type == nullptr) {
      fail(ErrorCode::kBadFile, "{}: tensor {} has type '{}'; save it as float32", source_, name,
           kind.text);
    }
    if (type->type == NumberType::kInteger) return std::nullopt;
    const std::uint64_t count = detail::checked_count(value.shape, source_, name);
    total_ += count;
    const auto& bytes = storage_bytes(pickle_.values[storage.items[1]].text, name);
    const std::uint64_t available = bytes.size() / type->bytes;
    // An expanded tensor (stride 0) can be larger than its storage, and many tensors can share one:
    // few bytes would ask for much memory. Weights are never expanded and seldom shared.
    if (count > available || total_ > most_numbers_ || !reaches_inside(value, available)) {
      fail(ErrorCode::kBadFile, "{}: tensor {} reaches beyond its data ({} numbers)", source_, name,
           available);
    }
    return base::TensorF(value.shape, gather(value, count, bytes, *type));
  }

  static bool reaches_inside(const PickleValue& value, std::uint64_t available) {
    if (value.number < 0) return false;
    auto last = static_cast<std::uint64_t>(value.number);
    for (std::size_t d = 0; d < value.shape.size(); ++d) {
      if (value.shape[d] == 0) return true;
      if (value.stride[d] < 0 || last >= available) return false;
      const auto steps = static_cast<std::uint64_t>(value.shape[d] - 1);
      const auto stride = static_cast<std::uint64_t>(value.stride[d]);
      if (steps != 0 && stride > (available - last) / steps) return false;
      last += steps * stride;
    }
    return last < available;
  }

  static std::vector<float> gather(const PickleValue& value, std::uint64_t count,
                                   std::span<const std::byte> bytes, const StoredType& type) {
    if (count == 0) return {};
    const std::size_t rank = value.shape.size();
    std::int64_t expected = 1;
    bool contiguous = true;
    for (std::size_t d = rank; d-- > 0;) {
      contiguous = contiguous && (value.shape[d] == 1 || value.stride[d] == expected);
      expected *= value.shape[d];
    }
    const auto offset = static_cast<std::size_t>(value.number);
    if (contiguous)
      return detail::to_floats(bytes.subspan(offset * type.bytes, count * type.bytes), type.type);
    std::vector<std::byte> packed(count * type.bytes);
    std::vector<std::int64_t> index(rank, 0), stride = value.stride;
    for (std::size_t d = 0; d < rank; ++d)
      if (value.shape[d] == 1) stride[d] = 0;  // never used, so it may be any number
    std::int64_t from = value.number;
    for (std::size_t to = 0; to < packed.size(); to += type.bytes) {
      std::copy_n(bytes.begin() + from * static_cast<std::int64_t>(type.bytes), type.bytes,
                  packed.begin() + static_cast<std::ptrdiff_t>(to));
      for (std::size_t d = rank; d-- > 0;) {  // count upwards, last index first
        from += stride[d];
        if (++index[d] < value.shape[d]) break;
        from -= stride[d] * value.shape[d];
        index[d] = 0;
      }
    }
    return detail::to_floats(packed, type.type);
  }

  const std::string& source_;
  base::ZipReader zip_;
  std::string folder_;
  Pickle pickle_;
  std::map<std::string, std::vector<std::byte>> storages_;
  std::uint64_t total_ = 0, most_numbers_ = 0;
};

}  // namespace

Checkpoint parse_torch(std::span<const std::byte> bytes, const std::string& source) {
  return Archive(bytes, source).tensors();
}

}  // namespace diarist::model
