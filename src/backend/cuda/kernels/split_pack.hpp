#pragma once
// Host-side packing of matrices for the products in split halves.

#include <cstdint>
#include <span>
#include <vector>

#include "model/blocks.hpp"

namespace diarist::backend::cuda {

/// Exponent for split_scale(): the largest magnitude lies in [2^13, 2^14), so that low parts keep
/// their bits.
inline constexpr int kSplitPackExponent = 13;

/// [rows, columns] -> [rows][2*depth]: high halves of a row times `scale`, zeros up to `depth`,
/// then the low halves likewise. \param order row of the matrix by row of the result; empty: the
/// same.
std::vector<std::uint16_t> pack_split_rows(std::span<const float> matrix, int rows, int columns,
                                           int depth, float scale, std::span<const int> order = {});

/// Row of a gate matrix (four blocks of 128) by column unit*4 + gate.
std::vector<int> gate_order();

/// Input matrices of both directions for launch_gate_products: [2][512][2*depth].
std::vector<std::uint16_t> pack_gate_inputs(const model::BiLstm& lstm, int depth,
                                            const float (&scale)[2]);

/// Recurrent matrices for the recurrence: fragments [2][high, low][16 blocks of 8 units][2][8][32].
std::vector<std::uint16_t> pack_recurrent(const model::BiLstm& lstm, const float (&scale)[2]);

/// The classifier [7, 128] for launch_frame_head: fragments [8][32 lanes][high, low][2 words].
std::vector<std::uint16_t> pack_classifier(std::span<const float> matrix, float scale);

}  // namespace diarist::backend::cuda
