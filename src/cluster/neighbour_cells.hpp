#pragma once
// Where the clusters of a linkage lie: which of them may be near a point is found without looking
// at all of them.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace diarist::base {
class TaskPool;
}

namespace diarist::cluster {

/// A vector in whole numbers. Lengths of codes are those of vectors times a factor, up to an error
/// that is the same for all.
struct Code {
  std::vector<std::int16_t> numbers;  // [width]
  std::int32_t square = 0;
};

/// Codes by row number, in cells of near ones. Rows are searched by number as well: a cell holds
/// rows of one band, and there are the more bands the nearer to the last row. All distances
/// are exact but for rounding, which kRounding makes up for.
class NeighbourCells {
 public:
  /// Room for rounding in every comparison here.
  static constexpr double kRounding = 0.1;

  /// What a search needs, one per thread.
  struct Scratch {
    std::vector<float> centres;  // distances to the centres of all cells
    std::vector<std::uint32_t> cells, places;
    std::vector<std::int32_t> products;
    std::vector<std::pair<std::uint32_t, double>> found;
  };

  NeighbourCells(std::size_t rows, std::size_t width);

  /// Takes in the first rows, or all that are there once more: centres are chosen anew.
  /// \param codes of all rows, [rows, width], or empty.
  void build(std::span<const std::int16_t> codes, base::TaskPool* pool);

  /// Distances of a code to all centres, for the searches below.
  void measure(const Code& code, Scratch& scratch) const;

  /// Rows above `row` that may be the nearest one: all up to `gap` farther than the nearest.
  void nearest(const Code& code, std::uint32_t row, double gap, Scratch& scratch,
               std::vector<std::uint32_t>& found) const;

  /// Rows below `row` whose reach is at least their distance, increasing.
  void within_reach(const Code& code, std::uint32_t row, Scratch& scratch,
                    std::vector<std::uint32_t>& found);

  void insert(const Code& code, std::uint32_t row, float reach, const Scratch& measured);
  void remove(std::uint32_t row);
  void set_reach(std::uint32_t row, float reach);
  bool holds(std::uint32_t row) const;
  Code code(std::uint32_t row) const;
  std::size_t count() const noexcept { return count_; }

 private:
  struct Cell {
    std::uint32_t band = 0, lowest = 0xFFFFFFFF, highest = 0;  // rows
    float radius = 0;
    float reach = 0;  // the largest of its rows, or more
    std::vector<std::uint32_t> rows;
    std::vector<std::int16_t> codes;
    std::vector<std::int32_t> squares;
    std::vector<float> spokes;  // distances to the centre
    std::vector<float> reaches;
  };

  std::uint32_t band_of(std::uint32_t row) const;
  void add(std::size_t cell, const std::int16_t* numbers, std::int32_t square, std::uint32_t row,
           float reach, float spoke);
  void distances(const Code& code, const Cell& cell, Scratch& scratch) const;

  std::size_t width_;
  std::size_t count_ = 0;
  std::vector<std::uint32_t> band_ends_;   // one behind the last row of each
  std::vector<std::uint32_t> band_cells_;  // one behind the last cell of each
  std::vector<Cell> cells_;
  std::vector<std::int16_t> centres_;  // [cells, width]
  std::vector<std::int32_t> centre_squares_;
  std::vector<std::uint32_t> all_;                 // 0, 1, 2, ...
  std::vector<std::uint32_t> cell_of_, place_of_;  // by row
};

}  // namespace diarist::cluster
