#pragma once
// The layers of CAM++ behind the head, on units: TDNN, dense layers, transits.
//
// The rows of a dense block lie in one array of kFrameColumns columns per unit: halves in fast
// mode, floats in exact mode. A dense layer appends 32 columns, but gives them away raw: the gate
// that multiplies them needs the sums over all units of an item, which only the next launch knows.
// So every launch first finishes the layer before it ("pending"): it makes the gates of the
// segments in its tile while the products of the older columns already run.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "backend/cuda/kernels/campplus/layout.hpp"
#include "backend/cuda/kernels/campplus/map_conv.hpp"

namespace diarist::backend::cuda::campplus {

inline constexpr int kFrameColumns = 1024;
inline constexpr int kHidden = 128, kGrowth = 32, kGateHidden = 64;

/// The context's two small products, transposed: [128][64], [64], [64][32], [32].
struct GateWeights {
  const float* first = nullptr;
  const float* first_bias = nullptr;
  const float* second = nullptr;
  const float* second_bias = nullptr;
};

/// A sum of numbers that are multiples of 2^-24, exact, so that it has no order:
/// high * 2^-8 + low * 2^-24.
struct alignas(8) ExactSum {
  std::int32_t high, low;
};

/// What a dense layer leaves for the next launch. Two sums per segment and hidden column: of the
/// tile where the segment begins, and of the one behind.
struct Pending {
  const float* local = nullptr;    // [units][32], null: nothing is pending
  const ExactSum* sums = nullptr;  // [segments][2][128]
  GateWeights gates;
};

/// relu(x*scale + offset) before a product, one entry per pair of columns. Fast mode: halves
/// {scale, scale, offset, offset}; exact mode: the same as floats.
using Affine = const void*;

/// What the device allows (frame_launch()).
struct FrameLaunch {
  bool deep = false;  // shared memory for a ring of many stages
  bool overlap =
      false;  // a launch may begin while the one before ends; the tables must be complete
};
/// Of the current device. \return an error where a block may not have the shared memory that the
/// mode takes. Allows the kernels their shared memory: once per device and mode, before the first
/// launch.
cudaError_t prepare_frames(bool exact, FrameLaunch* launch);

struct DenseLayerArgs {
  PackTables tables;
  void* rows = nullptr;  // [units][kFrameColumns]; the pending columns are written
  int columns = 0;       // that the layer reads, the pending ones included
  Pending pending;
  Affine affine = nullptr;
  PackedProduct reduce;
  const void* local_weights = nullptr;
  float local_unscale = 1;
  int dilation = 1;
  float* local = nullptr;  // made for the next launch
  ExactSum* sums = nullptr;
  bool exact = false;
  FrameLaunch launch;
};
cudaError_t launch_dense_layer(const DenseLayerArgs& args, cudaStream_t stream);

struct TransitArgs {
  PackTables tables;
  const void* rows = nullptr;
  int columns = 0, outputs = 0;
  Pending pending;
  Affine affine = nullptr;
  PackedProduct product;
  void* out_rows = nullptr;  // the next block's rows, or, if null:
  float* frames = nullptr;   // [frames][outputs], through a ReLU, where PackItem says
  bool exact = false;
  FrameLaunch launch;
};
cudaError_t launch_transit(const TransitArgs& args, cudaStream_t stream);

struct TdnnArgs {
  PackTables tables;
  const __half* map = nullptr;  // [10][pitch][32], exact: [10][pitch][high 32, low 32]
  int pitch = 0;
  PackedProduct product;
  void* out_rows = nullptr;  // the first block's rows
  bool exact = false;
};
cudaError_t launch_tdnn(const TdnnArgs& args, cudaStream_t stream);

/// [blocks of 128 outputs][chunks of 32 inputs][high, low in exact mode][128][32]. `grouped`: row
/// 32 g + 8 j + 2 q + e holds output 32 g + 8 q + 2 j + e, else rows are outputs.
/// \param weight [outputs][inputs].
std::vector<std::uint16_t> pack_row_product(const float* weight, int outputs, int inputs,
                                            bool exact, bool grouped, float scale);

/// The local convolution for the product [units][128] x [128][96]: [chunks of 32
/// inputs][high, low][32 tap + output][32]. \param weight [32, 128, 3].
std::vector<std::uint16_t> pack_local(const float* weight, bool exact, float scale);

/// Fast mode: relu(s*x + o) = f * relu(s/f*x + o/f) with f = |s| wherever that is harmless, so that
/// s/f is exactly 1 or -1; f belongs into the weights' columns behind it.
struct FoldedAffine {
  std::vector<std::uint16_t> pairs;  // as Affine says
  std::vector<float> factors;
};
FoldedAffine fold_affine(const float* scale, const float* offset, int columns);

/// Exact mode's entries.
std::vector<float> pack_affine(const float* scale, const float* offset, int columns);

}  // namespace diarist::backend::cuda::campplus
