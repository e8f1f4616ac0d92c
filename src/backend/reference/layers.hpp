#pragma once
// One function per block of model/blocks.hpp. `out` has its final shape and is zero.

#include "backend/reference/array.hpp"
#include "model/blocks.hpp"

namespace diarist::backend::reference {

// front_end.cpp
void run_log_mel(const model::LogMel& block, const Array& samples, Array& out);
void run_sinc_convolution(const model::SincConvolution& block, const Array& samples, Array& out);
void run_sinc_pool(const model::SincPool& block, const Array& samples, const Array& raw,
                   Array& out);

// map_layers.cpp
void run_stem(const model::Stem& block, const Array& rows, Array& out);
/// \param residual may be null
void run_conv2d(const model::Conv2d& block, const Array& map, const Array* residual, Array& out);
void run_map_to_rows(const Array& map, Array& out);

// row_layers.cpp
void run_conv1d(const model::Conv1d& block, const Array& rows, Array& out);
void run_bi_lstm(const model::BiLstm& block, const Array& rows, Array& out);
void run_dense(const model::Dense& block, const Array& rows, Array& out);
void run_log_softmax(const Array& rows, Array& out);
void run_powerset_decision(const Array& rows, Array& out);
void run_embedding_masks(const Array& classes, Array& out);
/// \throws Error kInvalidArgument when an index is outside of the shared rows.
void run_gather_rows(const SharedRows& shared, const Array& indices, Array& out);

// dense_tdnn.cpp
void run_dense_tdnn_block(const model::DenseTdnnBlock& block, const Array& rows, Array& out);

// pooling.cpp
void run_masked_stats_head(const model::MaskedStatsHead& block, const Array& map,
                           const Array& masks, Array& out);
void run_stats_head(const model::StatsHead& block, const Array& rows, Array& out);

// Shared pieces (row_layers.cpp)

/// Instance norm over the rows of every column, in place.
void normalize_columns(const model::InstanceNorm& norm, Array& rows);
void activate(model::Activation activation, std::vector<double>& values);
/// Row t of the result is the largest of rows 3t, 3t+1, 3t+2; `out` has its shape.
void pool_three_rows(const Array& rows, Array& out);
/// [rows, columns] of a weight matrix as doubles [columns, rows]: products then run along rows.
std::vector<double> transposed(const model::TensorF& matrix, std::int64_t rows,
                               std::int64_t columns);

}  // namespace diarist::backend::reference
