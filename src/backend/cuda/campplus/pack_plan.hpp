#pragma once
// Which items of a run lie together on one time axis, and where. Pure arithmetic, no CUDA.

#include <cstdint>
#include <span>
#include <vector>

#include "backend/cuda/kernels/campplus/layout.hpp"

namespace diarist::backend::cuda::campplus {

/// Rows [first_row, first_row + rows) hold whole items: the maps of the head are made slab by slab.
struct Slab {
  int first_row = 0, rows = 0;
};

/// One pack. The vectors keep their memory from plan to plan.
struct PackPlan {
  int first_item = 0;  // of the run; items.size() of them follow
  std::vector<PackItem> items;
  std::vector<PackSegment> segments;
  std::vector<PackTile> tiles;
  std::vector<Slab> slabs;
  int rows = 0;  // a multiple of 32
};

/// Rows that an item takes up.
int rows_taken(int length) noexcept;

/// Tiles of the dense layers that a pack of so many rows has.
int tiles_of_pack(int rows) noexcept;

/// Rows of a pack that holds `items` items of `length` rows.
std::int64_t rows_of_pack(std::int64_t items, std::int64_t length) noexcept;

/// Most rows of a slab.
int slab_room(int slab, std::int64_t longest) noexcept;

/// Cuts a run into as few packs as hold it, of about equal size: takes items from `first` on.
class PackPlanner {
 public:
  /// \param capacity rows of a pack, at least rows_of_pack(1, longest item).
  /// \param slab rows that a slab should have; it may have those of one item more (slab_room()).
  PackPlanner(int capacity, int slab) : capacity_(capacity), slab_(slab) {}

  /// Fills `plan` with the items from `first` on that make up the next pack.
  /// \param target rows that the pack should reach (balanced_rows()).
  void next(std::span<const std::int32_t> lengths, int first, int target, PackPlan& plan) const;

  /// Rows per pack when the run is spread evenly over the fewest packs.
  int balanced_rows(std::span<const std::int32_t> lengths) const noexcept;

 private:
  void add_slabs(PackPlan& plan, int rows) const;

  int capacity_, slab_;
};

}  // namespace diarist::backend::cuda::campplus
