#pragma once
// Vectors of single-speaker pieces for the turn check of the open presets.

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "pipeline/gather_runner.hpp"

namespace diarist::pipeline {

/// Uploads the rows of a few pieces at a time and embeds them.
class PieceEmbedder {
 public:
  PieceEmbedder(backend::Backend& backend, backend::Queue& queue);

  /// \param runner of the whole CAM++ graph. \param rows host log-mel [*, 80].
  /// \return [pieces, 192].
  std::vector<float> run(GatherRunner& runner, std::span<const float> rows,
                         std::span<const std::pair<std::int64_t, std::int64_t>> pieces,
                         const std::stop_token& stop);

 private:
  backend::Queue& queue_;
  std::unique_ptr<backend::Buffer> staging_;
};

}  // namespace diarist::pipeline
