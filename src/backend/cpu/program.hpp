#pragma once
// A compiled graph of the CPU backend.

#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cpu/packed_weights.hpp"
#include "backend/cpu/plan.hpp"
#include "backend/cpu/step.hpp"
#include "base/task_pool.hpp"

namespace diarist::backend::cpu {

/// Items are spread over the pool's workers; one item (or one tile of windows in an LSTM layer) is
/// computed by one worker with a fixed order of operations, so neither the number of workers nor
/// the other items of a batch change a bit of a result.
class CpuProgram final : public Program {
 public:
  /// The pool must outlive the program. `target` is Highway's bit of the instruction set; `bf16`
  /// null: all products are FP32.
  CpuProgram(const model::Graph& graph, const CompileOptions& options, base::TaskPool& pool,
             std::int64_t target, const Bf16Kernels* bf16);

  void run(Queue& queue, const Run& run) override;
  std::span<const Choice> choices() const noexcept override { return choices_; }
  std::size_t workspace_bytes() const noexcept override { return workspace_bytes_; }

 private:
  struct Operation {
    std::unique_ptr<Step> step;  // one of the two
    std::unique_ptr<TileStep> tile;
    std::vector<model::ValueId> inputs;
    model::ValueId output = -1;
  };

  /// An output that is not computed in place: a second copy of another one, or an input.
  struct Copy {
    bool from_input;
    std::size_t from;
    std::size_t to;
  };

  void make_operations(std::int64_t target, const Bf16Kernels* bf16);
  void find_copies();
  void reserve(const std::vector<std::int64_t>& longest);
  void prepare(const Run& run);
  void check(const Run& run) const;
  void run_phase(const Phase& phase, const Run& run);
  void run_item(const Phase& phase, const Run& run, std::int64_t item, int worker);
  void run_tile(int node, const Run& run, std::int64_t first, std::int64_t count, int part,
                int worker);
  void run_copies(const Run& run) const;
  void import_maps(const Run& run, std::int64_t item, int worker);
  void export_maps(model::ValueId id, const Run& run, std::int64_t item, int worker);

  const model::Value& value(model::ValueId id) const;
  /// Elements of a value of one item in the caller's order.
  std::int64_t elements(model::ValueId id, std::int64_t item) const;
  std::int64_t time_of(model::ValueId id, std::int64_t item) const;
  Argument argument(model::ValueId id, const Run& run, std::int64_t item, int worker) const;
  void* input_data(std::size_t view, const Run& run, std::int64_t item) const;
  void* output_data(std::size_t view, const Run& run, std::int64_t item) const;

  model::Graph graph_;
  CompileOptions options_;
  base::TaskPool& pool_;
  bool ragged_ = false;
  Plan plan_;
  std::vector<Operation> operations_;  // by node; empty for nodes that nobody needs
  std::vector<Copy> copies_;
  std::vector<Choice> choices_;

  // Filled by every run, sized at construction.
  std::vector<std::int64_t> lengths_;                     // [item][value]
  std::vector<std::vector<std::int64_t>> input_starts_;   // [input][item]
  std::vector<std::vector<std::int64_t>> output_starts_;  // [output][item]
  std::vector<std::vector<Argument>> arguments_;          // [worker]

  std::int64_t worker_stride_ = 0;  // floats
  std::int64_t scratch_offset_ = 0;
  Aligned<float> workers_;
  Aligned<float> items_;
  std::size_t workspace_bytes_ = 0;
};

}  // namespace diarist::backend::cpu
