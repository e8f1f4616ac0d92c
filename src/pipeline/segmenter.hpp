#pragma once
// Local activity of a batch of windows.

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "backend/backend.hpp"
#include "pipeline/strip.hpp"

namespace diarist::pipeline {

class Segmenter {
 public:
  Segmenter(backend::Backend& backend, backend::Queue& queue, const model::Graph& graph,
            int max_windows, Precision precision);

  /// Writes the activity bits [windows, 589] of windows that start at `first` and lie `stride`
  /// samples apart.
  void run(const Strip& strip, std::int64_t first, std::int64_t stride, int windows,
           std::span<std::uint8_t> activity, const std::stop_token& stop);

 private:
  backend::Queue& queue_;
  std::unique_ptr<backend::Program> program_;
  std::unique_ptr<backend::Buffer> classes_;
  std::vector<std::uint8_t> host_;
};

}  // namespace diarist::pipeline
