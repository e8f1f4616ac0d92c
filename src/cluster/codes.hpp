#pragma once
// Vectors in whole numbers, for searches that must not miss anything.

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

namespace diarist::base {
class TaskPool;
}

namespace diarist::cluster {

/// A vector times a factor, rounded. The head is what it has in common with a few directions, the
/// tail the length of the rest: two vectors are at least as far apart as their heads and the
/// difference of their tails make them.
struct Code {
  std::vector<std::int16_t> numbers, head;
  std::int32_t square = 0, head_square = 0;
  float tail = 0;
};

/// Codes by row.
struct Codes {
  std::vector<std::int16_t> numbers, heads;  // [n, width], [n, head width]
  std::vector<std::int32_t> squares, head_squares;
  std::vector<float> tails;
};

/// Makes codes of vectors that are not longer than the longest row.
class Coder {
 public:
  /// \param rows [n, dim], finite, n >= 1. \param radius length of the longest.
  /// \throws Error kCancelled, as encode_all().
  Coder(std::span<const float> rows, std::size_t dim, double radius,
        const std::stop_token& stop = {});

  std::size_t width() const noexcept { return width_; }
  std::size_t head_width() const noexcept { return head_width_; }  ///< 0: no heads
  double scale() const noexcept { return scale_; }

  /// A code is not farther than this from the vector times the scale.
  double error() const noexcept { return error_; }
  double head_error() const noexcept { return head_error_; }

  void encode(const double* vector, Code& code) const;
  Codes encode_all(std::span<const float> rows, base::TaskPool* pool,
                   const std::stop_token& stop = {}) const;

 private:
  void find_directions(std::span<const float> rows, const std::stop_token& stop);

  std::size_t dim_, width_, head_width_ = 0;
  double scale_ = 1, error_ = 0, head_error_ = 0;
  std::vector<double> basis_;  // [dim, head width], orthonormal columns
};

}  // namespace diarist::cluster
