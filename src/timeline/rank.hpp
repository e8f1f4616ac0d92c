#pragma once
// Which columns speak in a frame when activations are equal (pipeline.md 10, tie rule T3).

#include <cstddef>
#include <cstdint>
#include <span>

namespace diarist::timeline {

/// Up to this many columns, equal ones keep their order.
inline constexpr std::size_t kOrderedColumns = 16;

/// Columns by decreasing activation, equal ones in the order that the reference's unstable scalar
/// index sort gives: increasing columns for at most 16 of them, the leftovers of a median-of-three
/// quicksort beyond.
/// \param order as many values as there are activations; overwritten.
void rank_columns(std::span<const std::uint16_t> activations, std::span<std::int32_t> order);

}  // namespace diarist::timeline
