#pragma once
// One function per block that turns it into a step. Each lives in the file named after its theme.

#include "backend/cpu/step.hpp"

namespace diarist::backend::cpu {

std::unique_ptr<Step> step_of(const model::LogMel& block, const NodeShapes& shapes);
std::unique_ptr<Step> step_of(const model::SincConvolution& block, const NodeShapes& shapes);
std::unique_ptr<Step> step_of(const model::SincPool& block, const NodeShapes& shapes);
std::unique_ptr<Step> step_of(const model::Conv1d& block, const NodeShapes& shapes);
std::unique_ptr<Step> step_of(const model::Stem& block, const NodeShapes& shapes);
std::unique_ptr<Step> step_of(const model::Conv2d& block, const NodeShapes& shapes);
std::unique_ptr<Step> step_of(const model::MapToRows& block, const NodeShapes& shapes);
std::unique_ptr<Step> step_of(const model::Dense& block, const NodeShapes& shapes);
std::unique_ptr<Step> step_of(const model::LogSoftmax& block, const NodeShapes& shapes);
std::unique_ptr<Step> step_of(const model::PowersetDecision& block, const NodeShapes& shapes);
std::unique_ptr<Step> step_of(const model::EmbeddingMasks& block, const NodeShapes& shapes);
std::unique_ptr<Step> step_of(const model::DenseTdnnBlock& block, const NodeShapes& shapes);
std::unique_ptr<Step> step_of(const model::GatherRows& block, const NodeShapes& shapes);
std::unique_ptr<Step> step_of(const model::MaskedStatsHead& block, const NodeShapes& shapes);
std::unique_ptr<Step> step_of(const model::StatsHead& block, const NodeShapes& shapes);

/// 3x3 convolutions of stride 1 whose channels fill vectors.
bool suits_winograd(const model::Conv2d& block, std::int64_t target);
std::unique_ptr<Step> winograd_step_of(const model::Conv2d& block, const NodeShapes& shapes);

/// Steps whose products are bf16; shapes.bf16 is not null.
std::unique_ptr<Step> bf16_step_of(const model::Conv2d& block, const NodeShapes& shapes);
std::unique_ptr<Step> bf16_step_of(const model::Conv1d& block, const NodeShapes& shapes);
std::unique_ptr<Step> bf16_step_of(const model::Dense& block, const NodeShapes& shapes);
/// Convolutions in time with nothing but an activation behind them.
bool suits_bf16(const model::Conv1d& block);
inline constexpr int kMostBf16Taps = 16;
/// Whether products outside of dense TDNN blocks are bf16: where numbers are split, only if three
/// products cost less than one of FP32.
bool uses_bf16(const NodeShapes& shapes);
/// "bf16 AMX_BF16 32x32": the instruction and the block of outputs.
std::string bf16_name(const Bf16Kernels& kernels);
/// Numbers between rows of `columns` bf16 numbers in a strip: whole cache lines, not a multiple of
/// 1 KB, since such rows would fight for the same lines of the first-level cache.
std::int64_t bf16_stride(std::int64_t columns);

std::unique_ptr<TileStep> tile_step_of(const model::BiLstm& block, const NodeShapes& shapes);

/// "gemm 14x32": the register tile in rows and columns.
std::string gemm_name(std::int64_t target);
/// Rows between packed rows of `columns` numbers: a multiple of a cache line that is not a multiple
/// of 1 KB, since rows 4 KB apart would fight for the same lines of the first-level cache.
std::int64_t packed_stride(std::int64_t columns);

}  // namespace diarist::backend::cpu
