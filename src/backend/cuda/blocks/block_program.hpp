#pragma once
// Any graph in FP32, block by block: what runs where no tuned program serves.

#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/blocks/item_places.hpp"
#include "backend/cuda/blocks/plan.hpp"
#include "backend/cuda/pinned_pool.hpp"

namespace diarist::backend::cuda {

/// The items of a batch run together, node by node, or in parts where their workspace would be
/// large. Where a run's items lie is uploaded as a table before its first kernel. Runs on
/// different queues wait for each other on the device.
/// A row index that is out of bounds gives a row of zeros and an error in the next settle().
class BlockProgram final : public Program {
 public:
  /// Items of a large batch share so many bytes of workspace.
  static constexpr std::size_t kWorkspaceBudget = std::size_t{1} << 30;

  /// \throws Error kInvalidArgument, kOutOfMemory.
  BlockProgram(int device, const model::Graph& graph, const CompileOptions& options,
               std::size_t budget = kWorkspaceBudget);
  ~BlockProgram() override;

  /// Returns before the work is done. \throws Error kInternal for arguments that don't fit.
  void run(Queue& queue, const Run& run) override;
  /// \throws Error kInvalidArgument when an index was out of bounds in a run since the last call.
  bool settle(Queue& queue, const Run& run) override;
  std::span<const Choice> choices() const noexcept override { return choices_; }
  std::size_t workspace_bytes() const noexcept override;

 private:
  const model::Value& value(model::ValueId id) const;
  blocks::Argument argument(model::ValueId id, const Run& run, const blocks::Place* table,
                            int first, int items) const;
  blocks::Argument placed(std::size_t row, void* base, const Run& run, const blocks::Place* table,
                          int first, int items) const;
  void run_items(const Run& run, const blocks::Place* table, int first, int items,
                 cudaStream_t stream);
  void run_copies(const Run& run, const blocks::Place* table, int first, int items,
                  cudaStream_t stream) const;

  int device_;
  model::Graph graph_;
  CompileOptions options_;
  bool gathers_ = false;
  blocks::Plan plan_;
  std::unique_ptr<blocks::ItemPlaces> places_;
  DeviceMemory workspace_;
  DeviceMemory table_;  // places [row][items of the run]; a row per array, then per copied output
  DeviceMemory fault_;  // one 64-bit word
  PinnedPool staging_;
  PinnedWords<unsigned long long> fault_copy_;               // one
  std::unique_ptr<CUevent_st, void (*)(cudaEvent_t)> done_;  // the last run's end
  std::vector<blocks::Argument> inputs_, hidden_;
  std::vector<Choice> choices_;
};

}  // namespace diarist::backend::cuda
