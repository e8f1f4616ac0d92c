#include "backend/cuda/blocks/step.hpp"

#include <algorithm>
#include <cstring>

#include "backend/cuda/blocks/recurrence.hpp"
#include "backend/cuda/blocks/statistics.hpp"
#include "backend/cuda/blocks/steps.hpp"
#include "backend/cuda/check.hpp"

namespace diarist::backend::cuda::blocks {

DeviceTraits device_traits(int index) {
  DeviceTraits traits;
  traits.index = index;
  check(cudaDeviceGetAttribute(&traits.multiprocessors, cudaDevAttrMultiProcessorCount, index),
        "GPU");
  check(prepare_recurrence(index, &traits.shared_bytes), "GPU");
  return traits;
}

std::unique_ptr<Step> make_step(const model::Block& block, const NodeShapes& shapes) {
  return std::visit([&](const auto& each) { return step_of(each, shapes); }, block);
}

std::size_t Constants::add(std::span<const float> values) {
  return add_bytes(values.data(), values.size_bytes());
}

std::size_t Constants::add_bytes(const void* data, std::size_t bytes) {
  constexpr std::size_t kAlign = 64;  // floats
  const std::size_t handle = (values_.size() + kAlign - 1) / kAlign * kAlign;
  values_.resize(handle + (bytes + sizeof(float) - 1) / sizeof(float));
  if (bytes > 0) std::memcpy(values_.data() + handle, data, bytes);
  return handle;
}

void Constants::upload(int device) {
  memory_ = to_device<float>(device, values_, "weights");
  values_ = {};
}

void ProductConstants::add(Constants& constants, std::span<const float> weight, int outs, int ins,
                           int size, std::span<const float> bias_values,
                           std::span<const float> scale, std::span<const float> offset) {
  outputs = outs;
  columns = ins;
  taps = size;
  has_bias = !bias_values.empty();
  has_pre = !scale.empty();
  weights = constants.add(pack_product(weight.data(), outs, ins, size));
  bias = constants.add(bias_values);
  pre_scale = constants.add(scale);
  pre_offset = constants.add(offset);
}

ProductWeights ProductConstants::at(const Constants& constants) const {
  ProductWeights product;
  product.weights = constants.at(weights);
  if (has_bias) product.bias = constants.at(bias);
  if (has_pre) product.pre_scale = constants.at(pre_scale);
  if (has_pre) product.pre_offset = constants.at(pre_offset);
  product.outputs = outputs;
  product.columns = columns;
  product.taps = taps;
  return product;
}

void ColumnNorm::hide(std::vector<Hidden>& hidden) const {
  const int columns = columns_;
  // Of the output's rows, or of the input's where those are normed; whichever are more.
  hidden.push_back({slice_floats(columns), [columns](std::int64_t in, std::int64_t out) {
                      return slice_count(std::max(in, out), columns);
                    }});
  hidden.push_back({4 * columns, [](std::int64_t, std::int64_t) { return 1; }});
}

void ColumnNorm::add(Constants& constants, const model::InstanceNorm& norm) {
  weight_ = constants.add(norm.weight.values());
  bias_ = constants.add(norm.bias.values());
}

cudaError_t ColumnNorm::run(const Constants& constants, const StepCall& call, const Argument& rows,
                            std::span<const Argument> hidden, float slope) const {
  DIARIST_LAUNCH(launch_moments({rows.in(), hidden[0].out(), columns_}, call.items, rows.longest,
                                call.stream));
  FinishArgs finish;
  finish.rows = rows.in();
  finish.slices = hidden[0].in();
  finish.columns = columns_;
  finish.table = hidden[1].out();
  finish.weight = constants.at(weight_);
  finish.bias = constants.at(bias_);
  DIARIST_LAUNCH(launch_finish(finish, call.items, call.stream));
  return launch_normalize({rows.out(), hidden[1].in(), columns_, slope}, call.items, rows.longest,
                          call.stream);
}

cudaError_t ColumnNorm::centre(const StepCall& call, const Argument& rows,
                               std::span<const Argument> hidden) const {
  DIARIST_LAUNCH(launch_moments({rows.in(), hidden[0].out(), columns_}, call.items, rows.longest,
                                call.stream));
  FinishArgs finish;
  finish.rows = rows.in();
  finish.slices = hidden[0].in();
  finish.columns = columns_;
  finish.table = hidden[1].out();
  return launch_finish(finish, call.items, call.stream);
}

}  // namespace diarist::backend::cuda::blocks
