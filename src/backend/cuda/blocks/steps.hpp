#pragma once
// The steps of all blocks, for step.cpp.

#include "backend/cuda/blocks/product.hpp"
#include "backend/cuda/blocks/step.hpp"

namespace diarist::backend::cuda::blocks {

using StepPtr = std::unique_ptr<Step>;

// signal_steps.cpp
StepPtr step_of(const model::LogMel& block, const NodeShapes& shapes);
StepPtr step_of(const model::SincConvolution& block, const NodeShapes& shapes);
StepPtr step_of(const model::SincPool& block, const NodeShapes& shapes);
// row_steps.cpp
StepPtr step_of(const model::Conv1d& block, const NodeShapes& shapes);
StepPtr step_of(const model::Dense& block, const NodeShapes& shapes);
StepPtr step_of(const model::LogSoftmax& block, const NodeShapes& shapes);
StepPtr step_of(const model::PowersetDecision& block, const NodeShapes& shapes);
StepPtr step_of(const model::EmbeddingMasks& block, const NodeShapes& shapes);
StepPtr step_of(const model::GatherRows& block, const NodeShapes& shapes);
// sequence_steps.cpp
StepPtr step_of(const model::BiLstm& block, const NodeShapes& shapes);
StepPtr step_of(const model::DenseTdnnBlock& block, const NodeShapes& shapes);
// map_steps.cpp
StepPtr step_of(const model::Stem& block, const NodeShapes& shapes);
StepPtr step_of(const model::Conv2d& block, const NodeShapes& shapes);
StepPtr step_of(const model::MapToRows& block, const NodeShapes& shapes);
StepPtr step_of(const model::MaskedStatsHead& block, const NodeShapes& shapes);
StepPtr step_of(const model::StatsHead& block, const NodeShapes& shapes);

/// Weights of a product among a step's constants.
struct ProductConstants {
  /// weight: [outputs][columns][taps]. The optional tensors may be empty.
  void add(Constants& constants, std::span<const float> weight, int outputs, int columns, int taps,
           std::span<const float> bias, std::span<const float> pre_scale = {},
           std::span<const float> pre_offset = {});
  ProductWeights at(const Constants& constants) const;

  std::size_t weights = 0, bias = 0, pre_scale = 0, pre_offset = 0;
  int outputs = 0, columns = 0, taps = 1;
  bool has_bias = false, has_pre = false;
};

/// Statistics of columns and the norm made of them, with what they need for themselves.
class ColumnNorm {
 public:
  explicit ColumnNorm(int columns) : columns_(columns) {}
  /// Two arrays: slices and table.
  void hide(std::vector<Hidden>& hidden) const;
  void add(Constants& constants, const model::InstanceNorm& norm);
  /// Norm and activation of rows, in place. \param hidden the two arrays.
  cudaError_t run(const Constants& constants, const StepCall& call, const Argument& rows,
                  std::span<const Argument> hidden, float slope) const;
  /// Slices and a table that only removes the mean; nothing is applied.
  cudaError_t centre(const StepCall& call, const Argument& rows,
                     std::span<const Argument> hidden) const;

 private:
  int columns_;
  std::size_t weight_ = 0, bias_ = 0;
};

inline float slope_of(model::Activation activation) {
  if (activation == model::Activation::kNone) return 1.0F;
  return activation == model::Activation::kRelu ? 0.0F : 0.01F;
}

inline int dim(const model::Value& value, std::size_t axis) {
  return static_cast<int>(value.shape.at(axis));
}
inline int dim(const base::TensorF& tensor, std::size_t axis) {
  return static_cast<int>(tensor.dim(axis));
}

}  // namespace diarist::backend::cuda::blocks

// Leaves the function with the first error of a launch.
#define DIARIST_LAUNCH(call)                              \
  do {                                                    \
    const cudaError_t launch_error = (call);              \
    if (launch_error != cudaSuccess) return launch_error; \
  } while (false)
