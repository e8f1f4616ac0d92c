#pragma once
// Runs a CAM++ graph over many gathered inputs of different length.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "backend/backend.hpp"
#include "pipeline/row_masks.hpp"
#include "pipeline/strip.hpp"

namespace diarist::pipeline {

/// Collects row lists and runs them in batches. The graph's inputs are a shared [*, 80] feature
/// array and a ragged list of indices; its single output has either a fixed size per item or
/// ceil(length/2) rows.
class GatherRunner {
 public:
  /// \param max_rows longest list; the workspace grows with it.
  /// \param row_values values per output row, or per item when the output is not ragged.
  GatherRunner(backend::Backend& backend, backend::Queue& queue, const model::Graph& graph,
               int max_items, int row_values, bool ragged_output, Precision precision,
               int max_rows = kRowsPerWindow);

  /// Called with each item's output, in the order of the lists.
  using Sink = std::function<void(std::size_t item, std::span<const float> values)>;

  /// \param lists indices into `features` (a shared view).
  void run(const backend::View& features, std::span<const std::vector<std::int32_t>> lists,
           const Sink& sink, const std::stop_token& stop);

  const backend::Program& program() const noexcept { return *program_; }

 private:
  backend::Queue& queue_;
  std::unique_ptr<backend::Program> program_;
  std::unique_ptr<backend::Buffer> indices_, output_;
  std::vector<std::int32_t> host_indices_;
  std::vector<float> host_output_;
  int max_items_;
  int row_values_;
  bool ragged_output_;
};

}  // namespace diarist::pipeline
