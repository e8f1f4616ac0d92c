#pragma once
// The bookkeeping of the turn check (campplus.md, preset "open", steps 9 and 10): which pieces of
// single-speaker turns are embedded on their own, and what happens to those that clearly sound like
// another speaker. Embedding the pieces is the pipeline's business.

#include <cstdint>
#include <span>
#include <vector>

#include "timeline/aggregate.hpp"

namespace diarist::timeline {

/// Frames [from, to) in which `column` is the only one set, and their log-mel rows.
struct Piece {
  int from = 0;
  int to = 0;
  int column = 0;
  std::int64_t first_row = 0;  // rows [first_row, end_row) of the recording, 100 per second
  std::int64_t end_row = 0;
};

/// Frames [from, to) go from one column to another.
struct Move {
  int from = 0;
  int to = 0;
  int old_column = 0;
  int new_column = 0;
};

/// Pieces to look at: by column, then time; pieces of at least 30 frames with at least 40 rows.
/// \param centroids number of centroids K; columns beyond K have none and are left alone. None are
///     listed when K < 2.
/// \param rows log-mel rows of the zero-padded recording: 998 + 100 * (C - 1).
std::vector<Piece> pieces_to_check(const FrameMatrix& matrix, int centroids, std::int64_t rows);

/// Column whose centroid a piece clearly prefers, or its own column: first maximum of the cosines,
/// taken when it exceeds the own cosine by more than 0.1.
/// \param embedding [D]; \param centroids [K, D] of unit length.
int preferred_column(std::span<const float> embedding, std::span<const double> centroids,
                     int column);

/// Applies moves where the old column is set: to the regular matrix, and the same list to the
/// exclusive one. Moves must have been collected on the unchanged regular matrix. A matrix gains
/// columns when a move goes to one it does not have.
void apply_moves(FrameMatrix& matrix, std::span<const Move> moves);

}  // namespace diarist::timeline
