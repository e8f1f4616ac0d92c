#include "support/synthetic_weights.hpp"

#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "model/fold.hpp"

namespace diarist::test {
namespace {

using base::Shape;
using model::Checkpoint;

std::uint64_t fnv1a(const std::string& text) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : text) {
    hash ^= static_cast<std::uint8_t>(c);
    hash *= 0x100000001B3ULL;
  }
  return hash;
}

/// In [0, 1).
double uniform(std::uint64_t hash, std::uint64_t index) {
  std::uint64_t z = hash + (index + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1.0p-53;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

struct Builder {
  Checkpoint tensors;
  double gain = 1.2;

  void add(const std::string& name, const Shape& shape) {
    tensors[name] = synthetic_tensor(name, shape, gain);
  }
  void norm(const std::string& name, std::int64_t channels, bool affine = true) {
    if (affine) add(name + ".weight", {channels});
    if (affine) add(name + ".bias", {channels});
    add(name + ".running_mean", {channels});
    add(name + ".running_var", {channels});
  }
};

Checkpoint pyannet() {
  Builder b;
  b.gain = 2.0;
  std::vector<float> low(40), band(40);
  for (int k = 0; k < 40; ++k) {
    low[k] = static_cast<float>(45 * k);
    band[k] = static_cast<float>(60 + 9 * k);
  }
  b.tensors["sincnet.conv1d.0.filterbank.low_hz_"] = {{40, 1}, low};
  b.tensors["sincnet.conv1d.0.filterbank.band_hz_"] = {{40, 1}, band};
  b.add("sincnet.wav_norm1d.weight", {1});
  b.add("sincnet.wav_norm1d.bias", {1});
  for (int i = 0; i < 3; ++i) {
    const std::string n = std::to_string(i);
    b.add("sincnet.norm1d." + n + ".weight", {i == 0 ? 80 : 60});
    b.add("sincnet.norm1d." + n + ".bias", {i == 0 ? 80 : 60});
    if (i == 0) continue;
    b.add("sincnet.conv1d." + n + ".weight", {60, i == 1 ? 80 : 60, 5});
    b.add("sincnet.conv1d." + n + ".bias", {60});
  }
  for (int layer = 0; layer < 4; ++layer) {
    for (const char* direction : {"", "_reverse"}) {
      const std::string end = "_l" + std::to_string(layer) + direction;
      b.add("lstm.weight_ih" + end, {512, layer == 0 ? 60 : 256});
      b.gain = 1.5;
      b.add("lstm.weight_hh" + end, {512, 128});
      b.gain = 2.0;
      b.add("lstm.bias_ih" + end, {512});
      b.add("lstm.bias_hh" + end, {512});
    }
  }
  b.add("linear.0.weight", {128, 256});
  b.add("linear.0.bias", {128});
  b.add("linear.1.weight", {128, 128});
  b.add("linear.1.bias", {128});
  b.add("classifier.weight", {7, 128});
  b.add("classifier.bias", {7});
  return b.tensors;
}

/// Two 3x3 convolutions, and a 1x1 shortcut when asked for.
void add_basic_block(Builder& b, const std::string& path, std::int64_t in, std::int64_t out,
                     bool shortcut) {
  b.add(path + "conv1.weight", {out, in, 3, 3});
  b.norm(path + "bn1", out);
  b.add(path + "conv2.weight", {out, out, 3, 3});
  b.norm(path + "bn2", out);
  if (!shortcut) return;
  b.add(path + "shortcut.0.weight", {out, in, 1, 1});
  b.norm(path + "shortcut.1", out);
}

Checkpoint resnet34() {
  Builder b;
  b.add("resnet.conv1.weight", {32, 1, 3, 3});
  b.norm("resnet.bn1", 32);
  const int blocks[] = {3, 4, 6, 3};
  std::int64_t in = 32;
  for (int stage = 0; stage < 4; ++stage) {
    const std::int64_t out = std::int64_t{32} << stage;
    for (int i = 0; i < blocks[stage]; ++i) {
      add_basic_block(b, "resnet.layer" + std::to_string(stage + 1) + "." + std::to_string(i) + ".",
                      in, out, stage > 0 && i == 0);
      in = out;
    }
  }
  b.add("resnet.seg_1.weight", {256, 5120});
  b.add("resnet.seg_1.bias", {256});
  return b.tensors;
}

Checkpoint campplus() {
  Builder b;
  b.add("head.conv1.weight", {32, 1, 3, 3});
  b.norm("head.bn1", 32);
  for (const char* name : {"layer1.0", "layer1.1", "layer2.0", "layer2.1"}) {
    add_basic_block(b, std::string("head.") + name + ".", 32, 32, ends_with(name, ".0"));
  }
  b.add("head.conv2.weight", {32, 32, 3, 3});
  b.norm("head.bn2", 32);
  b.add("xvector.tdnn.linear.weight", {128, 320, 5});
  b.norm("xvector.tdnn.nonlinear.batchnorm", 128);
  std::int64_t columns = 128;
  const int layers[] = {12, 24, 16};
  for (int block = 1; block <= 3; ++block) {
    for (int i = 1; i <= layers[block - 1]; ++i) {
      const std::string path =
          "xvector.block" + std::to_string(block) + ".tdnnd" + std::to_string(i) + ".";
      b.norm(path + "nonlinear1.batchnorm", columns);
      b.add(path + "linear1.weight", {128, columns, 1});
      b.norm(path + "nonlinear2.batchnorm", 128);
      b.add(path + "cam_layer.linear_local.weight", {32, 128, 3});
      b.add(path + "cam_layer.linear1.weight", {64, 128, 1});
      b.add(path + "cam_layer.linear1.bias", {64});
      b.add(path + "cam_layer.linear2.weight", {32, 64, 1});
      b.add(path + "cam_layer.linear2.bias", {32});
      columns += 32;
    }
    const std::string transit = "xvector.transit" + std::to_string(block) + ".";
    b.norm(transit + "nonlinear.batchnorm", columns);
    b.add(transit + "linear.weight", {columns / 2, columns, 1});
    columns /= 2;
  }
  b.norm("xvector.out_nonlinear.batchnorm", 512);
  b.add("xvector.dense.linear.weight", {192, 1024, 1});
  b.norm("xvector.dense.nonlinear.batchnorm", 192, false);
  return b.tensors;
}

}  // namespace

base::TensorF synthetic_tensor(const std::string& name, const Shape& shape, double gain) {
  double centre = 0;
  double spread = 0;
  if (ends_with(name, "running_mean")) {
    spread = 0.1;
  } else if (ends_with(name, "running_var")) {
    centre = 1;
    spread = 0.5;
  } else if (name.find("bias") != std::string::npos) {
    spread = 0.2;
  } else if (shape.size() == 1) {
    centre = 1;
    spread = 0.5;
  } else {
    spread = gain * std::sqrt(3.0 / static_cast<double>(base::element_count(shape) / shape[0]));
  }
  const std::uint64_t hash = fnv1a(name);
  std::vector<float> values(static_cast<std::size_t>(base::element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(centre + spread * (2 * uniform(hash, i) - 1));
  }
  return {shape, std::move(values)};
}

Checkpoint synthetic_checkpoint(const std::string& kind) {
  if (kind == "pyannet") return pyannet();
  if (kind == "wespeaker-resnet34") return resnet34();
  if (kind == "campplus") return campplus();
  throw std::invalid_argument("no synthetic weights for " + kind);
}

model::Weights synthetic_weights(const std::string& kind) {
  return model::fold(kind, synthetic_checkpoint(kind), "synthetic " + kind);
}

std::vector<float> golden_signal() {
  std::vector<float> samples(160000, 0.0F);
  for (std::int64_t i = 0; i < 160000; ++i) {
    if (i / 8000 % 4 == 3) continue;
    const std::int64_t value = (7 * i * i + 131 * i + 17) % 20001 - 10000;
    samples[static_cast<std::size_t>(i)] = static_cast<float>(value) / 32768.0F;
  }
  return samples;
}

}  // namespace diarist::test
