#pragma once
// Numbers for measurements without a model: weights of the ResNet34 and chunks of features.

#include <vector>

#include "model/networks.hpp"

namespace diarist::pipeline {

/// Weights of the WeSpeaker ResNet34 under their folded names: uniform noise that follows from the
/// tensor's name, with He's deviation, and half of it in each block's second convolution so that
/// the maps stay within a small multiple of the input through all 16 blocks. No speaker model.
model::Weights random_resnet34();

/// Features [998, 80] of one chunk, like log-mel rows: a slope over the bands plus noise.
std::vector<float> random_features(int chunk);

/// Masks [3, 589]: a stretch, every seventh frame, everything.
std::vector<float> example_masks(int chunk);

}  // namespace diarist::pipeline
