#pragma once
// The graphs wespeaker_features and campplus_features compiled for one GPU.

#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/memory.hpp"

namespace diarist::backend::cuda {

/// One LogMel over ragged items. run() never waits.
class LogMelFrontEnd final : public Program {
 public:
  /// True for a graph that is one LogMel.
  static bool serves(const model::Graph& graph);

  /// \throws Error kUnsupported for other graphs.
  LogMelFrontEnd(int device, const model::Graph& graph, const CompileOptions& options);

  /// \throws Error kInvalidArgument.
  void run(Queue& queue, const Run& run) override;
  std::span<const Choice> choices() const noexcept override { return choices_; }
  std::size_t workspace_bytes() const noexcept override { return 0; }

 private:
  int device_;
  std::string name_;
  CompileOptions options_;
  float scale_ = 1;
  DeviceMemory tables_;
  std::vector<Choice> choices_;
};

}  // namespace diarist::backend::cuda
