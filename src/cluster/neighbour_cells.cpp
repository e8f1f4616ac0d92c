#include "cluster/neighbour_cells.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "cluster/parallel.hpp"
#include "cluster/scan_kernels.hpp"

namespace diarist::cluster {
namespace {

constexpr std::size_t kRowsPerCell = 128;   // on average, when cells are made
constexpr std::size_t kSmallestBand = 256;  // rows; every further band is as large as all before
constexpr std::size_t kRowBlock = 256;      // rows per task
constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

double square_of(std::int32_t a, std::int32_t b, std::int32_t product) {
  return static_cast<double>(std::int64_t{a} + std::int64_t{b} - 2 * std::int64_t{product});
}

}  // namespace

struct NeighbourCells::Home {
  std::uint32_t cell = 0;
  std::int32_t square = 0;
  float spoke = 0;
  std::vector<std::int32_t> products;
};

NeighbourCells::NeighbourCells(std::size_t rows, const Coder& coder)
    : coder_(&coder),
      width_(coder.width()),
      head_width_(coder.head_width()),
      cell_of_(rows, kNowhere),
      place_of_(rows) {}

std::uint32_t NeighbourCells::band_of(std::uint32_t row) const {
  return static_cast<std::uint32_t>(std::upper_bound(band_ends_.begin(), band_ends_.end(), row) -
                                    band_ends_.begin());
}

std::uint32_t NeighbourCells::first_cell(std::uint32_t band) const {
  return band == 0 ? 0 : band_cells_[band - 1];
}

// Some of the rows of every band.
void NeighbourCells::choose_centres(const std::vector<std::uint32_t>& rows,
                                    const std::vector<const std::int16_t*>& numbers) {
  std::vector<std::size_t> starts;  // of bands, from the last row backwards
  for (std::size_t size = kSmallestBand, behind = 0; behind < rows.size();
       behind += size, size = behind)
    starts.push_back(rows.size() - std::min(rows.size(), behind + size));
  std::reverse(starts.begin(), starts.end());
  starts.push_back(rows.size());
  band_ends_.clear();
  band_cells_.clear();
  centres_.clear();
  for (std::size_t band = 0; band + 1 < starts.size(); ++band) {
    const std::size_t first = starts[band], last = starts[band + 1];
    for (std::size_t i = std::min(first + kRowsPerCell / 2, last - 1); i < last; i += kRowsPerCell)
      centres_.insert(centres_.end(), numbers[i], numbers[i] + width_);
    band_cells_.push_back(static_cast<std::uint32_t>(centres_.size() / width_));
    band_ends_.push_back(last == rows.size() ? kNowhere : rows[last]);
  }
  const std::size_t cells = centres_.size() / width_;
  all_.resize(cells);
  std::iota(all_.begin(), all_.end(), 0U);
  centre_squares_.resize(cells);
  for (std::size_t cell = 0; cell < cells; ++cell)
    code_products(&centres_[cell * width_], centres_.data(), &all_[cell], 1, width_,
                  &centre_squares_[cell]);
}

// The nearest centre of the row's band.
void NeighbourCells::find_home(const std::int16_t* numbers, std::uint32_t row, Home& home) const {
  const std::uint32_t band = band_of(row), first = first_cell(band);
  home.products.resize(band_cells_[band] - first);
  code_products(numbers, centres_.data(), &all_[first], home.products.size(), width_,
                home.products.data());
  double nearest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < home.products.size(); ++i) {
    const double each = square_of(home.square, centre_squares_[first + i], home.products[i]);
    if (!(each < nearest)) continue;
    nearest = each;
    home.cell = first + static_cast<std::uint32_t>(i);
  }
  home.spoke = static_cast<float>(std::sqrt(nearest));
  home.products = {};
}

void NeighbourCells::build(const Codes* codes, base::TaskPool* pool, const std::stop_token& stop) {
  const std::vector<Cell> old = std::move(cells_);
  const std::vector<std::uint32_t> old_cells = cell_of_, old_places = place_of_;
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < cell_of_.size(); ++row)
    if (codes != nullptr || cell_of_[row] != kNowhere) rows.push_back(row);
  std::vector<Member> members(rows.size());
  std::vector<const std::int16_t*> numbers(rows.size()), heads(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i % kRowBlock == 0) base::check_stop(stop);
    const std::uint32_t row = rows[i];
    if (codes != nullptr) {
      members[i] = {row, codes->squares[row], codes->head_squares[row], codes->tails[row], 0, 0};
      numbers[i] = codes->numbers.data() + row * width_;
      heads[i] = codes->heads.data() + row * head_width_;
    } else {
      const Cell& cell = old[old_cells[row]];
      members[i] = cell.members[old_places[row]];
      numbers[i] = cell.numbers.data() + old_places[row] * width_;
      heads[i] = cell.heads.data() + old_places[row] * head_width_;
    }
  }
  choose_centres(rows, numbers);
  base::check_stop(stop);
  std::vector<Home> homes(rows.size());
  parallel_for(pool, (rows.size() + kRowBlock - 1) / kRowBlock, stop, [&](std::size_t block) {
    const std::size_t last = std::min(rows.size(), (block + 1) * kRowBlock);
    for (std::size_t i = block * kRowBlock; i < last; ++i) {
      homes[i].square = members[i].square;
      find_home(numbers[i], rows[i], homes[i]);
    }
  });
  std::vector<std::size_t> sizes(all_.size());
  for (const Home& home : homes) ++sizes[home.cell];
  cells_ = std::vector<Cell>(all_.size());
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    cells_[i].numbers.reserve(sizes[i] * width_);
    cells_[i].heads.reserve(sizes[i] * head_width_);
    cells_[i].members.reserve(sizes[i]);
  }
  count_ = 0;
  in_parts(rows.size(), stop, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      members[i].spoke = homes[i].spoke;
      add(homes[i].cell, members[i], numbers[i], heads[i]);
    }
  });
}

void NeighbourCells::add(std::size_t number, const Member& member, const std::int16_t* numbers,
                         const std::int16_t* head) {
  Cell& cell = cells_[number];
  cell_of_[member.row] = static_cast<std::uint32_t>(number);
  place_of_[member.row] = static_cast<std::uint32_t>(cell.members.size());
  cell.members.push_back(member);
  cell.numbers.insert(cell.numbers.end(), numbers, numbers + width_);
  cell.heads.insert(cell.heads.end(), head, head + head_width_);
  cell.radius = std::max(cell.radius, member.spoke);
  cell.reach = std::max(cell.reach, member.reach);
  cell.lowest = std::min(cell.lowest, member.row);
  cell.highest = std::max(cell.highest, member.row);
  ++count_;
}

void NeighbourCells::insert(const Code& code, std::uint32_t row, float reach,
                            const Scratch& measured) {
  const std::uint32_t band = band_of(row);
  const auto first = measured.centres.begin() + first_cell(band);
  const auto nearest = std::min_element(first, measured.centres.begin() + band_cells_[band]);
  add(static_cast<std::size_t>(nearest - measured.centres.begin()),
      {row, code.square, code.head_square, code.tail, *nearest, reach}, code.numbers.data(),
      code.head.data());
}

void NeighbourCells::remove(std::uint32_t row) {
  Cell& cell = cells_[cell_of_[row]];
  const std::size_t place = place_of_[row], last = cell.members.size() - 1;
  if (place != last) {
    cell.members[place] = cell.members[last];
    std::copy_n(cell.numbers.data() + last * width_, width_, cell.numbers.data() + place * width_);
    std::copy_n(cell.heads.data() + last * head_width_, head_width_,
                cell.heads.data() + place * head_width_);
    place_of_[cell.members[place].row] = static_cast<std::uint32_t>(place);
  }
  cell.members.pop_back();
  cell.numbers.resize(last * width_);
  cell.heads.resize(last * head_width_);
  cell_of_[row] = kNowhere;
  --count_;
}

void NeighbourCells::set_reach(std::uint32_t row, float reach) {
  Cell& cell = cells_[cell_of_[row]];
  cell.members[place_of_[row]].reach = reach;
  cell.reach = std::max(cell.reach, reach);
}

bool NeighbourCells::holds(std::uint32_t row) const { return cell_of_[row] != kNowhere; }

Code NeighbourCells::code(std::uint32_t row) const {
  const Cell& cell = cells_[cell_of_[row]];
  const std::size_t place = place_of_[row];
  const Member& member = cell.members[place];
  const std::int16_t* numbers = cell.numbers.data() + place * width_;
  const std::int16_t* head = cell.heads.data() + place * head_width_;
  return {{numbers, numbers + width_},
          {head, head + head_width_},
          member.square,
          member.head_square,
          member.tail};
}

void NeighbourCells::measure(const Code& code, Scratch& scratch) const {
  scratch.centres.resize(cells_.size());
  scratch.products.resize(cells_.size());
  scratch.bytes += centres_.size() * sizeof(std::int16_t);
  code_products(code.numbers.data(), centres_.data(), all_.data(), cells_.size(), width_,
                scratch.products.data());
  for (std::size_t i = 0; i < cells_.size(); ++i)
    scratch.centres[i] = static_cast<float>(
        std::sqrt(square_of(code.square, centre_squares_[i], scratch.products[i])));
}

// Of the places picked leaves those whose heads and tails are within the limits of their members,
// and makes their products.
template <typename LimitOf>
void NeighbourCells::measure_members(const Code& code, const Cell& cell, const LimitOf& limit_of,
                                     Scratch& scratch) const {
  std::vector<std::uint32_t>& places = scratch.places;
  scratch.products.resize(places.size());
  scratch.bytes += cell.members.size() * sizeof(Member);
  if (head_width_ > 0) {
    scratch.bytes += places.size() * head_width_ * sizeof(std::int16_t);
    code_products(code.head.data(), cell.heads.data(), places.data(), places.size(), head_width_,
                  scratch.products.data());
    // Limits hold for codes; the vectors themselves may be nearer, heads and tails never farther.
    // Heads within h of a limit l: squares are at most l^2 - tail^2 + 2 h l + h^2, or a little
    // more.
    const double more = 2 * coder_->error() + kRounding;
    const double head_more = 2 * coder_->head_error() + kRounding;
    std::size_t left = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Member& member = cell.members[places[i]];
      const double limit = limit_of(member) + more;
      const double tail = std::max(0.0, std::abs(double{code.tail} - member.tail) - kRounding);
      const double head = square_of(code.head_square, member.head_square, scratch.products[i]);
      const double most = (limit + head_more) * (limit + head_more) - tail * tail;
      places[left] = places[i];
      left += head <= most ? 1 : 0;  // without a jump that nobody can foresee
    }
    places.resize(left);
  }
  scratch.bytes += places.size() * width_ * sizeof(std::int16_t);
  code_products(code.numbers.data(), cell.numbers.data(), places.data(), places.size(), width_,
                scratch.products.data());
}

void NeighbourCells::nearest(const Code& code, std::uint32_t row, double gap, Scratch& scratch,
                             std::vector<std::uint32_t>& found) const {
  double limit = std::numeric_limits<double>::infinity(), limit_square = limit;
  double least = limit;
  scratch.found.clear();
  const auto scan = [&](std::uint32_t number) {
    const Cell& cell = cells_[number];
    const float to_centre = scratch.centres[number];
    scratch.places.resize(cell.members.size());
    std::size_t picked = 0;
    const float most = static_cast<float>(limit + 2 * kRounding);
    for (std::uint32_t i = 0; i < cell.members.size(); ++i) {
      const Member& member = cell.members[i];
      scratch.places[picked] = i;
      picked += static_cast<std::size_t>(member.row > row) &
                static_cast<std::size_t>(std::abs(to_centre - member.spoke) <= most);
    }
    scratch.places.resize(picked);
    measure_members(
        code, cell, [&](const Member&) { return limit; }, scratch);
    for (std::size_t i = 0; i < scratch.places.size(); ++i) {
      const Member& member = cell.members[scratch.places[i]];
      const double square = square_of(code.square, member.square, scratch.products[i]);
      if (square > limit_square) continue;
      scratch.found.emplace_back(member.row, square);
      if (!(square < least)) continue;
      least = square;
      limit = std::sqrt(least) + gap + kRounding;
      limit_square = limit * limit;
    }
  };
  // The cell with the nearest centre first: it gives a limit for the others.
  std::uint32_t best = kNowhere;
  for (std::uint32_t i = 0; i < cells_.size(); ++i)
    if (!cells_[i].members.empty() && cells_[i].highest > row &&
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
    if (i != best && !cells_[i].members.empty() && cells_[i].highest > row && !out_of_limit(i))
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
    const float to_centre = scratch.centres[number];
    if (cell.members.empty() || cell.lowest >= row ||
        to_centre - cell.radius > cell.reach + kRounding)
      continue;
    scratch.places.resize(cell.members.size());
    std::size_t picked = 0;
    float most = 0;
    constexpr float kMore = 2 * kRounding;
    for (std::uint32_t i = 0; i < cell.members.size(); ++i) {
      const Member& member = cell.members[i];
      most = std::max(most, member.reach);
      scratch.places[picked] = i;
      picked +=
          static_cast<std::size_t>(member.row < row) &
          static_cast<std::size_t>(std::abs(to_centre - member.spoke) <= member.reach + kMore);
    }
    scratch.places.resize(picked);
    cell.reach = most;
    measure_members(
        code, cell, [](const Member& member) { return double{member.reach}; }, scratch);
    for (std::size_t i = 0; i < scratch.places.size(); ++i) {
      const Member& member = cell.members[scratch.places[i]];
      const double limit = double{member.reach} + kRounding;
      if (square_of(code.square, member.square, scratch.products[i]) <= limit * limit)
        found.push_back(member.row);
    }
  }
  std::sort(found.begin(), found.end());
}

}  // namespace diarist::cluster
