#pragma once
// Devices and the trunk of ResNet34 for the tests of the choice function.

#include <string>
#include <vector>

#include "backend/cuda/choice/choice.hpp"

namespace diarist::backend::cuda {

// Names, multiprocessors and opt-in shared memory as the vendor's data sheets and the CUDA
// programming guide (compute capabilities) give them.
inline const DeviceFacts kT4{"Tesla T4", 75, 40, 65536};
inline const DeviceFacts kA100{"NVIDIA A100-SXM4-80GB", 80, 108, 166912};
inline const DeviceFacts kRtx3090{"NVIDIA GeForce RTX 3090", 86, 82, 101376};
inline const DeviceFacts kRtx4090{"NVIDIA GeForce RTX 4090", 89, 128, 101376};
inline const DeviceFacts kL4{"NVIDIA L4", 89, 58, 101376};
inline const DeviceFacts kH100{"NVIDIA H100 80GB HBM3", 90, 132, 232448};
inline const DeviceFacts kH200{"NVIDIA H200", 90, 132, 232448};
inline const DeviceFacts kRtx5090{"NVIDIA GeForce RTX 5090", 120, 170, 101376};

/// The 36 convolutions in the order in which the graph runs them.
inline std::vector<ConvLayer> resnet34_trunk() {
  std::vector<ConvLayer> layers;
  int value = 1;  // 0: the features
  const auto add = [&](const std::string& name, const LayerShape& shape, int input, int residual,
                       bool relu) {
    layers.push_back({name, shape, input, residual, value, relu});
    return value++;
  };
  int map = add("resnet.conv1", {1, 32, 9, 1, 1, 80, 998}, 0, -1, true);
  const int blocks[] = {3, 4, 6, 3};
  LayerShape now{32, 32, 9, 1, 1, 80, 998};
  for (int stage = 0; stage < 4; ++stage) {
    for (int block = 0; block < blocks[stage]; ++block) {
      const std::string name =
          "resnet.layer" + std::to_string(stage + 1) + "." + std::to_string(block);
      const bool down = stage > 0 && block == 0;
      LayerShape first = now;
      if (down) {
        first.cout = now.cin * 2;
        first.stride_f = first.stride_t = 2;
      }
      const int hidden = add(name + ".conv1", first, map, -1, true);
      int residual = map;
      if (down) {
        LayerShape shortcut = first;
        shortcut.taps = 1;
        residual = add(name + ".shortcut.0", shortcut, map, -1, false);
        now = {first.cout, first.cout, 9, 1, 1, first.out_frequency(), first.out_time()};
      }
      LayerShape second = now;
      second.residual = true;
      map = add(name + ".conv2", second, hidden, residual, true);
    }
  }
  return layers;
}

/// Index of a layer of resnet34_trunk() by name.
inline std::size_t layer_index(const std::vector<ConvLayer>& layers, const std::string& name) {
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (layers[i].name == name) return i;
  return layers.size();
}

}  // namespace diarist::backend::cuda
