#include "backend/cuda/segmentation/lstm_layer.hpp"

#include <algorithm>

#include "backend/cuda/check.hpp"
#include "backend/cuda/device_facts.hpp"
#include "backend/cuda/kernels/gate_products.hpp"
#include "backend/cuda/kernels/hopper/gate_products.hpp"
#include "backend/cuda/kernels/lstm.hpp"
#include "backend/cuda/kernels/split_half.hpp"
#include "backend/cuda/kernels/split_pack.hpp"

namespace diarist::backend::cuda {
namespace {

constexpr int kFirstClusters = 90;  // compute capability times ten

bool has_clusters(const DeviceFacts& device) { return device.architecture >= kFirstClusters; }

// Input products as the recurrence wants them: gates become exponents of two (kGateFactor).
float factor_of(int column) { return column % 4 == 2 ? 2 * kGateFactor : kGateFactor; }

bool has_warpgroups(const DeviceFacts& device) { return device.architecture == 90; }

// Rows of the largest launches: those that cost least in all, counted in rounds of tiles over the
// device. A launch costs as much as three rounds.
int best_stretch(const LstmPlan& plan, int most) {
  const int shares = std::max(1, plan.multiprocessors / 8);
  int best = most, best_cost = 0;
  for (int stretch = most; stretch >= std::max(1, most / 2); --stretch) {
    int cost = 0;
    for (int first = 0; first < plan.frames; first += stretch) {
      const int rows = std::min(stretch, plan.frames - first) * plan.windows;
      cost += 3 + ((rows + 127) / 128 + shares - 1) / shares;
    }
    if (stretch != most && cost >= best_cost) continue;
    best = stretch;
    best_cost = cost;
  }
  return best;
}

DeviceMemory upload_halves(int device, const std::vector<std::uint16_t>& halves, const char* what) {
  return to_device<std::uint16_t>(device, halves, what);
}

}  // namespace

bool has_recurrence(const DeviceFacts& device) {
  return has_clusters(device) ||
         (device.architecture >= 80 && device.shared_bytes >= kLstmSingleShared);
}

LstmPlan plan_lstm(const DeviceFacts& device, int windows, int frames, std::size_t bytes) {
  LstmPlan plan;
  plan.frames = frames;
  plan.multiprocessors = device.multiprocessors;
  plan.products = has_warpgroups(device) ? Products::kWarpgroup : Products::kWarp;
  plan.recurrence = has_clusters(device) ? Recurrence::kPair : Recurrence::kSingle;
  const int groups = (windows + kLstmGroup - 1) / kLstmGroup;
  // Four CTAs (two directions) per group while they all find a multiprocessor.
  plan.groups = plan.recurrence == Recurrence::kPair && groups * 4 > device.multiprocessors ? 2 : 1;
  plan.windows = (groups + plan.groups - 1) / plan.groups * plan.groups * kLstmGroup;
  const std::size_t step =
      std::size_t{2} * static_cast<std::size_t>(plan.windows) * kGateColumns * sizeof(float);
  const int most = std::clamp(static_cast<int>(bytes / step), 16, frames);
  plan.stretch = best_stretch(plan, most);
  return plan;
}

std::size_t product_bytes(const LstmPlan& plan) {
  return std::size_t{2} * static_cast<std::size_t>(plan.stretch) *
         static_cast<std::size_t>(plan.windows) * kGateColumns * sizeof(float);
}

std::size_t cell_bytes(const LstmPlan& plan) {
  return std::size_t{2} * static_cast<std::size_t>(plan.windows) * kLstmUnits * sizeof(float);
}

LstmRows::LstmRows(const DeviceFacts& device, const __half* data, int depth, int count)
    : data_(data), depth_(depth) {
  if (has_warpgroups(device))
    check(hopper::map_split_rows(&map_, data, depth, count), "LSTM input products");
}

LstmLayer::LstmLayer(int device, const model::BiLstm& block, int depth, float input_scale) {
  float input[2], recurrent[2];
  std::vector<float> scale, bias;
  const std::vector<int> order = gate_order();
  for (int direction = 0; direction < 2; ++direction) {
    input[direction] = split_scale(block.input_weight[direction].values(), kSplitPackExponent);
    recurrent[direction] =
        split_scale(block.recurrent_weight[direction].values(), kSplitPackExponent);
    unscale_[direction] = 1 / (recurrent[direction] * kStateScale);
    for (int column = 0; column < kGateColumns; ++column) {
      const auto row = static_cast<std::size_t>(order[static_cast<std::size_t>(column)]);
      scale.push_back(factor_of(column) / (input[direction] * input_scale));
      bias.push_back(factor_of(column) * block.bias[direction].values()[row]);
    }
  }
  inputs_ = upload_halves(device, pack_gate_inputs(block, depth, input), "LSTM weights");
  recurrent_ = upload_halves(device, pack_recurrent(block, recurrent), "LSTM weights");
  scale_ = to_device<float>(device, scale, "LSTM weights");
  bias_ = to_device<float>(device, bias, "LSTM weights");
  input_rows_ = LstmRows(device_facts(device), inputs_.as<__half>(), depth, 2 * kGateColumns);
}

void LstmLayer::run(const LstmPlan& plan, const LstmRows& rows, __half* states, float* products,
                    float* cells, cudaStream_t stream) const {
  GateProductArgs product;
  product.rows = rows.data();
  product.weights = inputs_.as<__half>();
  product.scale = scale_.as<float>();
  product.bias = bias_.as<float>();
  product.products = products;
  product.depth = input_rows_.depth();
  LstmArgs steps;
  steps.products = products;
  steps.weights = recurrent_.data();
  steps.rows = states;
  steps.cells = cells;
  std::copy_n(unscale_, 2, steps.unscale);
  steps.windows = plan.windows;
  steps.frames = plan.frames;
  for (int first = 0; first < plan.frames; first += plan.stretch) {
    steps.first = first;
    steps.steps = std::min(plan.stretch, plan.frames - first);
    product.count = steps.steps * plan.windows;
    product.first[0] = std::int64_t{first} * plan.windows;
    product.first[1] = std::int64_t{plan.frames - first - steps.steps} * plan.windows;
    check(plan.products == Products::kWarpgroup
              ? hopper::launch_gate_products(product, rows.map(), input_rows_.map(),
                                             plan.multiprocessors, stream)
              : launch_gate_products(product, stream),
          "LSTM input products");
    check(plan.recurrence == Recurrence::kPair ? launch_lstm_pair(steps, plan.groups, stream)
                                               : launch_lstm_single(steps, stream),
          "LSTM recurrence");
  }
}

void prepare_lstm(const DeviceFacts& device) {
  check(prepare_gate_products(), "LSTM input products");
  if (has_warpgroups(device)) check(hopper::prepare_gate_products(), "LSTM input products");
  check(has_clusters(device) ? prepare_lstm_pair() : prepare_lstm_single(), "LSTM recurrence");
}

}  // namespace diarist::backend::cuda
