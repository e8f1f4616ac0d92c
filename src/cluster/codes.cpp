#include "cluster/codes.hpp"

#include <algorithm>
#include <cmath>

#include "cluster/parallel.hpp"
#include "cluster/scan_kernels.hpp"

namespace diarist::cluster {
namespace {

constexpr double kCodeLength = 32000;   // of the longest row: squares stay below 2^30
constexpr std::size_t kSample = 2048;   // rows that the directions are found from
constexpr int kRounds = 3;              // of the search
constexpr double kDependent = 1e-6;     // share of a direction that must be left of it
constexpr std::size_t kRowBlock = 256;  // rows per task

std::int32_t square_of(const std::vector<std::int16_t>& numbers) {
  const std::uint32_t zero = 0;
  std::int32_t square = 0;
  code_products(numbers.data(), numbers.data(), &zero, 1, numbers.size(), &square);
  return square;
}

void round_all(const double* values, std::size_t count, double scale, std::int16_t* numbers) {
  for (std::size_t i = 0; i < count; ++i)
    numbers[i] = static_cast<std::int16_t>(std::lrint(values[i] * scale));
}

// Makes the columns of [dim, kCodeStep] orthonormal, one after the other and each twice, so that no
// rounding is left; a column that depends on those before becomes zero.
void make_orthonormal(std::vector<double>& basis, std::size_t dim) {
  std::vector<double> column(dim);
  for (std::size_t j = 0; j < kCodeStep; ++j) {
    double before = 0, after = 0;
    for (std::size_t d = 0; d < dim; ++d) column[d] = basis[d * kCodeStep + j];
    for (const double x : column) before += x * x;
    for (int pass = 0; pass < 2; ++pass) {
      std::vector<double> parts(j);
      for (std::size_t d = 0; d < dim; ++d)
        for (std::size_t i = 0; i < j; ++i) parts[i] += column[d] * basis[d * kCodeStep + i];
      after = 0;
      for (std::size_t d = 0; d < dim; ++d) {
        for (std::size_t i = 0; i < j; ++i) column[d] -= parts[i] * basis[d * kCodeStep + i];
        after += column[d] * column[d];
      }
      if (!(after > kDependent * kDependent * before)) break;
    }
    const double factor = after > kDependent * kDependent * before ? 1 / std::sqrt(after) : 0;
    for (std::size_t d = 0; d < dim; ++d) basis[d * kCodeStep + j] = column[d] * factor;
  }
}

}  // namespace

Coder::Coder(std::span<const float> rows, std::size_t dim, double radius,
             const std::stop_token& stop)
    : dim_(dim),
      width_((dim + kCodeStep - 1) / kCodeStep * kCodeStep),
      scale_(radius > 0 ? kCodeLength / radius : 1),
      error_(0.5 * std::sqrt(static_cast<double>(dim)) + 0.01) {
  if (dim < 2 * kCodeStep || !std::isfinite(scale_)) return;  // heads would save nothing
  head_width_ = kCodeStep;
  head_error_ = 0.5 * std::sqrt(static_cast<double>(head_width_)) + 0.01;
  find_directions(rows, stop);
}

// The directions in which a sample of the rows differs most, about: a few rounds of the power
// method for all of them together. Any others would be right, these leave short tails.
void Coder::find_directions(std::span<const float> rows, const std::stop_token& stop) {
  const std::size_t count = rows.size() / dim_, sample = std::min(kSample, count);
  std::vector<double> values(sample * dim_), mean(dim_);
  for (std::size_t i = 0; i < sample; ++i)
    for (std::size_t d = 0; d < dim_; ++d) {
      const double x = double{rows[i * count / sample * dim_ + d]} * scale_ / kCodeLength;
      values[i * dim_ + d] = x;
      mean[d] += x / static_cast<double>(sample);
    }
  for (std::size_t i = 0; i < values.size(); ++i) values[i] -= mean[i % dim_];
  basis_.assign(dim_ * head_width_, 0.0);
  for (std::size_t j = 0; j < std::min(head_width_, sample); ++j)
    for (std::size_t d = 0; d < dim_; ++d)
      basis_[d * head_width_ + j] = values[j * sample / std::min(head_width_, sample) * dim_ + d];
  std::vector<double> heads(head_width_);
  for (int round = 0; round < kRounds; ++round) {
    make_orthonormal(basis_, dim_);
    std::vector<double> next(basis_.size());
    for (std::size_t i = 0; i < sample; ++i) {
      base::check_stop(stop);
      const double* row = &values[i * dim_];
      head_products(row, basis_.data(), dim_, heads.data());
      for (std::size_t d = 0; d < dim_; ++d)
        for (std::size_t j = 0; j < head_width_; ++j)
          next[d * head_width_ + j] += row[d] * heads[j];
    }
    basis_ = std::move(next);
  }
  make_orthonormal(basis_, dim_);
}

void Coder::encode(const double* vector, Code& code) const {
  code.numbers.assign(width_, 0);
  round_all(vector, dim_, scale_, code.numbers.data());
  code.square = square_of(code.numbers);
  if (head_width_ == 0) return;
  double heads[kCodeStep];
  head_products(vector, basis_.data(), dim_, heads);
  code.head.resize(head_width_);
  round_all(heads, head_width_, scale_, code.head.data());
  code.head_square = square_of(code.head);
  double all = 0, head = 0;
  for (std::size_t d = 0; d < dim_; ++d) all += (vector[d] * scale_) * (vector[d] * scale_);
  for (const double x : heads) head += (x * scale_) * (x * scale_);
  code.tail = static_cast<float>(std::sqrt(std::max(0.0, all - head)));
}

Codes Coder::encode_all(std::span<const float> rows, base::TaskPool* pool,
                        const std::stop_token& stop) const {
  const std::size_t count = rows.size() / dim_;
  Codes codes;
  resize_in_parts(codes.numbers, count * width_, stop);
  resize_in_parts(codes.heads, count * head_width_, stop);
  codes.squares.resize(count);
  codes.head_squares.resize(count);
  codes.tails.resize(count);
  parallel_for(pool, (count + kRowBlock - 1) / kRowBlock, stop, [&](std::size_t block) {
    Code code;
    std::vector<double> wide(dim_);
    for (std::size_t row = block * kRowBlock; row < std::min(count, (block + 1) * kRowBlock);
         ++row) {
      const auto from = rows.subspan(row * dim_, dim_);
      std::copy(from.begin(), from.end(), wide.begin());
      encode(wide.data(), code);
      std::copy(code.numbers.begin(), code.numbers.end(), &codes.numbers[row * width_]);
      std::copy(code.head.begin(), code.head.end(),
                codes.heads.begin() + static_cast<std::ptrdiff_t>(row * head_width_));
      codes.squares[row] = code.square;
      codes.head_squares[row] = code.head_square;
      codes.tails[row] = code.tail;
    }
  });
  return codes;
}

}  // namespace diarist::cluster
