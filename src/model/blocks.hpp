#pragma once
// The fused blocks that every backend runs: the seam between models and hardware.
//
// Shapes are per batch item and in C order. "rows" means time first: [T, C]. A "map" is
// [channels, frequency, time]. -1 in a value's shape is its ragged time axis: each item of a batch
// brings its own length. Weights are f32 with batch norms already folded.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/tensor.hpp"

namespace diarist::model {

using base::TensorF;

enum class Activation { kNone, kRelu, kLeakyRelu };  // the leak is 0.01

/// Instance norm over the time steps of one item: biased variance, epsilon 1e-5.
struct InstanceNorm {
  TensorF weight, bias;  // [C]
};

/// samples [-1] -> log-mel rows [-1, 80]; 400-sample frames every 160, only complete ones.
/// models.md (a) steps 1 to 8 and campplus.md (a): no mean is removed here.
struct LogMel {
  enum class Window { kHamming, kPovey };
  Window window = Window::kHamming;
  float scale = 32768.0F;  // samples are multiplied by it first
};

/// samples [-1] -> raw filter outputs, rows [-1, 80]; 251 taps, stride 10, no padding, no norm.
struct SincConvolution {
  TensorF filters;  // [80, 251]
  int stride = 10;
};

/// (samples [160000], raw filter outputs [15975, 80]) -> rows [5325, 80].
/// The waveform's instance norm as an affine correction of the raw outputs (s*conv + o*sum of the
/// taps), absolute value, max pool 3, instance norm, leaky ReLU. models.md (b) steps 1 to 5.
struct SincPool {
  TensorF filters;        // [80, 251], for the sums of the taps
  InstanceNorm waveform;  // [1]
  InstanceNorm norm;      // [80]
};

/// rows [T, Cin] -> rows [T', Cout]: convolution + bias, then max pool 3 (optional), then instance
/// norm (optional), then the activation. Cross-correlation; zero padding on both sides.
struct Conv1d {
  TensorF weight;  // [Cout, Cin, K]
  TensorF bias;    // [Cout]
  int stride = 1;
  int dilation = 1;
  int padding = 0;
  bool pool3 = false;
  std::optional<InstanceNorm> norm;
  Activation activation = Activation::kNone;
};

/// log-mel rows [T, 80] -> map [Cout, 80, T]: subtracts each band's mean over the T rows, then
/// 3x3 convolution padded by 1 + bias + ReLU. The image is 1 x frequency x time.
struct Stem {
  TensorF weight;           // [Cout, 1, 3, 3], axes frequency, time
  TensorF bias;             // [Cout]
  bool remove_mean = true;  // false: the rows come centred, over whatever stretch
};

/// map [Cin, F, T] -> map [Cout, F', T']: 3x3 padded by 1, or 1x1 unpadded; + bias, + the second
/// input if there is one (the residual), then ReLU if asked for.
struct Conv2d {
  TensorF weight;  // [Cout, Cin, K, K], axes frequency, time
  TensorF bias;    // [Cout]
  int stride_frequency = 1;
  int stride_time = 1;
  bool relu = true;
};

/// map [C, F, T] -> rows [T, C*F], column = channel*F + frequency.
struct MapToRows {};

/// rows [T, I] -> rows [T, 2H]: forward state, then backward state. Gate blocks of H rows in the
/// order input, forget, cell, output; index 0 forward, 1 backward; biases already added up.
struct BiLstm {
  TensorF input_weight[2];      // [4H, I]
  TensorF recurrent_weight[2];  // [4H, H]
  TensorF bias[2];              // [4H]
};

/// rows [T, I] -> rows [T, O]: relu(x*pre_scale + pre_offset) first when given, then the product,
/// bias and activation.
struct Dense {
  TensorF weight;                 // [O, I]
  TensorF bias;                   // [O]
  TensorF pre_scale, pre_offset;  // [I] or empty
  Activation activation = Activation::kNone;
};

/// rows [T, O] -> rows [T, O].
struct LogSoftmax {};

/// scores [T, 7] -> powerset class of every frame [T] (u8): first maximum.
struct PowersetDecision {};

/// classes [T] (u8) -> masks [3, T]: the frames of each local speaker that its embedding is pooled
/// over, 0 or 1. Those in which nobody else speaks when there are more than two, else all of its
/// frames (pipeline.md 6).
struct EmbeddingMasks {};

/// One dense TDNN layer of CAM++ (campplus.md (b), layer steps 1 to 6).
struct DenseTdnnLayer {
  TensorF pre_scale, pre_offset;  // [C], nonlinear1
  TensorF reduce_weight;          // [128, C], nonlinear2 folded in
  TensorF reduce_bias;            // [128]
  TensorF local_weight;           // [32, 128, 3]
  TensorF gate1_weight;           // [64, 128]
  TensorF gate1_bias;             // [64]
  TensorF gate2_weight;           // [32, 64]
  TensorF gate2_bias;             // [32]
};

/// rows [U, C] -> rows [U, C + 32*layers]: each layer appends 32 columns that later ones read.
/// The context of a frame is the mean over all U frames plus the mean over its 100-frame segment.
struct DenseTdnnBlock {
  std::vector<DenseTdnnLayer> layers;
  int dilation = 1;
};

/// (rows [*, 80] shared by all items, indices [-1] i32) -> rows [-1, 80].
/// Row t of an item is row indices[t] of the shared input.
struct GatherRows {};

/// (map [C, F, T], masks [S, 589]) -> embeddings [S, D]. The mask is read at
/// floor(j*589/T); weighted mean and deviation per sequence (row = channel*F + frequency) as in
/// models.md (c), then the head on [means, deviations]. An empty mask gives exactly the bias.
/// Without weight and bias: the statistics themselves, [S, 2*C*F] (a tap).
struct MaskedStatsHead {
  TensorF weight;  // [D, 2*C*F] or empty
  TensorF bias;    // [D] or empty
  int speakers = 3;
};

/// rows [-1, C] -> embedding [D]: mean and deviation over time with divisor n-1 (0.01 when n is 1),
/// then the head. campplus.md, pooling and last layer.
struct StatsHead {
  TensorF weight;  // [D, 2*C]
  TensorF bias;    // [D]
};

using Block = std::variant<LogMel, SincConvolution, SincPool, Conv1d, Stem, Conv2d, MapToRows,
                           BiLstm, Dense, LogSoftmax, PowersetDecision, EmbeddingMasks,
                           DenseTdnnBlock, GatherRows, MaskedStatsHead, StatsHead>;

/// Name of a block's type, e.g. "Conv2d".
const char* block_name(const Block& block) noexcept;

}  // namespace diarist::model
