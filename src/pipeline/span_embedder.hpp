#pragma once
// One vector per span of a recording, for either embedding network.

#include <memory>
#include <span>
#include <vector>

#include "backend/backend.hpp"
#include "diarist/run_control.hpp"
#include "pipeline/chunk_network.hpp"
#include "pipeline/gather_runner.hpp"
#include "pipeline/speech_pieces.hpp"

namespace diarist::pipeline {

/// Log-mel rows of pieces of audio, every piece zero-padded to a chunk.
class ChunkFeatures {
 public:
  /// \param graph samples[-1] -> log_mel[-1, 80].
  ChunkFeatures(backend::Backend& backend, const model::Graph& graph, int max_items);

  /// \param samples [count * 160000]. \param rows [count * 998 * 80], no mean removed.
  void run(std::span<const float> samples, std::span<float> rows, const std::stop_token& stop);

  int max_items() const noexcept { return max_items_; }

 private:
  backend::Backend& backend_;
  std::unique_ptr<backend::Queue> queue_;
  std::unique_ptr<backend::Program> program_;
  std::unique_ptr<backend::Buffer> samples_, rows_;  // as large as calls needed so far
  int max_items_;
};

/// CAM++ on pieces of any length up to a chunk.
class PieceNetwork {
 public:
  PieceNetwork(backend::Backend& backend, const model::Weights& weights, int max_items,
               Precision precision);

  /// \param rows [lengths.size() * 998 * 80]; of each chunk the first lengths[i] rows are a piece.
  /// \param vectors [lengths.size(), 192].
  void run(std::span<const float> rows, std::span<const std::int64_t> lengths,
           std::span<float> vectors, const std::stop_token& stop);

  const backend::Program& program() const noexcept { return runner_.program(); }
  std::size_t buffer_bytes() const noexcept;

 private:
  std::unique_ptr<backend::Queue> queue_;
  GatherRunner runner_;
  std::unique_ptr<backend::Buffer> rows_;
};

/// Turns the log-mel rows of chunks, each with a piece at its start, into one vector per piece.
using PieceVectors =
    std::function<void(std::span<float> rows, std::span<const std::int64_t> lengths,
                       std::span<float> vectors, const std::stop_token& stop)>;

/// \param samples the recording at 16 kHz.
/// \return [spans, dim]: averages of the pieces' vectors weighted by their rows.
std::vector<float> embed_spans(std::span<const float> samples, std::span<const TimeSpan> spans,
                               int dim, ChunkFeatures& features, const PieceVectors& vectors,
                               const RunControl& control);

/// ResNet34 on such chunks: means over the piece, masks of the piece.
void piece_vectors(ChunkNetwork& network, std::span<float> rows,
                   std::span<const std::int64_t> lengths, std::span<float> vectors,
                   const std::stop_token& stop);

}  // namespace diarist::pipeline
