#pragma once
// Where the clusters of a linkage lie: which of them may be near a point is found without looking
// at all of them.

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <utility>
#include <vector>

#include "cluster/codes.hpp"

namespace diarist::base {
class TaskPool;
}

namespace diarist::cluster {

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
    std::uint64_t bytes = 0;  // of codes and members that were read, added up
  };

  /// \param coder must stay.
  NeighbourCells(std::size_t rows, const Coder& coder);

  /// Takes in all rows, or once more those that are there: centres are chosen anew.
  /// \param codes of all rows, or null. \throws Error kCancelled.
  void build(const Codes* codes, base::TaskPool* pool, const std::stop_token& stop = {});

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
  struct Member {
    std::uint32_t row = 0;
    std::int32_t square = 0, head_square = 0;
    float tail = 0;
    float spoke = 0;  // distance to the centre
    float reach = 0;
  };
  struct Cell {
    std::uint32_t lowest = 0xFFFFFFFF, highest = 0;  // rows
    float radius = 0;                                // the longest spoke, or more
    float reach = 0;                                 // the largest, or more
    std::vector<Member> members;
    std::vector<std::int16_t> numbers, heads;
  };
  struct Home;  // where a row is to live

  std::uint32_t band_of(std::uint32_t row) const;
  std::uint32_t first_cell(std::uint32_t band) const;
  void choose_centres(const std::vector<std::uint32_t>& rows,
                      const std::vector<const std::int16_t*>& numbers);
  void find_home(const std::int16_t* numbers, std::uint32_t row, Home& home) const;
  void add(std::size_t cell, const Member& member, const std::int16_t* numbers,
           const std::int16_t* head);
  template <typename LimitOf>
  void measure_members(const Code& code, const Cell& cell, const LimitOf& limit_of,
                       Scratch& scratch) const;

  const Coder* coder_;
  std::size_t width_, head_width_;
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
