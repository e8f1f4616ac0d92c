#pragma once
// Readers of weight files. They parse bytes, check every offset, and never run anything.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/tensor.hpp"

namespace diarist::model {

/// Tensors of a weight file under the names the file uses; all converted to f32 (exactly when the
/// file holds f32). Integer scalars such as num_batches_tracked are left out.
using Checkpoint = std::map<std::string, base::TensorF>;

/// safetensors: JSON header with offsets, then data. F32, F64, F16, BF16.
Checkpoint parse_safetensors(std::span<const std::byte> bytes, const std::string& source);

/// torch zip archives (pytorch_model.bin, .pt, .ckpt). A "state_dict" level is entered when there
/// is one. Reads the opcodes that such files use; classes are never imported: any global but the
/// tensor rebuilders, storages and OrderedDict becomes an inert placeholder.
Checkpoint parse_torch(std::span<const std::byte> bytes, const std::string& source);

/// ONNX: the initializers of the graph (raw_data, float_data, double_data; no external data).
Checkpoint parse_onnx(std::span<const std::byte> bytes, const std::string& source);

/// Picks the reader by content. \throws Error kBadFile naming the file and the known formats.
Checkpoint read_checkpoint(const std::filesystem::path& file);

/// Bytes of a safetensors file with these tensors (f32), sorted by name; metadata is a flat
/// string map. Same input, same bytes.
std::vector<std::byte> to_safetensors(const Checkpoint& tensors,
                                      const std::map<std::string, std::string>& metadata = {});

}  // namespace diarist::model
