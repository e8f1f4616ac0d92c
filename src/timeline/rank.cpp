#include "timeline/rank.hpp"

#include <array>
#include <bit>
#include <numeric>
#include <utility>

namespace diarist::timeline {
namespace {

// An introspective sort of column numbers. Which of two equal items comes first depends on every
// step below, so none of them may be "improved": pivot choice, the size at which insertion sort
// takes over, the part that is sorted first, and the heap sort that ends a too deep recursion.
class ColumnSort {
 public:
  ColumnSort(std::span<const std::uint16_t> activations, std::span<std::int32_t> order)
      : activations_(activations), order_(order) {}

  void run() {
    std::iota(order_.begin(), order_.end(), 0);
    if (order_.size() < 2) return;
    int low = 0;
    int high = static_cast<int>(order_.size()) - 1;
    int depth = 2 * (std::bit_width(order_.size()) - 1);
    std::array<Part, 64> waiting;  // the larger part waits, so the depth is at most log2(size)
    std::size_t count = 0;
    for (;;) {
      const bool too_deep = depth < 0;  // looked at once per part, not per cut
      while (!too_deep && high - low > kSmall) {
        const int middle = partition(low, high);
        --depth;
        if (middle - low < high - middle) {
          waiting[count++] = {middle + 1, high, depth};
          high = middle - 1;
        } else {
          waiting[count++] = {low, middle - 1, depth};
          low = middle + 1;
        }
      }
      if (too_deep)
        heap_sort(low, high);
      else
        insertion_sort(low, high);
      if (count == 0) return;
      const Part& next = waiting[--count];
      low = next.low;
      high = next.high;
      depth = next.depth;
    }
  }

 private:
  static constexpr int kSmall = 15;
  struct Part {
    int low, high, depth;
  };

  std::int32_t& at(int i) { return order_[static_cast<std::size_t>(i)]; }
  // Decreasing activation: the column with more comes before.
  bool before(std::int32_t a, std::int32_t b) const {
    return activations_[static_cast<std::size_t>(a)] > activations_[static_cast<std::size_t>(b)];
  }

  int partition(int low, int high) {
    const int middle = low + ((high - low) >> 1);
    if (before(at(middle), at(low))) std::swap(at(middle), at(low));
    if (before(at(high), at(middle))) std::swap(at(high), at(middle));
    if (before(at(middle), at(low))) std::swap(at(middle), at(low));
    const std::int32_t pivot = at(middle);
    int i = low;
    int j = high - 1;
    std::swap(at(middle), at(j));
    for (;;) {
      do ++i;
      while (before(at(i), pivot));
      do --j;
      while (before(pivot, at(j)));
      if (i >= j) break;
      std::swap(at(i), at(j));
    }
    std::swap(at(i), at(high - 1));
    return i;
  }

  void insertion_sort(int low, int high) {
    for (int i = low + 1; i <= high; ++i) {
      const std::int32_t item = at(i);
      int j = i;
      for (; j > low && before(item, at(j - 1)); --j) at(j) = at(j - 1);
      at(j) = item;
    }
  }

  // Items low .. low+size-1 form a heap whose root comes last; slots count from 1.
  void sink(int low, int slot, int size, std::int32_t item) {
    for (int child = slot * 2; child <= size; child = slot * 2) {
      if (child < size && before(at(low + child - 1), at(low + child))) ++child;
      if (!before(item, at(low + child - 1))) break;
      at(low + slot - 1) = at(low + child - 1);
      slot = child;
    }
    at(low + slot - 1) = item;
  }

  void heap_sort(int low, int high) {
    int size = high - low + 1;
    for (int slot = size / 2; slot > 0; --slot) sink(low, slot, size, at(low + slot - 1));
    while (size > 1) {
      const std::int32_t item = at(low + size - 1);
      at(low + size - 1) = at(low);
      --size;
      sink(low, 1, size, item);
    }
  }

  std::span<const std::uint16_t> activations_;
  std::span<std::int32_t> order_;
};

}  // namespace

void rank_columns(std::span<const std::uint16_t> activations, std::span<std::int32_t> order) {
  ColumnSort(activations, order).run();
}

}  // namespace diarist::timeline
