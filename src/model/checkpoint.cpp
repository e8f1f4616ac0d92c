#include "model/checkpoint.hpp"

#include <algorithm>
#include <string_view>

#include "base/byte_reader.hpp"
#include "base/file.hpp"
#include "base/npy.hpp"
#include "base/zip.hpp"

namespace diarist::model {
namespace {

using base::fail;

constexpr std::string_view kKnown =
    "safetensors, torch zip archives (.bin, .pt, .ckpt), ONNX and NumPy .npz";

Checkpoint parse_npz_tensors(std::span<const std::byte> bytes, const std::string& source) {
  Checkpoint checkpoint;
  for (const auto& [name, array] : base::parse_npz(bytes, source)) {
    if (array.descr.size() < 2 || array.descr[1] != 'f') continue;  // integers, truth values, texts
    checkpoint.emplace(name, base::TensorF(array.shape, array.as<float>(source + ": " + name)));
  }
  return checkpoint;
}

bool is_torch_archive(const base::ZipReader& zip) {
  return std::any_of(zip.entries().begin(), zip.entries().end(), [](const base::ZipEntry& entry) {
    return entry.name == "data.pkl" || entry.name.ends_with("/data.pkl");
  });
}

bool is_npz(const base::ZipReader& zip) {
  return std::any_of(zip.entries().begin(), zip.entries().end(),
                     [](const base::ZipEntry& entry) { return entry.name.ends_with(".npy"); });
}

// A length that fits the file, then a JSON object.
bool is_safetensors(std::span<const std::byte> bytes) {
  return bytes.size() > 8 && bytes[8] == std::byte{'{'} &&
         base::load_le<std::uint64_t>(bytes.data()) <= bytes.size() - 8;
}

// Protobuf has no mark of its own. A model begins with its format version, a small number (field
// 1), in every exporter known to us.
bool may_be_onnx(std::span<const std::byte> bytes) {
  return bytes.size() > 2 && bytes[0] == std::byte{8} && bytes[1] > std::byte{0} &&
         bytes[1] < std::byte{64};
}

Checkpoint parse_by_content(std::span<const std::byte> bytes, const std::string& source) {
  const std::string_view text = base::as_text(bytes);
  if (text.starts_with("PK")) {
    const base::ZipReader zip(bytes, source);
    if (is_torch_archive(zip)) return parse_torch(bytes, source);
    if (is_npz(zip)) return parse_npz_tensors(bytes, source);
    fail(ErrorCode::kBadFile, "{}: a zip archive without weights; known are {}", source, kKnown);
  }
  if (is_safetensors(bytes)) return parse_safetensors(bytes, source);
  if (may_be_onnx(bytes)) return parse_onnx(bytes, source);
  if (text.starts_with("\x80\x02")) {
    fail(ErrorCode::kBadFile,
         "{}: a torch file of the old format; load and save it with torch 1.6 or later", source);
  }
  if (text.starts_with("version https://git-lfs"))
    fail(ErrorCode::kBadFile, "{}: only a pointer of Git LFS; fetch the file itself", source);
  fail(ErrorCode::kBadFile, "{}: not a known file of weights, or cut short; known are {}", source,
       kKnown);
}

}  // namespace

Checkpoint read_checkpoint(const std::filesystem::path& file) {
  const base::MappedFile mapped(file);
  Checkpoint checkpoint = parse_by_content(mapped.bytes(), file.string());
  if (checkpoint.empty())
    fail(ErrorCode::kBadFile, "{}: holds no floating-point tensors", file.string());
  return checkpoint;
}

}  // namespace diarist::model
