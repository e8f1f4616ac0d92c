#include "backend/cuda/front/segmentation_front.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "backend/cuda/check.hpp"
#include "backend/cuda/front/packing.hpp"
#include "backend/cuda/kernels/front_conv.hpp"
#include "backend/cuda/kernels/front_rows.hpp"
#include "backend/cuda/kernels/hopper/front_conv.hpp"
#include "backend/cuda/kernels/split_half.hpp"
#include "backend/cuda/kernels/split_product.hpp"

namespace diarist::backend::cuda {
namespace {

struct StageShape {
  int rows, channels, pieces, piece_rows;
};

constexpr int kConvRows = front_conv_rows(kFrontPooledRows);  // 1773
constexpr StageShape kStages[3] = {
    {kFrontPooledRows, kFrontFilters, kPoolPieces, kPoolPieceRows},
    {kConvRows, kFrontOutputs, front_conv_pieces(kFrontPooledRows), kConvPieceRows},
    {front_conv_rows(kConvRows), kFrontOutputs, front_conv_pieces(kConvRows), kConvPieceRows}};
static_assert(kStages[2].rows == SegmentationFront::kFrames);

void require(bool ok, const char* what) {
  if (!ok)
    base::fail(ErrorCode::kUnsupported,
               "segmentation front end: no CUDA kernel serves {}; only the shapes of PyanNet do",
               what);
}

void require_norm(const model::InstanceNorm& norm, std::int64_t channels) {
  require(norm.weight.size() == channels && norm.bias.size() == channels, "a norm of this width");
}

void require_stage(const model::Conv1d& block, std::int64_t in) {
  require(block.weight.shape() == base::Shape{kFrontOutputs, in, kFrontTaps} &&
              block.bias.size() == kFrontOutputs,
          "a convolution of this shape");
  require(block.stride == 1 && block.dilation == 1 && block.padding == 0 && block.pool3 &&
              block.norm.has_value() && block.activation == model::Activation::kLeakyRelu,
          "a convolution with these options");
  require_norm(*block.norm, kFrontOutputs);
}

float largest_magnitude(const base::TensorF& values) {
  float largest = 0;
  for (const float x : values.values()) largest = std::max(largest, std::abs(x));
  return largest;
}

// What the results of an instance norm over `rows` may be multiplied with so that none leaves the
// range of halves: 16, less only for weights far from those of any trained network.
float input_scale(const model::InstanceNorm& norm, int rows) {
  const double bound =
      std::sqrt(static_cast<double>(rows)) * static_cast<double>(largest_magnitude(norm.weight)) +
      static_cast<double>(largest_magnitude(norm.bias));
  float scale = SegmentationFront::kRowScale;
  while (static_cast<double>(scale) * bound > 65504.0 && scale > 0x1p-60F) scale /= 2;
  return scale;
}

std::vector<float> scaled(const base::TensorF& values, float scale) {
  std::vector<float> result(values.values().begin(), values.values().end());
  for (float& x : result) x *= scale;
  return result;
}

std::vector<double> tap_sums(const base::TensorF& filters) {
  const auto taps = static_cast<std::size_t>(filters.dim(1));
  std::vector<double> sums(static_cast<std::size_t>(filters.dim(0)));
  for (std::size_t i = 0; i < filters.values().size(); ++i)
    sums[i / taps] += static_cast<double>(filters.values()[i]);
  return sums;
}

}  // namespace

SegmentationFront::SegmentationFront(int device, const model::SincPool& pool,
                                     const model::Conv1d& first, const model::Conv1d& second,
                                     int max_windows, int sub_batch, FrontKernels kernels)
    : device_(device),
      max_windows_(max_windows),
      sub_batch_(std::min(sub_batch, max_windows)),
      waveform_weight_(0),
      waveform_bias_(0) {
  require(pool.filters.shape().size() == 2 && pool.filters.dim(0) == kFilters, "these filters");
  require_norm(pool.waveform, 1);
  require_norm(pool.norm, kFilters);
  require_stage(first, kFilters);
  require_stage(second, kChannels);
  if (sub_batch_ < 1)
    base::fail(ErrorCode::kInvalidArgument, "segmentation front end: {} windows, {} at a time",
               max_windows, sub_batch);
  const DeviceGuard guard(device);
  const FrontDevice facts = front_device();
  multiprocessors_ = facts.multiprocessors;
  shared_bytes_ = facts.shared_bytes;
  hopper_ = facts.hopper && kernels == FrontKernels::kBest;
  check(hopper_ ? hopper::prepare_front_conv() : prepare_front_conv(shared_bytes_),
        "segmentation front end");

  waveform_weight_ = static_cast<double>(pool.waveform.weight.data()[0]);
  waveform_bias_ = static_cast<double>(pool.waveform.bias.data()[0]);
  WeightBlock block;
  const std::vector<double> sums = tap_sums(pool.filters);
  const std::size_t sums_at = block.add(std::span<const double>(sums));
  const model::InstanceNorm* norms[3] = {&pool.norm, &*first.norm, &*second.norm};
  std::size_t weight_at[3], bias_at[3];
  for (int s = 0; s < 3; ++s) {
    norms_[s].scale = s < 2 ? input_scale(*norms[s], kStages[s].rows) : kRowScale;
    weight_at[s] = block.add(std::span<const float>(scaled(norms[s]->weight, norms_[s].scale)));
    bias_at[s] = block.add(std::span<const float>(scaled(norms[s]->bias, norms_[s].scale)));
  }
  const model::Conv1d* blocks[2] = {&first, &second};
  std::size_t packed_at[2], conv_bias_at[2];
  for (int c = 0; c < 2; ++c) {
    const base::TensorF& weight = blocks[c]->weight;
    const float scale = split_scale(weight.values(), kSplitProductExponent);
    const auto packed = hopper_ ? hopper::pack_front_conv(weight.data(), kStages[c].channels, scale)
                                : pack_front_conv(weight.data(), kStages[c].channels, scale);
    packed_at[c] = block.add(std::span<const std::uint16_t>(packed));
    conv_bias_at[c] = block.add(blocks[c]->bias.values());
    convolutions_[c].unscale = 1.0F / scale / norms_[c].scale;
  }
  weights_ = to_device(device, block.words(), "weights of the segmentation front end");
  const auto* const data = weights_.as<std::uint8_t>();
  const auto floats = [&](std::size_t at) { return reinterpret_cast<const float*>(data + at); };
  tap_sums_ = reinterpret_cast<const double*>(data + sums_at);
  for (int s = 0; s < 3; ++s) {
    norms_[s].weight = floats(weight_at[s]);
    norms_[s].bias = floats(bias_at[s]);
  }
  for (int c = 0; c < 2; ++c) {
    convolutions_[c].weights = data + packed_at[c];
    convolutions_[c].bias = floats(conv_bias_at[c]);
  }

  const auto carve = [&](Carving carving) {
    const auto windows = static_cast<std::size_t>(sub_batch_);
    wave_ = carving.take<WaveMoments>(windows * kWavePieces);
    affine_ = carving.take<RawAffine>(windows);
    for (int s = 0; s < 3; ++s) {
      const auto channels = static_cast<std::size_t>(kStages[s].channels);
      stages_[s].rows =
          carving.take<float>(windows * static_cast<std::size_t>(kStages[s].rows) * channels);
      stages_[s].moments =
          carving.take<Moments>(windows * static_cast<std::size_t>(kStages[s].pieces) * channels);
      norms_[s].means = carving.take<float>(windows * channels);
      norms_[s].scales = carving.take<float>(windows * channels);
    }
    return carving.used();
  };
  workspace_ =
      DeviceMemory(device, carve(Carving(nullptr)), "workspace of the segmentation front end");
  carve(Carving(workspace_.as<std::uint8_t>()));
}

void SegmentationFront::run(cudaStream_t stream, const FrontWindows& windows, __half* rows,
                            int row_windows, const FrontTaps& taps) const {
  const auto aligned = [](const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0;
  };
  if (windows.count < 1 || windows.count > max_windows_ || row_windows < windows.count)
    base::fail(ErrorCode::kInvalidArgument,
               "segmentation front end: {} windows in {} columns; 1 to {} fit", windows.count,
               row_windows, max_windows_);
  if (!aligned(windows.raw) || windows.raw_stride % 4 != 0 || !aligned(rows))
    base::fail(ErrorCode::kInvalidArgument,
               "segmentation front end: raw rows and results must lie on multiples of 16 bytes");
  const DeviceGuard guard(device_);
  for (int first = 0; first < windows.count; first += sub_batch_)
    run_part(stream, windows, first, std::min(sub_batch_, windows.count - first), rows, row_windows,
             taps);
}

void SegmentationFront::run_part(cudaStream_t stream, const FrontWindows& windows, int first,
                                 int count, __half* rows, int row_windows,
                                 const FrontTaps& taps) const {
  pool(stream, windows, first, count);
  normalize(stream, 0, count);
  tap(stream, 0, first, count, taps.sinc0, taps.sinc0_stride);
  convolve(stream, 0, count);
  normalize(stream, 1, count);
  tap(stream, 1, first, count, taps.sinc1, taps.sinc1_stride);
  convolve(stream, 1, count);
  normalize(stream, 2, count);
  tap(stream, 2, first, count, taps.sinc2, taps.sinc2_stride);
  const FrontRowsArgs args{.input = stages_[2].rows,
                           .means = norms_[2].means,
                           .scales = norms_[2].scales,
                           .offsets = norms_[2].bias,
                           .channels = kChannels,
                           .rows = kFrames,
                           .windows = count};
  check(launch_front_rows(args, rows, row_windows, first, stream), "rows of the front end");
}

void SegmentationFront::pool(cudaStream_t stream, const FrontWindows& windows, int first,
                             int count) const {
  check(launch_wave_moments({.samples = windows.samples,
                             .stride = windows.sample_stride,
                             .positions = windows.positions,
                             .first = first,
                             .windows = count,
                             .moments = wave_},
                            stream),
        "moments of the samples");
  check(launch_raw_affine({.moments = wave_,
                           .tap_sums = tap_sums_,
                           .weight = waveform_weight_,
                           .bias = waveform_bias_,
                           .windows = count,
                           .affine = affine_},
                          stream),
        "waveform norm");
  check(launch_front_pool({.raw = windows.raw,
                           .stride = windows.raw_stride,
                           .positions = windows.positions,
                           .first = first,
                           .windows = count,
                           .affine = affine_,
                           .pooled = stages_[0].rows,
                           .moments = stages_[0].moments},
                          stream),
        "sinc pooling");
}

void SegmentationFront::normalize(cudaStream_t stream, int stage, int count) const {
  const StageShape& shape = kStages[stage];
  check(launch_norm_of_moments({.moments = stages_[stage].moments,
                                .pieces = shape.pieces,
                                .piece_rows = shape.piece_rows,
                                .rows = shape.rows,
                                .channels = shape.channels,
                                .weight = norms_[stage].weight,
                                .windows = count,
                                .means = norms_[stage].means,
                                .scales = norms_[stage].scales},
                               stream),
        "instance norm");
}

void SegmentationFront::convolve(cudaStream_t stream, int stage, int count) const {
  const Convolution& convolution = convolutions_[stage];
  const FrontConvArgs args{.channels = kStages[stage].channels,
                           .input = stages_[stage].rows,
                           .means = norms_[stage].means,
                           .scales = norms_[stage].scales,
                           .offsets = norms_[stage].bias,
                           .weights = convolution.weights,
                           .bias = convolution.bias,
                           .unscale = convolution.unscale,
                           .windows = count,
                           .in_rows = kStages[stage].rows,
                           .output = stages_[stage + 1].rows,
                           .moments = stages_[stage + 1].moments,
                           .multiprocessors = multiprocessors_,
                           .shared_bytes = shared_bytes_};
  check(hopper_ ? hopper::launch_front_conv(args, stream) : launch_front_conv(args, stream),
        "convolution of the front end");
}

void SegmentationFront::tap(cudaStream_t stream, int stage, int first, int count, float* target,
                            std::int64_t stride) const {
  if (target == nullptr) return;
  const FrontRowsArgs args{.input = stages_[stage].rows,
                           .means = norms_[stage].means,
                           .scales = norms_[stage].scales,
                           .offsets = norms_[stage].bias,
                           .channels = kStages[stage].channels,
                           .rows = kStages[stage].rows,
                           .windows = count};
  check(launch_front_tap(args, target + first * stride, stride, 1.0F / norms_[stage].scale, stream),
        "tap of the front end");
}

}  // namespace diarist::backend::cuda
