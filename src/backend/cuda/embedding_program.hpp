#pragma once
// The speaker embedding (Stem, Conv2d, MaskedStatsHead) compiled for one GPU.

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/activation_store.hpp"
#include "backend/cuda/embedding_model.hpp"
#include "backend/cuda/embedding_pass.hpp"
#include "backend/cuda/pinned_pool.hpp"

namespace diarist::backend::cuda {

/// Device time of a launch.
struct LaunchTime {
  std::string layer, kernel;
  double milliseconds = 0;
};

/// Batches composed of passes of a few sizes; half precision watched over, items that left its
/// range recomputed by settle().
/// Order of death: passes (with their graphs), library, buffers, store, model.
class EmbeddingProgram final : public Program {
 public:
  /// \throws Error kUnsupported naming the node that has no kernel, kOutOfMemory.
  EmbeddingProgram(std::shared_ptr<const EmbeddingModel> model, const model::Graph& graph,
                   const CompileOptions& options);
  ~EmbeddingProgram() override;

  /// \throws Error kInvalidArgument naming the argument whose length is wrong.
  void run(Queue& queue, const Run& run) override;
  bool settle(Queue& queue, const Run& run) override;
  void recompute(Queue& queue, const Run& run, std::span<const int> items) override;
  std::span<const Choice> choices() const noexcept override { return choices_; }
  std::size_t workspace_bytes() const noexcept override;
  int plans() const noexcept override;

  const EmbeddingModel& model() const noexcept { return *model_; }
  /// Median over `repeats` eager runs of a batch that fills one pass, with events between the
  /// launches. The first row is what prepares the trunk's input.
  std::vector<LaunchTime> times(Queue& queue, const Run& run, int repeats);

  /// Largest pass for `items` items that are left: a size of 1, 2, 4, ... up to max_items. It may
  /// be larger than what is left by a third, when that is quicker than several small ones.
  static int pass_size(int items, int max_items);

 private:
  void check_arguments(const Run& run) const;
  EmbeddingPass& pass_of(int items, cudaStream_t stream);
  int size_for(int items) const;
  void run_pass(EmbeddingPass& pass, int first, int count, const Run& run, cudaStream_t stream);
  void upload_positions(const Run& run, cudaStream_t stream);

  std::shared_ptr<const EmbeddingModel> model_;
  const model::Graph graph_;  // for the FP32 program; shares the weights
  CompileOptions options_;
  ActivationStore store_;
  PassBuffers buffers_;
  std::unique_ptr<LibraryConvolutions> library_;  // where a layer needs it
  std::map<int, std::unique_ptr<EmbeddingPass>> passes_;
  std::vector<Choice> choices_;
  PinnedWords<std::uint32_t> words_;         // one per item
  PinnedPool staging_;                       // of positions
  std::unique_ptr<Program> without_halves_;  // built at the first overflow, kept
  bool reported_ = false;
};

}  // namespace diarist::backend::cuda
