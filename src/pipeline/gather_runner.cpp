#include "pipeline/gather_runner.hpp"

#include <algorithm>

#include "pipeline/row_masks.hpp"

namespace diarist::pipeline {

GatherRunner::GatherRunner(backend::Backend& backend, backend::Queue& queue,
                           const model::Graph& graph, int max_items, int row_values,
                           bool ragged_output, Precision precision, int max_rows)
    : queue_(queue),
      program_(backend.compile(
          graph, {.max_items = max_items, .max_length = max_rows, .precision = precision})),
      max_items_(max_items),
      row_values_(row_values),
      ragged_output_(ragged_output) {
  const std::size_t items = static_cast<std::size_t>(max_items);
  const std::size_t rows = ragged_output ? items * (kRowsPerWindow + 1) / 2 : items;
  indices_ = backend.allocate(items * kRowsPerWindow * sizeof(std::int32_t));
  output_ = backend.allocate(rows * static_cast<std::size_t>(row_values) * sizeof(float));
  host_output_.resize(rows * static_cast<std::size_t>(row_values));
}

void GatherRunner::run(const backend::View& features,
                       std::span<const std::vector<std::int32_t>> lists, const Sink& sink,
                       const std::stop_token& stop) {
  std::vector<std::int32_t> lengths;
  for (std::size_t first = 0; first < lists.size();) {
    const std::size_t count = std::min(lists.size() - first, static_cast<std::size_t>(max_items_));
    host_indices_.clear();
    lengths.clear();
    std::size_t values = 0;
    for (const std::vector<std::int32_t>& list : lists.subspan(first, count)) {
      host_indices_.insert(host_indices_.end(), list.begin(), list.end());
      lengths.push_back(static_cast<std::int32_t>(list.size()));
      values +=
          (ragged_output_ ? (list.size() + 1) / 2 : 1) * static_cast<std::size_t>(row_values_);
    }
    queue_.upload(*indices_, 0, std::as_bytes(std::span<const std::int32_t>(host_indices_)));
    backend::Run run;
    run.items = static_cast<int>(count);
    run.inputs = {features, {indices_.get(), 0, 0, 0}};
    run.outputs = {{output_.get(), 0, ragged_output_ ? 0 : row_values_, 0}};
    run.lengths = lengths;
    run.stop = stop;
    program_->run(queue_, run);
    queue_.download(*output_, 0, std::as_writable_bytes(std::span(host_output_).first(values)));
    queue_.wait();
    std::size_t offset = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t size = (ragged_output_ ? (lists[first + i].size() + 1) / 2 : 1) *
                               static_cast<std::size_t>(row_values_);
      sink(first + i, std::span<const float>(host_output_).subspan(offset, size));
      offset += size;
    }
    first += count;
  }
}

}  // namespace diarist::pipeline
