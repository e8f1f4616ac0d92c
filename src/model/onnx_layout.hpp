#pragma once
// The layouts that ONNX exports of PyanNet use (models.md (b), "ONNX exports").

#include <string>

#include "model/checkpoint.hpp"

namespace diarist::model {

/// Renames and reorders the generated tensors to the names and layouts of the checkpoint; returns
/// a checkpoint without generated names as it is. \throws Error kBadModel naming the tensor.
Checkpoint from_onnx_layout(const Checkpoint& checkpoint, const std::string& source);

}  // namespace diarist::model
