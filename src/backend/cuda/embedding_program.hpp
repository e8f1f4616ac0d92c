#pragma once
// The speaker embedding (Stem, Conv2d, MaskedStatsHead) compiled for one GPU.

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/kernels/conv_args.hpp"
#include "backend/cuda/memory.hpp"

namespace diarist::backend::cuda {

/// Weights in kernel layout, one arena for the maps, and one fused launch per convolution.
/// exact: halves split into high and low parts, three products, FP32 accumulation.
/// fast: plain halves, FP32 accumulation. Pooling and head are FP32 in both.
class EmbeddingProgram final : public Program {
 public:
  /// \throws Error kUnsupported naming the node that has no kernel, kOutOfMemory.
  EmbeddingProgram(int device, const model::Graph& graph, const CompileOptions& options);

  /// \throws Error kInvalidArgument naming the argument whose length is wrong.
  void run(Queue& queue, const Run& run) override;
  std::span<const Choice> choices() const noexcept override { return choices_; }
  std::size_t workspace_bytes() const noexcept override { return workspace_; }

 private:
  // Where a value's map lies: a slot of the arena, and its shape.
  struct Map {
    int slot = -1;
    int channels = 0, frequency = 0, time = 0;
  };
  struct Convolution {
    int node = 0;
    ConvShape shape;
    DeviceMemory weights, bias;
    float unscale = 1;
    int input = 0, residual = -1, output = 0;  // values
    bool relu = true;
  };

  void add_stem(const model::Graph& graph, int node);
  void add_convolution(const model::Graph& graph, int node);
  void add_head(const model::Graph& graph, int node);
  void place_values(const model::Graph& graph);
  void check_arguments(const Run& run) const;
  __half* map_data(int value) const;
  void launch_trunk(int items, cudaStream_t stream) const;
  void launch_output(std::size_t index, const View& view, int items, cudaStream_t stream) const;

  int device_;
  int max_items_;
  bool split_;
  std::vector<model::Value> values_;
  std::vector<int> inputs_, outputs_;
  std::vector<Map> maps_;
  std::vector<Convolution> convolutions_;
  DeviceMemory stem_weights_, stem_bias_, means_;
  int stem_output_ = -1;
  DeviceMemory head_weights_, head_bias_, statistics_, range_;
  int head_input_ = -1, head_output_ = -1, speakers_ = 0, mask_frames_ = 0, dim_ = 0;
  std::vector<DeviceMemory> slots_;
  std::vector<Choice> choices_;
  std::size_t workspace_ = 0;
};

}  // namespace diarist::backend::cuda
