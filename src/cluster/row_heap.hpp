#pragma once
// The heap that decides among equal distances (tie rule T1 of pipeline.md 7).

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace diarist::cluster {

/// A binary min-heap of row numbers. Items move on strict inequality only, and of two children the
/// right one is taken only when it is strictly smaller.
/// \tparam Less called as less(a, b) on values that stand in the heap; it may add to what they know
///     of themselves.
template <typename Value, typename Less>
class RowHeap {
 public:
  /// Row i has value number i.
  RowHeap(std::vector<Value> values, Less less)
      : less_(std::move(less)),
        values_(std::move(values)),
        rows_(values_.size()),
        slots_(values_.size()),
        size_(values_.size()) {
    std::iota(rows_.begin(), rows_.end(), std::size_t{0});
    std::iota(slots_.begin(), slots_.end(), std::size_t{0});
    for (std::size_t i = size_ / 2; i > 0; --i) sink(i - 1);
  }

  /// Rows that left are no longer spoken of; row r becomes numbers[r], and their order stays.
  void renumber(std::span<const std::uint32_t> numbers) {
    for (std::size_t slot = 0; slot < size_; ++slot) {
      rows_[slot] = numbers[rows_[slot]];
      slots_[rows_[slot]] = slot;
    }
  }

  std::size_t top_row() const { return rows_[0]; }
  Value& top_value() { return values_[0]; }
  Value& value(std::size_t row) { return values_[slots_[row]]; }

  void remove_top() {
    swap_slots(0, --size_);
    sink(0);
  }

  void change(std::size_t row, Value value) {
    const std::size_t slot = slots_[row];
    std::swap(values_[slot], value);
    if (less_(values_[slot], value))
      rise(slot);
    else
      sink(slot);
  }

 private:
  void swap_slots(std::size_t a, std::size_t b) {
    std::swap(values_[a], values_[b]);
    std::swap(rows_[a], rows_[b]);
    slots_[rows_[a]] = a;
    slots_[rows_[b]] = b;
  }

  void rise(std::size_t slot) {
    for (; slot > 0 && less_(values_[slot], values_[(slot - 1) / 2]); slot = (slot - 1) / 2)
      swap_slots(slot, (slot - 1) / 2);
  }

  void sink(std::size_t slot) {
    for (;;) {
      std::size_t child = 2 * slot + 1;
      if (child >= size_) return;
      if (child + 1 < size_ && less_(values_[child + 1], values_[child])) ++child;
      if (!less_(values_[child], values_[slot])) return;
      swap_slots(slot, child);
      slot = child;
    }
  }

  Less less_;
  std::vector<Value> values_;       // by slot
  std::vector<std::size_t> rows_;   // by slot
  std::vector<std::size_t> slots_;  // by row
  std::size_t size_ = 0;
};

}  // namespace diarist::cluster
