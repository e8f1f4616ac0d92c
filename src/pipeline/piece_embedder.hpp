#pragma once
// Vectors of single-speaker pieces for the turn check of the open presets.

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "model/networks.hpp"
#include "pipeline/gather_runner.hpp"
#include "pipeline/recording.hpp"

namespace diarist::pipeline {

/// Uploads the rows of some pieces at a time and embeds them, on a queue of its own. Safe to use
/// from many threads; one of them works at a time.
class PieceEmbedder {
 public:
  PieceEmbedder(backend::Backend& backend, const model::Weights& weights, Precision precision);

  /// Vectors of stretches of a recording's log-mel rows, each centred on its own mean.
  /// \param pieces first row and number of rows. \return [pieces, 192].
  std::vector<float> run(const LogMelPages& rows,
                         std::span<const std::pair<std::int64_t, std::int64_t>> pieces,
                         const std::stop_token& stop);

 private:
  std::mutex mutex_;
  std::unique_ptr<backend::Queue> queue_;
  int pieces_per_run_;
  GatherRunner runner_;
  std::unique_ptr<backend::Buffer> staging_;
};

}  // namespace diarist::pipeline
