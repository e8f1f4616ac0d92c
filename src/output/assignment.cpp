#include "output/assignment.hpp"

#include <limits>
#include <utility>

namespace diarist::output {
namespace {

constexpr int kFree = -1;

// Solves rows <= columns. Costs are the negated weights; prices[] and dues[] are the dual
// variables of columns and rows, which keep every reduced cost >= 0.
class PathSolver {
 public:
  PathSolver(const std::vector<double>& weights, int rows, int columns)
      : weights_(weights),
        columns_(columns),
        dues_(static_cast<std::size_t>(rows), 0.0),
        prices_(static_cast<std::size_t>(columns), 0.0),
        column_of_(static_cast<std::size_t>(rows), kFree),
        row_of_(static_cast<std::size_t>(columns), kFree) {}

  std::vector<int> solve() {
    for (int row = 0; row < static_cast<int>(dues_.size()); ++row) add_row(row);
    return column_of_;
  }

 private:
  double cost(int row, int column) const {
    return -weights_[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) +
                     static_cast<std::size_t>(column)];
  }
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  // Gives `first` a column, moving other rows along the cheapest chain of changes.
  void add_row(int first) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    std::vector<double> length(at(columns_), kInfinity);
    std::vector<int> from(at(columns_), kFree);
    std::vector<int> open;  // columns not reached for good; the lowest stands last
    for (int column = columns_ - 1; column >= 0; --column) open.push_back(column);
    std::vector<int> visited_rows;
    std::vector<int> closed;

    double shortest = 0;
    int row = first;
    int sink = kFree;
    while (sink == kFree) {
      visited_rows.push_back(row);
      std::size_t best = open.size();
      double lowest = kInfinity;
      for (std::size_t i = 0; i < open.size(); ++i) {
        const int column = open[i];
        const double through = shortest + cost(row, column) - dues_[at(row)] - prices_[at(column)];
        if (through < length[at(column)]) {
          length[at(column)] = through;
          from[at(column)] = row;
        }
        const double here = length[at(column)];
        if (here < lowest || (here == lowest && row_of_[at(column)] == kFree)) {
          lowest = here;
          best = i;
        }
      }
      shortest = lowest;
      const int column = open[best];
      open[best] = open.back();
      open.pop_back();
      closed.push_back(column);
      if (row_of_[at(column)] == kFree) {
        sink = column;
      } else {
        row = row_of_[at(column)];
      }
    }

    for (const int visited : visited_rows) {
      dues_[at(visited)] +=
          visited == first ? shortest : shortest - length[at(column_of_[at(visited)])];
    }
    for (const int column : closed) prices_[at(column)] -= shortest - length[at(column)];
    for (int column = sink;;) {
      const int mover = from[at(column)];
      row_of_[at(column)] = mover;
      std::swap(column_of_[at(mover)], column);
      if (mover == first) return;
    }
  }

  const std::vector<double>& weights_;
  int columns_;
  std::vector<double> dues_;
  std::vector<double> prices_;
  std::vector<int> column_of_;
  std::vector<int> row_of_;
};

}  // namespace

std::vector<int> best_pairs(const std::vector<double>& weights, int rows, int columns) {
  if (rows <= 0 || columns <= 0) return std::vector<int>(rows > 0 ? rows : 0, kFree);
  if (rows <= columns) return PathSolver(weights, rows, columns).solve();

  std::vector<double> turned(weights.size());
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      turned[static_cast<std::size_t>(column) * static_cast<std::size_t>(rows) +
             static_cast<std::size_t>(row)] =
          weights[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
                  static_cast<std::size_t>(column)];
    }
  }
  const std::vector<int> row_of = PathSolver(turned, columns, rows).solve();
  std::vector<int> column_of(static_cast<std::size_t>(rows), kFree);
  for (int column = 0; column < columns; ++column) {
    column_of[static_cast<std::size_t>(row_of[static_cast<std::size_t>(column)])] = column;
  }
  return column_of;
}

}  // namespace diarist::output
