#include "cluster/neighbour_cells.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "cluster/parallel.hpp"
#include "cluster/scan_kernels.hpp"

namespace diarist::cluster {
namespace {

constexpr std::size_t kRowsPerCell = 64;    // on average, when cells are made
constexpr std::size_t kSmallestBand = 256;  // rows; every further band is as large as all before
constexpr std::size_t kRowBlock = 256;      // rows per task
constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

double square_of(std::int32_t a, std::int32_t b, std::int32_t product) {
  return static_cast<double>(std::int64_t{a} + std::int64_t{b} - 2 * std::int64_t{product});
}

}  // namespace

NeighbourCells::NeighbourCells(std::size_t rows, std::size_t width)
    : width_(width), cell_of_(rows, kNowhere), place_of_(rows) {}

std::uint32_t NeighbourCells::band_of(std::uint32_t row) const {
  return static_cast<std::uint32_t>(std::upper_bound(band_ends_.begin(), band_ends_.end(), row) -
                                    band_ends_.begin());
}

void NeighbourCells::build(std::span<const std::int16_t> codes, base::TaskPool* pool) {
  std::vector<Cell> old = std::move(cells_);
  std::vector<std::uint32_t> rows;
  if (codes.empty()) {
    for (std::uint32_t row = 0; row < cell_of_.size(); ++row)
      if (cell_of_[row] != kNowhere) rows.push_back(row);
  } else {
    rows.resize(cell_of_.size());
    std::iota(rows.begin(), rows.end(), 0U);
  }
  count_ = 0;
  const auto numbers_of = [&](std::uint32_t row) {
    return codes.empty() ? &old[cell_of_[row]].codes[place_of_[row] * width_]
                         : &codes[row * width_];
  };
  // Bands from the last row backwards.
  std::vector<std::size_t> starts;
  for (std::size_t size = kSmallestBand, behind = 0; behind < rows.size();
       behind += size, size = behind)
    starts.push_back(rows.size() - std::min(rows.size(), behind + size));
  std::reverse(starts.begin(), starts.end());
  starts.push_back(rows.size());
  band_ends_.clear();
  band_cells_.clear();
  cells_.clear();
  centres_.clear();
  centre_squares_.clear();
  for (std::size_t band = 0; band + 1 < starts.size(); ++band) {
    for (std::size_t i = starts[band] + kRowsPerCell / 2; i < starts[band + 1]; i += kRowsPerCell) {
      const std::int16_t* numbers = numbers_of(rows[i]);
      centres_.insert(centres_.end(), numbers, numbers + width_);
      cells_.emplace_back().band = static_cast<std::uint32_t>(band);
    }
    if (band_cells_.empty() ? cells_.empty() : cells_.size() == band_cells_.back()) {
      const std::int16_t* numbers = numbers_of(rows[starts[band]]);
      centres_.insert(centres_.end(), numbers, numbers + width_);
      cells_.emplace_back().band = static_cast<std::uint32_t>(band);
    }
    band_cells_.push_back(static_cast<std::uint32_t>(cells_.size()));
    band_ends_.push_back(band + 2 == starts.size() ? kNowhere : rows[starts[band + 1]]);
  }
  all_.resize(cells_.size());
  std::iota(all_.begin(), all_.end(), 0U);
  centre_squares_.resize(cells_.size());
  for (std::uint32_t cell = 0; cell < cells_.size(); ++cell)
    code_products(&centres_[cell * width_], centres_.data(), &cell, 1, width_,
                  &centre_squares_[cell]);

  // Every row goes to the nearest centre of its band.
  struct Home {
    std::uint32_t cell;
    std::int32_t square;
    float spoke;
  };
  std::vector<Home> homes(rows.size());
  parallel_for(pool, (rows.size() + kRowBlock - 1) / kRowBlock, [&](std::size_t block) {
    std::vector<std::int32_t> products;
    for (std::size_t i = block * kRowBlock; i < std::min(rows.size(), (block + 1) * kRowBlock);
         ++i) {
      const std::int16_t* numbers = numbers_of(rows[i]);
      const std::uint32_t band = band_of(rows[i]), zero = 0;
      const std::uint32_t first = band == 0 ? 0 : band_cells_[band - 1];
      products.resize(band_cells_[band] - first);
      code_products(numbers, centres_.data(), &all_[first], products.size(), width_,
                    products.data());
      std::int32_t square = 0;
      code_products(numbers, numbers, &zero, 1, width_, &square);
      double nearest = std::numeric_limits<double>::infinity();
      for (std::size_t j = 0; j < products.size(); ++j) {
        const double each = square_of(square, centre_squares_[first + j], products[j]);
        if (!(each < nearest)) continue;
        nearest = each;
        homes[i].cell = first + static_cast<std::uint32_t>(j);
      }
      homes[i].square = square;
      homes[i].spoke = static_cast<float>(std::sqrt(nearest));
    }
  });
  std::vector<std::size_t> sizes(cells_.size());
  for (const Home& home : homes) ++sizes[home.cell];
  for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
    cells_[cell].codes.reserve(sizes[cell] * width_);
    cells_[cell].rows.reserve(sizes[cell]);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int16_t* numbers = numbers_of(rows[i]);
    const float reach = codes.empty() ? old[cell_of_[rows[i]]].reaches[place_of_[rows[i]]] : 0.0F;
    add(homes[i].cell, numbers, homes[i].square, rows[i], reach, homes[i].spoke);
  }
}

void NeighbourCells::add(std::size_t number, const std::int16_t* numbers, std::int32_t square,
                         std::uint32_t row, float reach, float spoke) {
  Cell& cell = cells_[number];
  cell_of_[row] = static_cast<std::uint32_t>(number);
  place_of_[row] = static_cast<std::uint32_t>(cell.rows.size());
  cell.rows.push_back(row);
  cell.codes.insert(cell.codes.end(), numbers, numbers + width_);
  cell.squares.push_back(square);
  cell.spokes.push_back(spoke);
  cell.reaches.push_back(reach);
  cell.radius = std::max(cell.radius, spoke);
  cell.reach = std::max(cell.reach, reach);
  cell.lowest = std::min(cell.lowest, row);
  cell.highest = std::max(cell.highest, row);
  ++count_;
}

void NeighbourCells::insert(const Code& code, std::uint32_t row, float reach,
                            const Scratch& measured) {
  const std::uint32_t band = band_of(row), first = band == 0 ? 0 : band_cells_[band - 1];
  const auto nearest = std::min_element(measured.centres.begin() + first,
                                        measured.centres.begin() + band_cells_[band]);
  add(static_cast<std::size_t>(nearest - measured.centres.begin()), code.numbers.data(),
      code.square, row, reach, *nearest);
}

void NeighbourCells::remove(std::uint32_t row) {
  Cell& cell = cells_[cell_of_[row]];
  const std::uint32_t place = place_of_[row];
  const std::size_t last = cell.rows.size() - 1;
  cell.rows[place] = cell.rows[last];
  cell.squares[place] = cell.squares[last];
  cell.spokes[place] = cell.spokes[last];
  cell.reaches[place] = cell.reaches[last];
  if (place != last) std::copy_n(&cell.codes[last * width_], width_, &cell.codes[place * width_]);
  place_of_[cell.rows[place]] = place;
  cell.rows.pop_back();
  cell.squares.pop_back();
  cell.spokes.pop_back();
  cell.reaches.pop_back();
  cell.codes.resize(last * width_);
  cell_of_[row] = kNowhere;
  --count_;
}

void NeighbourCells::set_reach(std::uint32_t row, float reach) {
  Cell& cell = cells_[cell_of_[row]];
  cell.reaches[place_of_[row]] = reach;
  cell.reach = std::max(cell.reach, reach);
}

bool NeighbourCells::holds(std::uint32_t row) const { return cell_of_[row] != kNowhere; }

Code NeighbourCells::code(std::uint32_t row) const {
  const Cell& cell = cells_[cell_of_[row]];
  const std::int16_t* numbers = &cell.codes[place_of_[row] * width_];
  return {{numbers, numbers + width_}, cell.squares[place_of_[row]]};
}

void NeighbourCells::measure(const Code& code, Scratch& scratch) const {
  scratch.centres.resize(cells_.size());
  scratch.products.resize(cells_.size());
  code_products(code.numbers.data(), centres_.data(), all_.data(), cells_.size(), width_,
                scratch.products.data());
  for (std::size_t i = 0; i < cells_.size(); ++i)
    scratch.centres[i] = static_cast<float>(
        std::sqrt(square_of(code.square, centre_squares_[i], scratch.products[i])));
}

// Products with the places that were picked.
void NeighbourCells::distances(const Code& code, const Cell& cell, Scratch& scratch) const {
  scratch.products.resize(scratch.places.size());
  code_products(code.numbers.data(), cell.codes.data(), scratch.places.data(),
                scratch.places.size(), width_, scratch.products.data());
}

void NeighbourCells::nearest(const Code& code, std::uint32_t row, double gap, Scratch& scratch,
                             std::vector<std::uint32_t>& found) const {
  double limit = std::numeric_limits<double>::infinity(), limit_square = limit;
  double least = limit;
  scratch.found.clear();
  const auto scan = [&](std::uint32_t number) {
    const Cell& cell = cells_[number];
    const double to_centre = scratch.centres[number];
    scratch.places.clear();
    for (std::uint32_t i = 0; i < cell.rows.size(); ++i)
      if (cell.rows[i] > row && std::abs(to_centre - cell.spokes[i]) <= limit + kRounding)
        scratch.places.push_back(i);
    distances(code, cell, scratch);
    for (std::size_t i = 0; i < scratch.places.size(); ++i) {
      const std::uint32_t place = scratch.places[i];
      const double square = square_of(code.square, cell.squares[place], scratch.products[i]);
      if (square > limit_square) continue;
      scratch.found.emplace_back(cell.rows[place], square);
      if (!(square < least)) continue;
      least = square;
      limit = std::sqrt(least) + gap + kRounding;
      limit_square = limit * limit;
    }
  };
  // The cell with the nearest centre first: it gives a limit for the others.
  std::uint32_t best = kNowhere;
  for (std::uint32_t i = 0; i < cells_.size(); ++i)
    if (!cells_[i].rows.empty() && cells_[i].highest > row &&
        (best == kNowhere || scratch.centres[i] < scratch.centres[best]))
      best = i;
  found.clear();
  if (best == kNowhere) return;
  scan(best);
  const auto out_of_limit = [&](std::uint32_t i) {
    return double{scratch.centres[i]} - double{cells_[i].radius} > limit + kRounding;
  };
  std::vector<std::uint32_t>& rest = scratch.cells;
  rest.clear();
  for (std::uint32_t i = 0; i < cells_.size(); ++i)
    if (i != best && !cells_[i].rows.empty() && cells_[i].highest > row && !out_of_limit(i))
      rest.push_back(i);
  std::sort(rest.begin(), rest.end(), [&](std::uint32_t a, std::uint32_t b) {
    return scratch.centres[a] < scratch.centres[b];
  });
  for (const std::uint32_t i : rest)
    if (!out_of_limit(i)) scan(i);
  for (const auto& [each, square] : scratch.found)
    if (square <= limit_square) found.push_back(each);
  std::sort(found.begin(), found.end());
}

void NeighbourCells::within_reach(const Code& code, std::uint32_t row, Scratch& scratch,
                                  std::vector<std::uint32_t>& found) {
  found.clear();
  for (std::size_t number = 0; number < cells_.size(); ++number) {
    Cell& cell = cells_[number];
    const double to_centre = scratch.centres[number];
    if (cell.rows.empty() || cell.lowest >= row || to_centre - cell.radius > cell.reach + kRounding)
      continue;
    scratch.places.clear();
    float most = 0;
    for (std::uint32_t i = 0; i < cell.rows.size(); ++i) {
      most = std::max(most, cell.reaches[i]);
      if (cell.rows[i] < row &&
          std::abs(to_centre - cell.spokes[i]) <= double{cell.reaches[i]} + kRounding)
        scratch.places.push_back(i);
    }
    cell.reach = most;
    distances(code, cell, scratch);
    for (std::size_t i = 0; i < scratch.places.size(); ++i) {
      const std::uint32_t place = scratch.places[i];
      const double limit = double{cell.reaches[place]} + kRounding;
      if (square_of(code.square, cell.squares[place], scratch.products[i]) <= limit * limit)
        found.push_back(cell.rows[place]);
    }
  }
  std::sort(found.begin(), found.end());
}

}  // namespace diarist::cluster
