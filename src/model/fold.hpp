#pragma once
// From a published checkpoint to the folded weights that graphs use. Folding is done in double and
// stored as f32.

#include <string>

#include "model/checkpoint.hpp"
#include "model/networks.hpp"

namespace diarist::model {

/// "pyannet", "wespeaker-resnet34", "campplus", or "" when the tensors are none of them.
std::string recognize(const Checkpoint& checkpoint);

/// Folds and renames; also accepts the ONNX layouts of models.md and already folded files.
/// Result names: convolutions "<name>.weight" and "<name>.weight_bias"; norms that can't be folded
/// "<name>.scale" and "<name>.offset"; everything else as in the checkpoint.
/// \throws Error kBadModel naming the missing or misshaped tensor.
Weights fold(const std::string& kind, const Checkpoint& checkpoint, const std::string& source);

}  // namespace diarist::model
