#pragma once
// The graph sinc_front_end compiled for one GPU.

#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/front/front_kernels.hpp"
#include "backend/cuda/memory.hpp"

namespace diarist::backend::cuda {

/// One SincConvolution over ragged items. run() never waits.
class SincFrontEnd final : public Program {
 public:
  /// True for a graph that is one SincConvolution of the network's shape.
  static bool serves(const model::Graph& graph);

  /// \throws Error kUnsupported for other graphs.
  SincFrontEnd(int device, const model::Graph& graph, const CompileOptions& options,
               FrontKernels kernels = FrontKernels::kBest);

  /// \throws Error kInvalidArgument, also for rows that do not begin at multiples of 8 bytes.
  void run(Queue& queue, const Run& run) override;
  std::span<const Choice> choices() const noexcept override { return choices_; }
  std::size_t workspace_bytes() const noexcept override { return 0; }

 private:
  int device_;
  std::string name_;
  CompileOptions options_;
  int multiprocessors_ = 1;
  std::size_t shared_bytes_ = 0;
  bool hopper_ = false;
  float weight_unscale_ = 1;
  DeviceMemory weights_;
  std::vector<Choice> choices_;
};

}  // namespace diarist::backend::cuda
