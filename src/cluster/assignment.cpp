#include "cluster/assignment.hpp"

#include <limits>

#include "base/error.hpp"

namespace diarist::cluster {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

// Minimum cost, rows <= columns. Rows are inserted one after the other, each along the shortest
// augmenting path of reduced costs.
class ShortestPaths {
 public:
  ShortestPaths(const std::vector<double>& cost, std::size_t rows, std::size_t columns)
      : cost_(cost),
        rows_(rows),
        columns_(columns),
        row_potential_(rows, 0.0),
        column_potential_(columns, 0.0),
        column_of_(rows, kNone),
        row_of_(columns, kNone) {}

  std::vector<std::size_t> run() {
    for (std::size_t row = 0; row < rows_; ++row) insert(row);
    return column_of_;
  }

 private:
  void insert(std::size_t start) {
    std::vector<double> path(columns_, kInfinity);
    std::vector<std::size_t> via(columns_, kNone);
    std::vector<bool> row_seen(rows_, false), column_seen(columns_, false);
    std::vector<std::size_t> open(columns_);
    for (std::size_t i = 0; i < columns_; ++i) open[i] = columns_ - 1 - i;

    double least = 0;
    std::size_t row = start;
    std::size_t sink = kNone;
    while (sink == kNone) {
      row_seen[row] = true;
      std::size_t pick = kNone;
      double lowest = kInfinity;
      for (std::size_t i = 0; i < open.size(); ++i) {
        const std::size_t column = open[i];
        const double reduced = least + cost_[row * columns_ + column] - row_potential_[row] -
                               column_potential_[column];
        if (reduced < path[column]) {
          path[column] = reduced;
          via[column] = row;
        }
        // Of equal paths the first one wins, unless a later one ends at a free column.
        if (path[column] < lowest || (path[column] == lowest && row_of_[column] == kNone)) {
          lowest = path[column];
          pick = i;
        }
      }
      if (pick == kNone || lowest == kInfinity)
        base::fail(ErrorCode::kInternal, "assignment scores are not finite");
      least = lowest;
      const std::size_t column = open[pick];
      if (row_of_[column] == kNone)
        sink = column;
      else
        row = row_of_[column];
      column_seen[column] = true;
      open[pick] = open.back();
      open.pop_back();
    }

    row_potential_[start] += least;
    for (std::size_t i = 0; i < rows_; ++i)
      if (row_seen[i] && i != start) row_potential_[i] += least - path[column_of_[i]];
    for (std::size_t j = 0; j < columns_; ++j)
      if (column_seen[j]) column_potential_[j] -= least - path[j];

    // Flip the path from its end back to the inserted row.
    for (std::size_t column = sink;;) {
      const std::size_t i = via[column];
      row_of_[column] = i;
      std::swap(column_of_[i], column);
      if (i == start) break;
    }
  }

  const std::vector<double>& cost_;
  std::size_t rows_, columns_;
  std::vector<double> row_potential_, column_potential_;
  std::vector<std::size_t> column_of_, row_of_;
};

}  // namespace

std::vector<std::int32_t> max_assignment(std::span<const double> scores, std::size_t rows,
                                         std::size_t columns) {
  const bool flip = columns < rows;
  std::vector<double> cost(rows * columns);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c)
      cost[flip ? c * rows + r : r * columns + c] = -scores[r * columns + c];
  const std::vector<std::size_t> chosen =
      ShortestPaths(cost, flip ? columns : rows, flip ? rows : columns).run();
  std::vector<std::int32_t> assigned(rows, -1);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (flip)
      assigned[chosen[i]] = static_cast<std::int32_t>(i);
    else
      assigned[i] = static_cast<std::int32_t>(chosen[i]);
  }
  return assigned;
}

}  // namespace diarist::cluster
