#pragma once
// Where the items of a run lie: in the caller's buffers and in the workspace.

#include <span>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/blocks/plan.hpp"

namespace diarist::backend::cuda::blocks {

/// Fills the table that the kernels read. Allocates at construction only.
class ItemPlaces {
 public:
  /// Graph and plan must outlive it.
  ItemPlaces(const model::Graph& graph, const Plan& plan, int max_items, std::int64_t max_length);

  bool ragged() const noexcept { return ragged_; }
  /// Rows of the table: one per array of the plan, then one per copied output.
  std::size_t rows() const noexcept { return plan_.arrays.size() + plan_.copies.size(); }
  /// \throws Error kInternal when a run's arguments don't fit the graph.
  void check(const Run& run) const;
  /// table: [rows()][run.items]. \throws Error kInternal when an item leaves its buffer.
  void fill(const Run& run, Place* table);
  /// First items of the parts that fit the workspace, then the number of items; of the last fill().
  std::span<const int> parts() const noexcept { return parts_; }

 private:
  const model::Value& value(model::ValueId id) const;
  std::int64_t time_of(model::ValueId id) const;
  void fill_lengths(const Run& run, int item);
  /// First element of an item of a view, checked against its buffer.
  std::int64_t start_in(const View& view, model::ValueId id, int item, std::int64_t& next) const;
  void place_in_workspace(std::size_t row, std::int64_t count);

  const model::Graph& graph_;
  const Plan& plan_;
  int max_items_;
  std::int64_t max_length_;
  bool ragged_ = false;
  std::vector<std::int64_t> lengths_;       // of one item's values
  std::vector<std::int64_t> next_;          // by view: where its back-to-back items go on
  std::vector<std::int64_t> sizes_, used_;  // by array: of one item, of a part's earlier items
  bool full_ = false;                       // an array has no room for the item
  std::vector<int> parts_;
};

}  // namespace diarist::backend::cuda::blocks
