#pragma once
// The golden input signal and the weights that follow from tensor names (spec/golden/README.md).

#include <string>
#include <vector>

#include "model/checkpoint.hpp"
#include "model/networks.hpp"

namespace diarist::test {

/// Unfolded tensors of "pyannet", "wespeaker-resnet34" or "campplus" under the names and shapes of
/// their checkpoints. \throws std::invalid_argument for other kinds.
model::Checkpoint synthetic_checkpoint(const std::string& kind);

/// The same, folded.
model::Weights synthetic_weights(const std::string& kind);

/// One tensor by the rule. \param gain of kernels and matrices.
base::TensorF synthetic_tensor(const std::string& name, const base::Shape& shape, double gain);

/// 160000 samples.
std::vector<float> golden_signal();

}  // namespace diarist::test
