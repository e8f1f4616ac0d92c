#pragma once
// A compiled graph of the reference backend.

#include <vector>

#include "backend/backend.hpp"
#include "backend/reference/array.hpp"
#include "base/task_pool.hpp"

namespace diarist::backend::reference {

/// Runs the nodes of a graph one after the other for every item; items in parallel. Values live in
/// slots that are used again once nobody reads them any more. Unlike other backends the layers make
/// small scratch arrays while they run: clearness is worth more here.
class ReferenceProgram final : public Program {
 public:
  /// The pool must outlive the program.
  ReferenceProgram(const model::Graph& graph, const CompileOptions& options, base::TaskPool& pool);

  void run(Queue& queue, const Run& run) override;
  std::span<const Choice> choices() const noexcept override { return choices_; }
  std::size_t workspace_bytes() const noexcept override { return workspace_bytes_; }

 private:
  /// First element of every item in a view, for graph inputs or outputs.
  using Starts = std::vector<std::vector<std::int64_t>>;
  using Lengths = std::vector<std::vector<std::int64_t>>;  // of every item's values

  void plan_slots();
  void reserve_workspace();
  void check(const Run& run) const;
  base::Shape item_shape(model::ValueId id, const std::vector<std::int64_t>& lengths) const;
  Starts starts_of(const std::vector<model::ValueId>& ids, const std::vector<View>& views,
                   const Lengths& lengths) const;
  void run_item(const Run& run, const Lengths& lengths, const Starts& from, const Starts& to,
                std::int64_t item, std::vector<Array>& slots) const;
  void run_node(const model::Node& node, const Run& run, std::vector<Array>& slots) const;
  void store(const Run& run, const Starts& to, std::int64_t item, model::ValueId id,
             const Array& array) const;
  SharedRows shared_rows(const Run& run, model::ValueId id) const;

  model::Graph graph_;
  CompileOptions options_;
  base::TaskPool& pool_;
  bool ragged_ = false;
  std::vector<int> slot_of_;  // by value; -1 for shared ones
  int slots_ = 0;
  std::vector<std::vector<Array>> workers_;  // slots of every worker
  std::vector<Choice> choices_;
  std::size_t workspace_bytes_ = 0;
};

}  // namespace diarist::backend::reference
