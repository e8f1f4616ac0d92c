#include "pipeline/gather_runner.hpp"

#include <algorithm>

#include "pipeline/row_masks.hpp"

namespace diarist::pipeline {

GatherRunner::GatherRunner(backend::Backend& backend, backend::Queue& queue,
                           const model::Graph& graph, int max_items, int row_values,
                           Precision precision, int max_rows)
    : queue_(queue),
      program_(backend.compile(
          graph, {.max_items = max_items, .max_length = max_rows, .precision = precision})),
      max_items_(max_items),
      row_values_(row_values) {
  const std::size_t items = static_cast<std::size_t>(max_items);
  indices_ = backend.allocate(items * static_cast<std::size_t>(max_rows) * sizeof(std::int32_t));
  output_ = backend.allocate(items * static_cast<std::size_t>(row_values) * sizeof(float));
  flags_ = backend.allocate(items * sizeof(std::uint32_t));
  queue_.upload(*flags_, 0, std::vector<std::byte>(flags_->bytes()));
}

void GatherRunner::start(Pass& pass) {
  queue_.upload(*indices_, 0, std::as_bytes(std::span<const std::int32_t>(pass.indices)));
  program_->run(queue_, pass.run);
}

GatherRunner::Passes GatherRunner::enqueue(const backend::View& features, const Lists& lists,
                                           const std::optional<backend::View>& target,
                                           const std::stop_token& stop) {
  Passes passes;
  std::int64_t rows = 0;  // of the target that are taken
  for (std::size_t first = 0; first < lists.size();) {
    const std::size_t count = std::min(lists.size() - first, static_cast<std::size_t>(max_items_));
    Pass& pass = passes.emplace_back();
    pass.run.outputs = {target ? *target : backend::View{output_.get(), 0, row_values_, 0}};
    if (target) pass.run.outputs[0].offset += rows * row_values_;
    for (const std::vector<std::int32_t>& list : std::span(lists).subspan(first, count)) {
      pass.indices.insert(pass.indices.end(), list.begin(), list.end());
      pass.lengths.push_back(static_cast<std::int32_t>(list.size()));
      rows += static_cast<std::int64_t>(list.size() + 1) / 2;
    }
    pass.flags.resize(count);
    pass.run.items = static_cast<int>(count);
    pass.run.inputs = {features, {indices_.get(), 0, 0, 0}};
    pass.run.lengths = pass.lengths;
    pass.run.stop = stop;
    pass.run.flags = {flags_.get(), 0, 1, 0};
    start(pass);
    if (!target) {
      pass.values.resize(count * static_cast<std::size_t>(row_values_));
      queue_.download(*output_, 0, std::as_writable_bytes(std::span(pass.values)));
    }
    queue_.download(*flags_, 0, std::as_writable_bytes(std::span(pass.flags)));
    first += count;
  }
  return passes;
}

bool GatherRunner::mend(Passes& passes) {
  bool changed = false;
  for (Pass& pass : passes) {
    std::vector<int> items;
    for (std::size_t i = 0; i < pass.flags.size(); ++i)
      if (pass.flags[i] != 0) items.push_back(static_cast<int>(i));
    if (items.empty()) continue;
    queue_.upload(*indices_, 0, std::as_bytes(std::span<const std::int32_t>(pass.indices)));
    program_->recompute(queue_, pass.run, items);
    changed = true;
    if (pass.values.empty()) continue;
    const std::size_t width = static_cast<std::size_t>(row_values_);
    for (const int item : items) {
      const std::size_t at = static_cast<std::size_t>(item) * width;
      queue_.download(*output_, at * sizeof(float),
                      std::as_writable_bytes(std::span(pass.values).subspan(at, width)));
    }
    queue_.wait();
  }
  return changed;
}

void GatherRunner::hand_out(const Passes& passes, const Sink& sink) const {
  const std::size_t width = static_cast<std::size_t>(row_values_);
  std::size_t item = 0;
  for (const Pass& pass : passes)
    for (std::size_t i = 0; i < pass.flags.size(); ++i, ++item)
      sink(item, std::span(pass.values).subspan(i * width, width));
}

void GatherRunner::run(const backend::View& features, const Lists& lists, const Sink& sink,
                       const std::stop_token& stop) {
  Passes passes = enqueue(features, lists, std::nullopt, stop);
  queue_.wait();
  mend(passes);
  hand_out(passes, sink);
}

}  // namespace diarist::pipeline
