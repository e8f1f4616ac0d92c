#pragma once
// CAM++ compiled for one GPU: gathered rows of many lengths to embeddings or frames.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/campplus/campplus_model.hpp"
#include "backend/cuda/campplus/campplus_pack.hpp"
#include "backend/cuda/campplus/campplus_workspace.hpp"
#include "backend/cuda/campplus/pack_plan.hpp"
#include "backend/cuda/pinned_pool.hpp"

namespace diarist::backend::cuda::campplus {

/// Compiles a graph without halves, for the items that left their range.
using MakeProgram =
    std::function<std::unique_ptr<Program>(const model::Graph&, const CompileOptions&)>;

/// Device time of a part of the network, over all packs of a run.
struct PartTime {
  std::string part;
  double milliseconds = 0;
};

/// Items of a run are laid on one time axis (layout.hpp), pack by pack. An item's bits depend
/// neither on the items around it nor on its place. Graphs without a trunk (pooling and last layer)
/// are computed in FP32 as they lie.
class CampplusProgram final : public Program {
 public:
  /// True for the graphs of campplus_parts.hpp on GPUs whose blocks may have the shared memory that
  /// the precision takes.
  static bool serves(const model::Graph& graph, const CompileOptions& options, int device);

  /// \param without_halves null: items that leave the range of halves are an error in settle() and
  /// recompute().
  /// \throws Error kUnsupported, kOutOfMemory.
  CampplusProgram(int device, const model::Graph& graph, const CompileOptions& options,
                  MakeProgram without_halves = nullptr);
  ~CampplusProgram() override;

  /// \throws Error kInvalidArgument naming the argument that is wrong.
  void run(Queue& queue, const Run& run) override;
  bool settle(Queue& queue, const Run& run) override;
  void recompute(Queue& queue, const Run& run, std::span<const int> items) override;
  std::span<const Choice> choices() const noexcept override { return choices_; }
  std::size_t workspace_bytes() const noexcept override { return workspace_.bytes(); }

  /// Median over `repeats` runs, with events between the parts.
  std::vector<PartTime> times(Queue& queue, const Run& run, int repeats);

 private:
  class PartClock;
  /// Elements where the items of a ragged value begin.
  struct Places {
    std::vector<std::int64_t> input, output;
  };

  void list_choices();
  void check_arguments(const Run& run) const;
  void check_view(const View& view, const char* name, std::int64_t elements,
                  std::int64_t item_elements, int items) const;
  void find_places(const Run& run);
  void run_all(const Run& run, cudaStream_t stream, PartClock* clock);
  void run_pack(const Run& run, PackPlan& plan, cudaStream_t stream, PartClock* clock);
  void run_statistics(const Run& run, cudaStream_t stream);
  void pool(const float* frames, const std::int32_t* indices, std::int64_t rows, const View& output,
            int first, cudaStream_t stream);
  void upload_pack(const PackPlan& plan, cudaStream_t stream);
  void upload_pool(std::span<const PoolItem> items, cudaStream_t stream);
  bool half_precision() const noexcept { return model_.has_trunk(); }

  CampplusModel model_;
  const model::Graph graph_;  // for the program without halves; shares the weights
  CompileOptions options_;
  MakeProgram make_without_halves_;
  PackLaunch launch_;
  PackLimits limits_;
  PackPlanner planner_;
  CampplusWorkspace workspace_;
  PackPlan plan_;
  Places places_;
  std::vector<PoolItem> pool_items_;
  PinnedPool staging_;
  PinnedWords<std::uint32_t> words_;  // one per item
  std::vector<Choice> choices_;
  std::unique_ptr<Program> without_halves_;  // built at the first overflow, kept
  bool reported_ = false;
};

}  // namespace diarist::backend::cuda::campplus
