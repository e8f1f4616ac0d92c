#pragma once
// Vectors of the turn check from one snapshot of a stream to the next.

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "pipeline/finish.hpp"

namespace diarist::pipeline {

/// A piece's vector depends on its rows alone, and most pieces of a recording are those that the
/// snapshot before had: only the others are embedded. Safe to use from many threads.
class PieceMemory {
 public:
  using Piece = std::pair<std::int64_t, std::int64_t>;  // first row, rows

  /// Vectors [pieces, dim], by `embed` where they are not known. Those of pieces that end within
  /// `settled` rows, which will never change, are known from now on; others that were known and are
  /// not among them are forgotten.
  std::vector<float> run(std::span<const Piece> pieces, std::int64_t settled, std::size_t dim,
                         const EmbedPieces& embed);

 private:
  std::mutex mutex_;
  std::map<Piece, std::vector<float>> known_;
};

/// A memory at a moment when `rows` rows will never change.
struct SettledPieces {
  PieceMemory& memory;
  std::int64_t rows = 0;

  std::vector<float> run(std::span<const PieceMemory::Piece> pieces, int dim,
                         const EmbedPieces& embed) const {
    return memory.run(pieces, rows, static_cast<std::size_t>(dim), embed);
  }
};

}  // namespace diarist::pipeline
