#include "timeline/turn_check.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace diarist::timeline {
namespace {

constexpr int kLeastFrames = 30;         // 0.506 s
constexpr std::int64_t kLeastRows = 40;  // 0.4 s
constexpr double kMargin = 0.1;          // difference of cosines

// Log-mel row that belongs to a frame boundary: 27/16 rows per frame.
std::int64_t row_of(std::int64_t frame) { return (27 * frame + 36) / 16; }

// Cuts the run [start, end) into pieces of at most about 3 s and adds those that are long enough.
void add_pieces(int start, int end, int column, std::int64_t rows, std::vector<Piece>& pieces) {
  const std::int64_t frames = end - start;
  const std::int64_t parts = (9 * frames + 1599) / 1600;
  for (std::int64_t i = 0; i < parts; ++i) {
    Piece piece;
    piece.from = start + static_cast<int>(frames * i / parts);
    piece.to = start + static_cast<int>(frames * (i + 1) / parts);
    piece.column = column;
    piece.first_row = row_of(piece.from);
    piece.end_row = std::min(row_of(piece.to), rows);
    if (piece.to - piece.from >= kLeastFrames && piece.end_row - piece.first_row >= kLeastRows)
      pieces.push_back(piece);
  }
}

void widen(FrameMatrix& matrix, int columns) {
  FrameMatrix wide;
  wide.frames = matrix.frames;
  wide.columns = columns;
  wide.cells.assign(static_cast<std::size_t>(matrix.frames) * static_cast<std::size_t>(columns), 0);
  for (int frame = 0; frame < matrix.frames; ++frame)
    for (int column = 0; column < matrix.columns; ++column)
      wide.at(frame, column) = std::as_const(matrix).at(frame, column);
  matrix = std::move(wide);
}

}  // namespace

std::vector<Piece> pieces_to_check(const FrameMatrix& matrix, int centroids, std::int64_t rows) {
  std::vector<Piece> pieces;
  if (centroids < 2) return pieces;
  // The only column set in a frame, or -1.
  std::vector<int> alone(static_cast<std::size_t>(matrix.frames), -1);
  for (int frame = 0; frame < matrix.frames; ++frame) {
    int set = 0;
    for (int column = 0; column < matrix.columns; ++column) {
      if (matrix.at(frame, column) == 0) continue;
      alone[static_cast<std::size_t>(frame)] = set++ == 0 ? column : -1;
    }
  }
  for (int column = 0; column < std::min(centroids, matrix.columns); ++column) {
    int start = -1;
    for (int frame = 0; frame <= matrix.frames; ++frame) {
      const bool set = frame < matrix.frames && alone[static_cast<std::size_t>(frame)] == column;
      if (set && start < 0) start = frame;
      if (set || start < 0) continue;
      add_pieces(start, frame, column, rows, pieces);
      start = -1;
    }
  }
  return pieces;
}

int preferred_column(std::span<const float> embedding, std::span<const double> centroids,
                     int column) {
  const std::size_t dim = embedding.size();
  const std::size_t count = dim == 0 ? 0 : centroids.size() / dim;
  if (count * dim != centroids.size() || column < 0 || static_cast<std::size_t>(column) >= count)
    base::fail(ErrorCode::kInvalidArgument, "column {} with {} centroid values of {} dimensions",
               column, centroids.size(), dim);
  double square = 0;
  for (const float value : embedding) square += static_cast<double>(value) * value;
  const double norm = std::sqrt(square);
  const auto cosine = [&](std::size_t k) {
    double sum = 0;
    for (std::size_t d = 0; d < dim; ++d) sum += embedding[d] / norm * centroids[k * dim + d];
    return sum;
  };
  std::size_t best = 0;
  double best_cosine = cosine(0);
  for (std::size_t k = 1; k < count; ++k) {
    const double value = cosine(k);
    if (value > best_cosine) {
      best = k;
      best_cosine = value;
    }
  }
  const bool clear = best_cosine - cosine(static_cast<std::size_t>(column)) > kMargin;
  return clear ? static_cast<int>(best) : column;
}

void apply_moves(FrameMatrix& matrix, std::span<const Move> moves) {
  int columns = matrix.columns;
  for (const Move& move : moves) {
    if (move.from < 0 || move.to > matrix.frames || move.old_column < 0 || move.new_column < 0)
      base::fail(ErrorCode::kInvalidArgument, "a move of frames {} to {} in a matrix of {} frames",
                 move.from, move.to, matrix.frames);
    columns = std::max({columns, move.old_column + 1, move.new_column + 1});
  }
  if (columns > matrix.columns) widen(matrix, columns);
  for (const Move& move : moves) {
    for (int frame = move.from; frame < move.to; ++frame) {
      if (matrix.at(frame, move.old_column) == 0) continue;
      matrix.at(frame, move.old_column) = 0;
      matrix.at(frame, move.new_column) = 1;
    }
  }
}

}  // namespace diarist::timeline
