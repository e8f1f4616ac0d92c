#pragma once
// Weight files of the right shapes with made-up numbers, for tests of bundles.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "base/npy.hpp"
#include "model/checkpoint.hpp"
#include "model/plda_files.hpp"
#include "model/topology.hpp"
#include "unit/base/archives.hpp"

namespace diarist::test {

/// Numbers in (-1, 1) that depend on the seed and the position only.
inline std::vector<float> numbers(std::int64_t count, std::uint32_t& seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    seed = seed * 1664525U + 1013904223U;
    value = static_cast<float>(static_cast<std::int32_t>(seed >> 8) - (1 << 23)) / (1 << 23);
  }
  return values;
}

/// A checkpoint under construction.
class Made {
 public:
  explicit Made(std::uint32_t seed) : seed_(seed) {}
  void add(const std::string& name, const base::Shape& shape) {
    tensors[name] = {shape, numbers(base::element_count(shape), seed_)};
  }
  void add_norm(const std::string& name, std::int64_t channels) {
    for (const char* part : {".weight", ".bias", ".running_mean"}) add(name + part, {channels});
    std::vector<float> variance = numbers(channels, seed_);
    for (float& value : variance) value = 1.5F + value;
    tensors[name + ".running_var"] = {{channels}, std::move(variance)};
  }
  void add(const model::MapConvolution& layer) {
    add(layer.name + ".weight", {layer.out, layer.in, layer.kernel, layer.kernel});
    add_norm(layer.norm, layer.out);
  }
  void add(const std::vector<model::BasicBlock>& blocks) {
    for (const model::BasicBlock& block : blocks) {
      add(block.first);
      add(block.second);
      for (const model::MapConvolution& shortcut : block.shortcut) add(shortcut);
    }
  }
  model::Checkpoint tensors;

 private:
  std::uint32_t seed_;
};

/// WeSpeaker ResNet34 with the checkpoint's names, norms not folded.
inline model::Checkpoint made_resnet34(std::uint32_t seed) {
  Made made(seed);
  made.add(model::resnet34_stem());
  made.add(model::resnet34_blocks());
  made.add("resnet.seg_1.weight", {256, 5120});
  made.add("resnet.seg_1.bias", {256});
  return made.tensors;
}

/// CAM++ likewise.
inline model::Checkpoint made_campplus(std::uint32_t seed) {
  Made made(seed);
  made.add(model::campplus_stem());
  made.add(model::campplus_blocks());
  made.add(model::campplus_last_convolution());
  made.add("xvector.tdnn.linear.weight", {128, 320, 5});
  made.add_norm("xvector.tdnn.nonlinear.batchnorm", 128);
  for (const model::DenseStage& stage : model::kCampplusStages) {
    const std::string number = std::to_string(stage.number);
    for (int i = 0; i < stage.layers; ++i) {
      const std::string path = "xvector.block" + number + ".tdnnd" + std::to_string(i + 1) + ".";
      const std::int64_t columns = stage.in + 32 * i;
      made.add_norm(path + "nonlinear1.batchnorm", columns);
      made.add(path + "linear1.weight", {128, columns, 1});
      made.add_norm(path + "nonlinear2.batchnorm", 128);
      made.add(path + "cam_layer.linear_local.weight", {32, 128, 3});
      made.add(path + "cam_layer.linear1.weight", {64, 128, 1});
      made.add(path + "cam_layer.linear1.bias", {64});
      made.add(path + "cam_layer.linear2.weight", {32, 64, 1});
      made.add(path + "cam_layer.linear2.bias", {32});
    }
    made.add_norm("xvector.transit" + number + ".nonlinear.batchnorm", stage.grown());
    made.add("xvector.transit" + number + ".linear.weight", {stage.out, stage.grown(), 1});
  }
  made.add_norm("xvector.out_nonlinear.batchnorm", 512);
  made.add("xvector.dense.linear.weight", {192, 1024, 1});
  made.add_norm("xvector.dense.nonlinear.batchnorm", 192);
  return made.tensors;
}

/// Segmentation-3.0's tensors.
inline model::Checkpoint made_pyannet(std::uint32_t seed) {
  Made made(seed);
  made.add("sincnet.wav_norm1d.weight", {1});
  made.add("sincnet.wav_norm1d.bias", {1});
  made.add("sincnet.conv1d.0.filterbank.low_hz_", {40, 1});
  made.add("sincnet.conv1d.0.filterbank.band_hz_", {40, 1});
  for (const int stage : {0, 1, 2}) {
    const std::string number = std::to_string(stage);
    const std::int64_t channels = stage == 0 ? 80 : 60;
    made.add("sincnet.norm1d." + number + ".weight", {channels});
    made.add("sincnet.norm1d." + number + ".bias", {channels});
    if (stage == 0) continue;
    made.add("sincnet.conv1d." + number + ".weight", {60, stage == 1 ? 80 : 60, 5});
    made.add("sincnet.conv1d." + number + ".bias", {60});
  }
  for (int layer = 0; layer < 4; ++layer) {
    for (const char* direction : {"", "_reverse"}) {
      const std::string end = "_l" + std::to_string(layer) + direction;
      made.add("lstm.weight_ih" + end, {512, layer == 0 ? 60 : 256});
      made.add("lstm.weight_hh" + end, {512, 128});
      made.add("lstm.bias_ih" + end, {512});
      made.add("lstm.bias_hh" + end, {512});
    }
  }
  made.add("linear.0.weight", {128, 256});
  made.add("linear.0.bias", {128});
  made.add("linear.1.weight", {128, 128});
  made.add("linear.1.bias", {128});
  made.add("classifier.weight", {7, 128});
  made.add("classifier.bias", {7});
  return made.tensors;
}

inline void write_bytes(const std::filesystem::path& file, std::span<const std::byte> bytes) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  ASSERT_TRUE(out.good()) << file;
}

inline void write_text(const std::filesystem::path& file, const std::string& text) {
  write_bytes(file, std::as_bytes(std::span(text)));
}

inline void write_checkpoint(const std::filesystem::path& file, const model::Checkpoint& tensors) {
  write_bytes(file, model::to_safetensors(tensors));
}

/// The six PLDA arrays of one seed.
inline std::map<std::string, std::string> made_plda(std::uint32_t seed) {
  std::map<std::string, std::string> files;
  for (const auto& [name, shape] : model::plda_shapes()) {
    const std::vector<float> values = numbers(base::element_count(shape), seed);
    const std::vector<std::byte> bytes = base::to_npy<float>(shape, values);
    files[name] = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  return files;
}

/// plda.npz and xvec_transform.npz in a folder.
inline void write_plda(const std::filesystem::path& folder, std::uint32_t seed) {
  std::map<std::string, std::string> files = made_plda(seed);
  write_text(
      folder / "plda.npz",
      make_zip({{"mu.npy", files["mu"]}, {"tr.npy", files["tr"]}, {"psi.npy", files["psi"]}}));
  write_text(folder / "xvec_transform.npz", make_zip({{"mean1.npy", files["mean1"]},
                                                      {"lda.npy", files["lda"]},
                                                      {"mean2.npy", files["mean2"]}}));
}

}  // namespace diarist::test
