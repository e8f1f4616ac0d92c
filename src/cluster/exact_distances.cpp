#include "cluster/exact_distances.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_set>

#include "base/run_control.hpp"
#include "cluster/kernels.hpp"

namespace diarist::cluster {
namespace {

constexpr std::size_t kMostCells = std::size_t{1} << 18;  // of a block: 2 MB
constexpr std::size_t kMostAnswers = std::size_t{1} << 19;
constexpr std::size_t kFewCells = 4;  // not worth a tile of 64
constexpr std::uint64_t kHashFactor = 0x9E3779B97F4A7C15;
constexpr std::uint64_t kWorkOfQuestion = 256;  // the bytes that take as long, about

std::uint64_t key_of(std::int32_t later, std::int32_t earlier) {
  return static_cast<std::uint64_t>(later) << 32U | static_cast<std::uint32_t>(earlier);
}

// The sum of tile_distances() for one pair.
double plain_distance(const float* a, const float* b, std::size_t dim) {
  double sum = 0;
  for (std::size_t d = 0; d < dim; ++d) {
    const double difference = double{b[d]} - double{a[d]};
    sum += difference * difference;
  }
  return std::sqrt(sum);
}

}  // namespace

ExactDistances::ExactDistances(std::span<const float> rows, std::size_t dim, std::stop_token stop)
    : rows_(rows),
      dim_(dim),
      stop_(std::move(stop)),
      rows_count_(static_cast<std::int32_t>(rows.size() / dim)) {
  const std::size_t count = rows.size() / dim;
  sizes_.assign(count, 1);
  sizes_.reserve(2 * count);
  row_below_.reserve(2 * count);
  // By their numbers, not their bytes: there are two zeros.
  auto hash = [&](std::size_t row) {
    std::uint64_t sum = 0;
    for (const float x : rows.subspan(row * dim, dim))
      sum = (sum ^ std::bit_cast<std::uint32_t>(x + 0.0F)) * kHashFactor + (sum >> 32U);
    return static_cast<std::size_t>(sum ^ sum >> 32U);
  };
  auto equal = [&](std::size_t a, std::size_t b) {
    return std::ranges::equal(rows.subspan(a * dim, dim), rows.subspan(b * dim, dim));
  };
  std::unordered_set<std::size_t, decltype(hash), decltype(equal)> firsts(count, hash, equal);
  for (std::size_t i = 0; i < count; ++i) {
    base::check_stop(stop_);
    row_below_.push_back(static_cast<std::int32_t>(*firsts.insert(i).first));
  }
  children_.reserve(count);
  merged_.reserve(count);
}

std::int32_t ExactDistances::merge(std::int32_t left, std::int32_t right) {
  children_.emplace_back(left, right);
  const bool equal = equal_rows(left, right);
  merged_.push_back(equal ? 0 : -1);
  sizes_.push_back(size(left) + size(right));
  row_below_.push_back(equal ? row_below_[static_cast<std::size_t>(left)] : kDifferent);
  return static_cast<std::int32_t>(sizes_.size()) - 1;
}

double ExactDistances::value(std::int32_t a, std::int32_t b) {
  complete(a);
  complete(b);
  return pair(a, b);
}

// The merges at and below a node whose distance nobody asked for yet, children first.
void ExactDistances::complete(std::int32_t node) {
  std::vector<std::int32_t> unknown, stack = {node};
  while (!stack.empty()) {
    const std::int32_t each = stack.back();
    stack.pop_back();
    if (is_row(each) || merged(each) >= 0) continue;
    unknown.push_back(each);
    stack.push_back(children(each).first);
    stack.push_back(children(each).second);
  }
  std::sort(unknown.begin(), unknown.end());
  for (const std::int32_t each : unknown)
    merged(each) = pair(children(each).first, children(each).second);
}

double ExactDistances::join(std::int32_t node, double to_left, double to_right) {
  // As merged_distances() does it, operation by operation.
  const double left = size(children(node).first), right = size(children(node).second);
  const double total = left + right, distance = merged(node);
  const double shrink = (left * right * distance * distance) / total;
  const double near = left * to_left * to_left + right * to_right * to_right;
  const double square = (near - shrink) / total;
  return std::sqrt(square < 0 ? 0.0 : square);
}

// What needs no work.
std::optional<double> ExactDistances::known(std::int32_t later, std::int32_t earlier) const {
  if (equal_rows(later, earlier)) return 0;
  const auto found = answers_.find(key_of(later, earlier));
  if (found == answers_.end()) return std::nullopt;
  return found->second;
}

// The later one of two nodes came to be while the other stood there: its distance follows from
// those of its children. Without recursion, since chains are as deep as they are long.
double ExactDistances::pair(std::int32_t a, std::int32_t b) {
  struct Question {
    std::int32_t later, other;
    int answers = 0;
    double to_left = 0;
  };
  // Equal rows have equal distances, so that of the first stands for all.
  const auto question_of = [this](std::int32_t one, std::int32_t other) {
    if (is_row(one)) one = row_below_[static_cast<std::size_t>(one)];
    if (is_row(other)) other = row_below_[static_cast<std::size_t>(other)];
    return Question{std::max(one, other), std::min(one, other)};
  };
  const auto is_known = [&](std::int32_t one, std::int32_t other) {
    const Question question = question_of(one, other);
    return known(question.later, question.other).has_value();
  };
  const auto keep = [this](const Question& question, double value) {
    if (answers_.size() >= kMostAnswers) answers_.clear();
    answers_[key_of(question.later, question.other)] = value;
    return value;
  };
  std::vector<Question> open = {question_of(a, b)};
  double answer = 0;
  while (!open.empty()) {
    base::check_stop(stop_);
    work_ += kWorkOfQuestion;
    Question& question = open.back();
    if (question.answers == 0) {
      if (const auto value = known(question.later, question.other)) {
        answer = *value;
        open.pop_back();
        continue;
      }
      const std::size_t cells = static_cast<std::size_t>(size(question.later)) *
                                static_cast<std::size_t>(size(question.other));
      if (is_row(question.later) ||
          (cells <= kMostCells && !is_known(children(question.later).first, question.other) &&
           !is_known(children(question.later).second, question.other))) {
        answer = keep(question, block(question.later, question.other));
        open.pop_back();
        continue;
      }
    }
    if (question.answers == 1) question.to_left = answer;
    if (question.answers == 2) {
      answer = keep(question, join(question.later, question.to_left, answer));
      open.pop_back();
      continue;
    }
    const auto [left, right] = children(question.later);
    const std::int32_t child = question.answers++ == 0 ? left : right;
    open.push_back(question_of(child, question.other));
  }
  return answer;
}

void ExactDistances::spread(std::int32_t node, Side& side,
                            std::vector<std::pair<std::int32_t, std::size_t>>& merges,
                            std::size_t which) {
  std::vector<std::int32_t> stack = {node};
  while (!stack.empty()) {
    const std::int32_t each = stack.back();
    stack.pop_back();
    if (is_row(each)) {
      const std::uint32_t place = static_cast<std::uint32_t>(side.leaves.size());
      places_[which][static_cast<std::size_t>(each)] = place;
      side.leaves.push_back(each);
      side.live.push_back(place);
      side.at.push_back(place);
      continue;
    }
    merges.emplace_back(each, which);
    stack.push_back(children(each).first);
    stack.push_back(children(each).second);
  }
}

// All distances of the rows of one side to those of the other.
void ExactDistances::fill(const Side& a, const Side& b) {
  const std::size_t height = a.leaves.size(), width = b.leaves.size();
  cells_.resize(height * width);
  const auto row = [this](std::int32_t leaf) {
    return rows_.data() + static_cast<std::size_t>(leaf) * dim_;
  };
  if (height * width <= kFewCells) {
    work_ += height * width * dim_ * sizeof(double);
    for (std::size_t i = 0; i < height; ++i)
      for (std::size_t j = 0; j < width; ++j)
        cells_[i * width + j] = plain_distance(row(a.leaves[i]), row(b.leaves[j]), dim_);
    return;
  }
  // Tiles take an eighth of the time per pair.
  work_ += (height + kTile - 1) / kTile * ((width + kTile - 1) / kTile) * kTile * kTile * dim_;
  std::vector<double> wide(kTile * dim_), panel(dim_ * kTile);
  std::size_t packed = width;  // column in the panel; a narrow block has one for all its rows
  for (std::size_t i = 0; i < height; i += kTile) {
    TileRows left;
    for (std::size_t r = 0; r < kTile; ++r) {
      std::copy_n(row(a.leaves[std::min(i + r, height - 1)]), dim_, &wide[r * dim_]);
      left.rows[r] = &wide[r * dim_];
    }
    for (std::size_t column = 0; column < width; column += kTile) {
      for (std::size_t j = 0; j < kTile && column != packed; ++j) {
        const float* from = row(b.leaves[std::min(column + j, width - 1)]);
        for (std::size_t d = 0; d < dim_; ++d) panel[d * kTile + j] = from[d];
      }
      packed = column;
      double tile[kTile * kTile];
      tile_distances(left, panel.data(), dim_, tile);
      for (std::size_t r = 0; r < kTile && i + r < height; ++r)
        std::copy_n(tile + r * kTile, std::min(kTile, width - column),
                    &cells_[(i + r) * width + column]);
    }
  }
}

double ExactDistances::block(std::int32_t a, std::int32_t b) {
  Side sides[2];
  for (auto& places : places_) places.resize(sizes_.size());
  std::vector<std::pair<std::int32_t, std::size_t>> merges;
  spread(a, sides[0], merges, 0);
  spread(b, sides[1], merges, 1);
  fill(sides[0], sides[1]);
  work_ += sides[0].leaves.size() * sides[1].leaves.size() * 2 * sizeof(double);
  std::sort(merges.begin(), merges.end());
  const std::size_t width = sides[1].leaves.size();
  for (const auto& [node, which] : merges) {
    Side& side = sides[which];
    std::vector<std::uint32_t>& places = places_[which];
    const std::uint32_t left = places[static_cast<std::size_t>(children(node).first)];
    const std::uint32_t right = places[static_cast<std::size_t>(children(node).second)];
    const std::size_t step = which == 0 ? width : 1, across = which == 0 ? 1 : width;
    for (const std::uint32_t other : sides[1 - which].live) {
      double& cell = cells_[left * step + other * across];
      cell = join(node, cell, cells_[right * step + other * across]);
    }
    places[static_cast<std::size_t>(node)] = left;
    side.live[side.at[right]] = side.live.back();
    side.at[side.live.back()] = side.at[right];
    side.live.pop_back();
  }
  return cells_[sides[0].live[0] * width + sides[1].live[0]];
}

}  // namespace diarist::cluster
