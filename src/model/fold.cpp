#include "model/fold.hpp"

#include <cmath>

#include "base/error.hpp"
#include "model/onnx_layout.hpp"
#include "model/tensor_source.hpp"
#include "model/topology.hpp"

namespace diarist::model {
namespace {

using base::Shape;
using base::TensorF;

constexpr double kEpsilon = 1e-5;  // of every batch norm

/// A batch norm at inference as y = scale*x + offset.
struct Affine {
  std::vector<double> scale, offset;
};

class Folder {
 public:
  Folder(const Checkpoint& checkpoint, const std::string& origin) : in_(checkpoint, origin) {}

  const TensorSource& in() const noexcept { return in_; }
  Weights take() { return std::move(out_); }

  /// Takes a tensor over as it is.
  void keep(const std::string& name, const Shape& shape) { put(name, in_.get(name, shape)); }
  void keep_matrix(const std::string& name, std::int64_t rows, std::int64_t columns) {
    in_.matrix(name, rows, columns);  // either shape will do
    put(name, in_.any(name));
  }
  void put(const std::string& name, const TensorF& tensor) {
    for (const float value : tensor.values()) {
      if (!std::isfinite(value)) {
        base::fail(ErrorCode::kBadModel,
                   "{}: tensor {} holds numbers that are not finite; get the file again",
                   in_.origin(), name);
      }
    }
    out_[name] = tensor;
  }

  /// <conv>.weight with the norm behind it -> <conv>.weight and <conv>.weight_bias.
  /// \param affine false: the norm has neither weight nor bias.
  void convolution(const std::string& conv, const std::string& norm, const Shape& shape,
                   bool affine = true) {
    const std::string weight = conv + ".weight";
    const bool flat = shape.size() == 3 && shape[2] == 1;  // a matrix as one-tap convolution
    const auto checked = [&]() -> const TensorF& {
      if (flat) in_.matrix(weight, shape[0], shape[1]);
      return flat ? in_.any(weight) : in_.get(weight, shape);
    };
    const TensorF& kernel = checked();
    if (in_.has(conv + ".weight_bias")) {  // folded before
      put(weight, kernel);
      keep(conv + ".weight_bias", {shape[0]});
      return;
    }
    const Affine map = affine_of(norm, shape[0], affine);
    const std::int64_t inner = kernel.size() / shape[0];
    std::vector<float> folded(kernel.size());
    std::vector<float> bias(shape[0]);
    for (std::int64_t o = 0; o < shape[0]; ++o) {
      for (std::int64_t i = o * inner; i < (o + 1) * inner; ++i) {
        folded[i] = static_cast<float>(kernel.values()[i] * map.scale[o]);
      }
      bias[o] = static_cast<float>(map.offset[o]);
    }
    put(weight, {kernel.shape(), std::move(folded)});
    put(conv + ".weight_bias", {{shape[0]}, std::move(bias)});
  }

  /// A norm in front of a ReLU -> <norm>.scale and <norm>.offset.
  void norm(const std::string& name, std::int64_t channels) {
    if (in_.has(name + ".scale")) {  // folded before
      keep(name + ".scale", {channels});
      keep(name + ".offset", {channels});
      return;
    }
    const Affine map = affine_of(name, channels, true);
    put(name + ".scale", {{channels}, {map.scale.begin(), map.scale.end()}});
    put(name + ".offset", {{channels}, {map.offset.begin(), map.offset.end()}});
  }

  void convolution(const MapConvolution& layer) {
    convolution(layer.name, layer.norm, {layer.out, layer.in, layer.kernel, layer.kernel});
  }
  void blocks(const std::vector<BasicBlock>& list) {
    for (const BasicBlock& block : list) {
      convolution(block.first);
      convolution(block.second);
      for (const MapConvolution& shortcut : block.shortcut) convolution(shortcut);
    }
  }

 private:
  Affine affine_of(const std::string& name, std::int64_t channels, bool affine) const {
    const TensorF& mean = in_.get(name + ".running_mean", {channels});
    const TensorF& variance = in_.get(name + ".running_var", {channels});
    Affine map{std::vector<double>(channels), std::vector<double>(channels)};
    for (std::int64_t c = 0; c < channels; ++c) {
      const double spread = static_cast<double>(variance.values()[c]) + kEpsilon;
      if (!(spread > 0)) {
        base::fail(ErrorCode::kBadModel, "{}: tensor {}.running_var is negative at {}",
                   in_.origin(), name, c);
      }
      map.scale[c] = 1.0 / std::sqrt(spread);
      if (affine) map.scale[c] *= in_.get(name + ".weight", {channels}).values()[c];
      map.offset[c] = -mean.values()[c] * map.scale[c];
      if (affine) map.offset[c] += in_.get(name + ".bias", {channels}).values()[c];
    }
    return map;
  }

  TensorSource in_;
  Weights out_;
};

Weights fold_pyannet(const Checkpoint& checkpoint, const std::string& source) {
  constexpr std::int64_t kHidden = 128;
  const Checkpoint plain = from_onnx_layout(checkpoint, source);
  Folder folder(plain, source);
  folder.keep("sincnet.wav_norm1d.weight", {1});
  folder.keep("sincnet.wav_norm1d.bias", {1});
  if (folder.in().has("sincnet.conv1d.0.filters")) {
    folder.keep("sincnet.conv1d.0.filters", {80, 251});
  } else {
    for (const char* name : {"low_hz_", "band_hz_"}) {
      const std::string full = std::string("sincnet.conv1d.0.filterbank.") + name;
      if (folder.in().any(full).shape() == Shape{40})
        folder.keep(full, {40});
      else
        folder.keep(full, {40, 1});
    }
  }
  for (const int stage : {0, 1, 2}) {
    const std::string number = std::to_string(stage);
    const std::int64_t channels = stage == 0 ? 80 : 60;
    folder.keep("sincnet.norm1d." + number + ".weight", {channels});
    folder.keep("sincnet.norm1d." + number + ".bias", {channels});
    if (stage == 0) continue;
    folder.keep("sincnet.conv1d." + number + ".weight", {60, stage == 1 ? 80 : 60, 5});
    folder.keep("sincnet.conv1d." + number + ".bias", {60});
  }
  for (int layer = 0; layer < 4; ++layer) {
    for (const char* direction : {"", "_reverse"}) {
      const std::string end = "_l" + std::to_string(layer) + direction;
      folder.keep("lstm.weight_ih" + end, {4 * kHidden, layer == 0 ? 60 : 2 * kHidden});
      folder.keep("lstm.weight_hh" + end, {4 * kHidden, kHidden});
      folder.keep("lstm.bias_ih" + end, {4 * kHidden});
      folder.keep("lstm.bias_hh" + end, {4 * kHidden});
    }
  }
  folder.keep("linear.0.weight", {kHidden, 2 * kHidden});
  folder.keep("linear.0.bias", {kHidden});
  folder.keep("linear.1.weight", {kHidden, kHidden});
  folder.keep("linear.1.bias", {kHidden});
  folder.keep("classifier.weight", {7, kHidden});
  folder.keep("classifier.bias", {7});
  return folder.take();
}

Weights fold_resnet34(const Checkpoint& checkpoint, const std::string& source) {
  Folder folder(checkpoint, source);
  folder.convolution(resnet34_stem());
  folder.blocks(resnet34_blocks());
  folder.keep("resnet.seg_1.weight", {kResnet34Size, 2 * kResnet34Channels * kResnet34Bands});
  folder.keep("resnet.seg_1.bias", {kResnet34Size});
  return folder.take();
}

Weights fold_campplus(const Checkpoint& checkpoint, const std::string& source) {
  Folder folder(checkpoint, source);
  folder.convolution(campplus_stem());
  folder.blocks(campplus_blocks());
  folder.convolution(campplus_last_convolution());
  folder.convolution("xvector.tdnn.linear", "xvector.tdnn.nonlinear.batchnorm",
                     {kCampplusStemColumns, kCampplusHeadColumns, 5});
  for (const DenseStage& stage : kCampplusStages) {
    const std::string number = std::to_string(stage.number);
    for (int i = 0; i < stage.layers; ++i) {
      const std::string path = "xvector.block" + number + ".tdnnd" + std::to_string(i + 1) + ".";
      const std::int64_t columns = stage.in + kCampplusGrowth * i;
      folder.norm(path + "nonlinear1.batchnorm", columns);
      folder.convolution(path + "linear1", path + "nonlinear2.batchnorm",
                         {kCampplusBottleneck, columns, 1});
      const std::string cam = path + "cam_layer.";
      folder.keep(cam + "linear_local.weight", {kCampplusGrowth, kCampplusBottleneck, 3});
      folder.keep_matrix(cam + "linear1.weight", kCampplusGate, kCampplusBottleneck);
      folder.keep(cam + "linear1.bias", {kCampplusGate});
      folder.keep_matrix(cam + "linear2.weight", kCampplusGrowth, kCampplusGate);
      folder.keep(cam + "linear2.bias", {kCampplusGrowth});
    }
    const std::string transit = "xvector.transit" + number + ".";
    folder.norm(transit + "nonlinear.batchnorm", stage.grown());
    if (stage.number == 3) {
      folder.convolution(transit + "linear", "xvector.out_nonlinear.batchnorm",
                         {stage.out, stage.grown(), 1});
    } else {
      folder.keep_matrix(transit + "linear.weight", stage.out, stage.grown());
    }
  }
  folder.convolution("xvector.dense.linear", "xvector.dense.nonlinear.batchnorm",
                     {kCampplusSize, 2 * kCampplusFrames, 1}, false);
  return folder.take();
}

}  // namespace

std::string recognize(const Checkpoint& checkpoint) {
  const auto has = [&](const char* name) { return checkpoint.count(name) != 0; };
  // Names that survive every export; an incomplete file is refused by fold, with the reason.
  if (has("sincnet.wav_norm1d.weight") && has("classifier.bias")) return "pyannet";
  if (has("resnet.conv1.weight") && has("resnet.seg_1.bias")) return "wespeaker-resnet34";
  if (has("head.conv1.weight") && has("xvector.dense.linear.weight")) return "campplus";
  return "";
}

Weights fold(const std::string& kind, const Checkpoint& checkpoint, const std::string& source) {
  if (kind == "pyannet") return fold_pyannet(checkpoint, source);
  if (kind == "wespeaker-resnet34") return fold_resnet34(checkpoint, source);
  if (kind == "campplus") return fold_campplus(checkpoint, source);
  base::fail(ErrorCode::kBadModel,
             "{}: unknown model kind \"{}\"; known are pyannet, wespeaker-resnet34, campplus",
             source, kind);
}

}  // namespace diarist::model
