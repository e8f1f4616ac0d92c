#include "backend/cuda/segmentation/frame_head_layer.hpp"

#include <algorithm>
#include <cmath>

#include "backend/cuda/check.hpp"
#include "backend/cuda/kernels/lstm.hpp"
#include "backend/cuda/kernels/split_half.hpp"
#include "backend/cuda/kernels/split_pack.hpp"

namespace diarist::backend::cuda {
namespace {

// The largest magnitude that an output can have when no input exceeds `input`.
double bound_of(const model::Dense& dense, double input) {
  const std::int64_t outs = dense.weight.dim(0), ins = dense.weight.dim(1);
  double largest = 0;
  for (std::int64_t o = 0; o < outs; ++o) {
    double sum = std::fabs(double{dense.bias.data()[o]});
    for (std::int64_t i = 0; i < ins; ++i)
      sum += std::fabs(double{dense.weight.data()[o * ins + i]}) * input;
    largest = std::max(largest, sum);
  }
  return largest;
}

// The power of two that brings numbers up to a bound close to the largest half, never beyond.
float scale_below(double bound) {
  if (!(bound > 0) || !std::isfinite(bound)) return 1;
  return std::ldexp(1.0F, std::clamp(14 - std::ilogb(bound), -24, 14));
}

}  // namespace

FrameHeadLayer::FrameHeadLayer(int device, const SegmentationParts& parts) {
  // States lie between -1 and 1, so the ranges of all layers are known beforehand.
  const double hidden = bound_of(*parts.linear[0], 1.0);
  scale_[0] = scale_below(hidden);
  scale_[1] = scale_below(bound_of(*parts.linear[1], hidden));
  const float weight_scale[3] = {
      split_scale(parts.linear[0]->weight.values(), kSplitPackExponent),
      split_scale(parts.linear[1]->weight.values(), kSplitPackExponent),
      split_scale(parts.classifier->weight.values(), kSplitPackExponent)};
  unscale_[0] = 1 / (kStateScale * weight_scale[0]);
  for (int i = 1; i < 3; ++i) unscale_[i] = 1 / (scale_[i - 1] * weight_scale[i]);
  const char* const what = "weights of the dense layers";
  first_ = to_device<std::uint16_t>(device,
                                    pack_split_rows(parts.linear[0]->weight.values(), kFrameHidden,
                                                    kFrameColumns, kFrameColumns, weight_scale[0]),
                                    what);
  second_ = to_device<std::uint16_t>(device,
                                     pack_split_rows(parts.linear[1]->weight.values(), kFrameHidden,
                                                     kFrameHidden, kFrameHidden, weight_scale[1]),
                                     what);
  last_ = to_device<std::uint16_t>(
      device, pack_classifier(parts.classifier->weight.values(), weight_scale[2]), what);
  std::vector<float> bias;
  for (const model::Dense* dense : {parts.linear[0], parts.linear[1], parts.classifier})
    bias.insert(bias.end(), dense->bias.values().begin(), dense->bias.values().end());
  bias.push_back(0);  // the classifier's eighth column
  bias_ = to_device<float>(device, bias, what);
}

void FrameHeadLayer::run(FrameHeadArgs args, cudaStream_t stream) const {
  args.first = first_.as<__half>();
  args.second = second_.as<__half>();
  args.last = last_.data();
  args.bias = bias_.as<float>();
  std::copy_n(unscale_, 3, args.unscale);
  std::copy_n(scale_, 2, args.scale);
  check(launch_frame_head(args, stream), "dense layers");
}

std::size_t FrameHeadLayer::weight_bytes() const noexcept {
  return first_.bytes() + second_.bytes() + last_.bytes() + bias_.bytes();
}

}  // namespace diarist::backend::cuda
