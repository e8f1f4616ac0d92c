#pragma once
// The networks and front ends of diarist as graphs. Value names are listed with each function.

#include <map>
#include <string>

#include "model/graph.hpp"

namespace diarist::model {

/// Tensors by name, batch norms folded (fold.hpp).
using Weights = std::map<std::string, base::TensorF>;

/// samples[-1] -> log_mel[-1, 80]; WeSpeaker's features (models.md (a), steps 1 to 8).
Graph wespeaker_features();

/// samples[-1] -> log_mel[-1, 80]; CAM++'s features (campplus.md (a), steps 1 to 8).
Graph campplus_features();

/// samples[-1] -> raw[-1, 80]: the sinc convolution, once per recording.
Graph sinc_front_end(const Weights& segmentation);

/// samples[160000], raw[15975, 80] -> classes[589] u8, masks[3, 589].
/// Also: sinc0[5325, 80], sinc1[1773, 60], sinc2[589, 60], lstm0..lstm3[589, 256],
/// linear0, linear1[589, 128], logits[589, 7], log_probabilities[589, 7].
Graph segmentation_network(const Weights& weights);

/// log_mel[998, 80], masks[3, 589] -> embeddings[3, 256].
/// Also: stem[32,80,998], layerL.B.hidden, layerL.B.shortcut, layerL.B (L 1..4).
Graph resnet34_network(const Weights& weights, int frames = 998, int speakers = 3);

/// The same on features whose mean is removed already, over the window or a part of it:
/// features[998, 80], masks[3, 589] -> embeddings[3, 256].
Graph resnet34_on_features(const Weights& weights);

/// That with every intermediate as an output, in the order of the network: stem, per block
/// layerL.B.hidden, layerL.B.shortcut (three of them) and layerL.B, pooled[3, 5120], embeddings.
Graph resnet34_taps(const Weights& weights);

/// features[*, 80] (shared), indices[-1] i32 -> embedding[192].
/// Also: rows[-1, 80], stem and head.* maps, head[-1, 320], tdnn[-1, 128], block1..3,
/// transit1[-1, 256], transit2[-1, 512], frames[-1, 512] (the third transit with out_nonlinear).
Graph campplus_network(const Weights& weights);

/// The same up to frames[-1, 512]: the trunk of the block variant.
Graph campplus_trunk(const Weights& weights);

/// frames[-1, 512] -> embedding[192]: pooling and head of the block variant.
Graph campplus_head(const Weights& weights);

/// frames[*, 512] (shared), indices[-1] i32 -> embedding[192]: the same on gathered frames.
Graph campplus_gathered_head(const Weights& weights);

/// The 80 sinc filters [80, 251] out of low_hz_ and band_hz_ (or of an export that carries them
/// ready-made as "sincnet.conv1d.0.filters").
base::TensorF sinc_filters(const Weights& segmentation);

}  // namespace diarist::model
