#pragma once
// Runs a CAM++ graph over many gathered inputs of different length.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "backend/backend.hpp"
#include "pipeline/row_masks.hpp"
#include "pipeline/tape.hpp"

namespace diarist::pipeline {

/// The graph's inputs are a shared feature array and a ragged list of indices; its single output
/// has a fixed size per item, or ceil(length/2) rows that the caller has a place for.
class GatherRunner {
 public:
  using Lists = std::vector<std::vector<std::int32_t>>;

  /// What a run of the program leaves to be fetched. Its address must not change meanwhile.
  struct Pass {
    std::vector<std::int32_t> indices, lengths;
    std::vector<float> values;  // [items, row_values]; empty when the output stays on the device
    std::vector<std::uint32_t> flags;
    backend::Run run;
  };
  /// All runs of one call, in order.
  using Passes = std::deque<Pass>;

  /// \param max_rows longest list; the workspace grows with it.
  /// \param row_values values per item, or per output row when the output is ragged.
  GatherRunner(backend::Backend& backend, backend::Queue& queue, const model::Graph& graph,
               int max_items, int row_values, Precision precision, int max_rows = kRowsPerWindow);

  /// Queues runs over lists of indices into `features` (a shared view). `target`: where ragged
  /// output rows go, back to back, list after list; none: outputs come to the host.
  Passes enqueue(const backend::View& features, const Lists& lists,
                 const std::optional<backend::View>& target, const std::stop_token& stop);

  /// Called when the queue has done the passes: computes again what left the range of half
  /// precision. \return true when a target on the device was changed by that.
  bool mend(Passes& passes);

  /// Called with each item's output, in the order of the lists.
  using Sink = std::function<void(std::size_t item, std::span<const float> values)>;
  /// Hands out the values of passes that were mended.
  void hand_out(const Passes& passes, const Sink& sink) const;

  /// All of it, waiting for the queue.
  void run(const backend::View& features, const Lists& lists, const Sink& sink,
           const std::stop_token& stop);

  const backend::Program& program() const noexcept { return *program_; }

 private:
  void start(Pass& pass);

  backend::Queue& queue_;
  std::unique_ptr<backend::Program> program_;
  std::unique_ptr<backend::Buffer> indices_, output_, flags_;
  int max_items_;
  int row_values_;
};

}  // namespace diarist::pipeline
