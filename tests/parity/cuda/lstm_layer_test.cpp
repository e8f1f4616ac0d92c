// LSTM layers on the GPU against the double reference, and their times.

#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>

#include "../backends/graph_runner.hpp"
#include "backend/cuda/check.hpp"
#include "backend/cuda/cuda_queue.hpp"
#include "backend/cuda/device_facts.hpp"
#include "backend/cuda/kernels/gate_products.hpp"
#include "backend/cuda/kernels/hopper/gate_products.hpp"
#include "backend/cuda/kernels/lstm.hpp"
#include "backend/cuda/segmentation/lstm_layer.hpp"
#include "backend/reference/layers.hpp"
#include "gpu_needed.hpp"

namespace diarist::test {
namespace {

using namespace backend::cuda;

constexpr std::size_t kProductBytes = std::size_t{128} << 20;

model::BiLstm random_lstm(int inputs, std::uint64_t seed) {
  Random random(seed);
  model::BiLstm block;
  for (int direction = 0; direction < 2; ++direction) {
    block.input_weight[direction] = random.weight({512, inputs}, 2.0);
    block.recurrent_weight[direction] = random.weight({512, 128}, 2.0);
    block.bias[direction] = random.around({512}, 0, 0.3);
  }
  return block;
}

// Rows of `windows` windows in split halves, and what they stand for.
struct SplitRows {
  int frames, windows, depth;
  float scale;
  std::vector<std::uint16_t> halves;  // [frames][windows][2*depth]

  double value(int frame, int window, int column) const {
    const std::size_t at = (static_cast<std::size_t>(frame) * static_cast<std::size_t>(windows) +
                            static_cast<std::size_t>(window)) *
                           static_cast<std::size_t>(2 * depth);
    const auto part = [&](int i) {
      __half half;
      std::memcpy(static_cast<void*>(&half), &halves[at + static_cast<std::size_t>(i)], 2);
      return double{__half2float(half)};
    };
    return (part(column) + part(column + depth)) / double{scale};
  }
};

// A window's numbers follow from its seed alone.
SplitRows random_rows(int frames, int depth, int inputs, float scale,
                      const std::vector<int>& seeds) {
  SplitRows rows{frames, static_cast<int>(seeds.size()), depth, scale, {}};
  rows.halves.assign(
      static_cast<std::size_t>(frames) * seeds.size() * static_cast<std::size_t>(2 * depth), 0);
  for (std::size_t w = 0; w < seeds.size(); ++w) {
    Random random(static_cast<std::uint64_t>(1000 + seeds[w]));
    for (int t = 0; t < frames; ++t)
      for (int c = 0; c < inputs; ++c) {
        const float x = static_cast<float>(random.next()) * scale;
        const __half high = __float2half_rn(x);
        const __half low = __float2half_rn(x - __half2float(high));
        std::uint16_t* const row =
            rows.halves.data() +
            (static_cast<std::size_t>(t) * seeds.size() + w) * static_cast<std::size_t>(2 * depth);
        std::memcpy(row + c, &high, 2);
        std::memcpy(row + depth + c, &low, 2);
      }
  }
  return rows;
}

backend::reference::Array array_of(const SplitRows& rows, int window, int columns) {
  backend::reference::Array array;
  array.reset({rows.frames, columns});
  for (int t = 0; t < rows.frames; ++t)
    for (int c = 0; c < columns; ++c)
      *array.at(std::int64_t{t} * columns + c) = rows.value(t, window, c);
  return array;
}

class LstmLayers : public testing::Test {
 protected:
  void SetUp() override {
    DIARIST_NEED_CUDA();
    facts_ = device_facts(0);
    prepare_lstm(facts_);
  }

  SplitRows run(const LstmLayer& layer, const LstmPlan& plan, const SplitRows& rows) const {
    CudaQueue queue(0);
    const DeviceMemory input = to_device<std::uint16_t>(0, rows.halves, "rows");
    const std::size_t count =
        static_cast<std::size_t>(plan.frames) * static_cast<std::size_t>(plan.windows) * 512;
    const std::vector<std::uint16_t> poison(count, 0x7E00);
    const DeviceMemory output = to_device<std::uint16_t>(0, poison, "rows");
    const DeviceMemory products(0, product_bytes(plan), "products"),
        cells(0, cell_bytes(plan), "cells");
    check(cudaMemset(products.data(), 0xFF, products.bytes()), "poison");
    check(cudaMemset(cells.data(), 0xFF, cells.bytes()), "poison");
    // The queue's stream does not wait for the default one.
    check(cudaDeviceSynchronize(), "poison");
    const LstmRows in(facts_, input.as<__half>(), rows.depth, rows.frames * rows.windows);
    layer.run(plan, in, output.as<__half>(), products.as<float>(), cells.as<float>(),
              queue.stream());
    queue.wait();
    SplitRows result{plan.frames, plan.windows, 256, kStateScale, {}};
    result.halves.resize(count);
    check(cudaMemcpy(result.halves.data(), output.data(), count * 2, cudaMemcpyDeviceToHost),
          "rows");
    return result;
  }

  std::vector<Products> kinds() const {
    if (facts_.architecture == 90) return {Products::kWarp, Products::kWarpgroup};
    return {Products::kWarp};
  }

  bool single_fits() const { return facts_.shared_bytes >= kLstmSingleShared; }

  DeviceFacts facts_;
};

std::vector<int> counted(int windows, int first = 0) {
  std::vector<int> seeds;
  for (int i = 0; i < windows; ++i) seeds.push_back(first + i);
  return seeds;
}

void check_layer(const model::BiLstm& block, const SplitRows& rows, const SplitRows& got,
                 int inputs) {
  double worst = 0, squares = 0;
  for (const int window : {0, 7}) {
    backend::reference::Array wanted;
    wanted.reset({589, 256});
    backend::reference::run_bi_lstm(block, array_of(rows, window, inputs), wanted);
    for (int t = 0; t < 589; ++t)
      for (int c = 0; c < 256; ++c) {
        const double d = got.value(t, window, c) - *wanted.at(std::int64_t{t} * 256 + c);
        worst = std::max(worst, std::isnan(d) ? 1e30 : std::abs(d));
        squares += d * d;
      }
  }
  std::printf("[          ] %d inputs: max error %.2e, rms %.2e\n", inputs, worst,
              std::sqrt(squares / (2 * 589 * 256)));
  EXPECT_LT(worst, 5e-6) << inputs;
}

TEST_F(LstmLayers, KeepToTheReference) {
  for (const int inputs : {60, 256}) {
    const int depth = inputs == 60 ? 64 : 256;
    const float scale = inputs == 60 ? 16.0F : kStateScale;
    const model::BiLstm block = random_lstm(inputs, 3);
    const LstmLayer layer(0, block, depth, scale);
    LstmPlan plan = plan_lstm(facts_, 8, 589, kProductBytes);
    const SplitRows rows = random_rows(589, depth, inputs, scale, counted(8));
    for (const Products products : kinds()) {
      plan.products = products;
      check_layer(block, rows, run(layer, plan, rows), inputs);
    }
  }
}

// Either kernel of the input products, over many tiles: rows do not look at each other.
TEST_F(LstmLayers, ProductsDoNotDependOnTheirTile) {
  const LstmLayer layer(0, random_lstm(256, 8), 256, kStateScale);
  constexpr int kFrames = 60;
  for (const Products products : kinds()) {
    LstmPlan plan = plan_lstm(facts_, 104, kFrames, kProductBytes);
    plan.products = products;
    const SplitRows rows = random_rows(kFrames, 256, 256, kStateScale, counted(plan.windows));
    const SplitRows all = run(layer, plan, rows);
    plan.stretch = 17;
    EXPECT_TRUE(run(layer, plan, rows).halves == all.halves);
    LstmPlan small = plan_lstm(facts_, 8, kFrames, kProductBytes);
    small.products = products;
    const SplitRows some =
        run(layer, small, random_rows(kFrames, 256, 256, kStateScale, counted(8, 90)));
    for (int t = 0; t < kFrames; ++t)
      for (int c = 0; c < 256; ++c)
        ASSERT_EQ(some.value(t, 3, c), all.value(t, 93, c)) << static_cast<int>(products);
  }
}

TEST_F(LstmLayers, BitsDependOnNothingButTheWindow) {
  const model::BiLstm block = random_lstm(256, 4);
  const LstmLayer layer(0, block, 256, kStateScale);
  constexpr int kFrames = 70;
  const std::vector<int> seeds = counted(48);
  const SplitRows rows = random_rows(kFrames, 256, 256, kStateScale, seeds);
  const LstmPlan plain{plan_lstm(facts_, 48, kFrames, kProductBytes)};
  const SplitRows all = run(layer, plain, rows);
  std::vector<LstmPlan> plans;
  for (const int stretch : {70, 33, 16, 1}) {
    LstmPlan plan = plain;
    plan.stretch = stretch;
    plans.push_back(plan);
  }
  if (plain.recurrence == Recurrence::kPair) {
    LstmPlan plan = plain;
    plan.groups = 2;
    plans.push_back(plan);
    plan.stretch = 21;
    plans.push_back(plan);
  }
  if (single_fits()) {
    check(prepare_lstm_single(), "lstm_single");
    LstmPlan plan = plain;
    plan.recurrence = Recurrence::kSingle;
    plan.groups = 1;
    plans.push_back(plan);
    plan.stretch = 21;
    plans.push_back(plan);
  }
  for (const LstmPlan& plan : plans)
    EXPECT_TRUE(run(layer, plan, rows).halves == all.halves)
        << "stretch " << plan.stretch << ", groups " << plan.groups << ", single "
        << (plan.recurrence == Recurrence::kSingle);
  // Window 37 as number 2 of 8.
  const SplitRows few = random_rows(kFrames, 256, 256, kStateScale, counted(8, 35));
  const SplitRows alone = run(layer, plan_lstm(facts_, 8, kFrames, kProductBytes), few);
  for (int t = 0; t < kFrames; ++t)
    for (int c = 0; c < 256; ++c) ASSERT_EQ(alone.value(t, 2, c), all.value(t, 37, c)) << t;
}

// Mean time of a call in ms over at least `least_ms` of them.
double mean_ms(CudaQueue& queue, double least_ms, const std::function<void()>& call) {
  Events events(2);
  call();
  double total = 0;
  int runs = 2;
  for (int round = 0; round < 2; ++round) {
    events.record(0, queue.stream());
    for (int i = 0; i < runs; ++i) call();
    events.record(1, queue.stream());
    queue.wait();
    total = events.milliseconds(0, 1) / runs;
    runs = std::max(2, static_cast<int>(least_ms / total));
  }
  return total;
}

// Times of layers, and of their kernels by themselves.
class LstmTimes : public LstmLayers {
 protected:
  static constexpr int kWindows = 528;
  static constexpr double kLeast = 150;  // ms

  void SetUp() override {
    LstmLayers::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (single_fits()) check(prepare_lstm_single(), "lstm_single");
    const std::size_t bytes = std::size_t{589} * kWindows * 1024;
    input_ = DeviceMemory(0, bytes, "rows");
    output_ = DeviceMemory(0, bytes, "rows");
    const SplitRows rows = random_rows(589, 256, 256, kStateScale, counted(8));
    for (int i = 0; i < kWindows / 8; ++i)
      check(
          cudaMemcpy(input_.as<std::byte>() + static_cast<std::size_t>(i) * rows.halves.size() * 2,
                     rows.halves.data(), rows.halves.size() * 2, cudaMemcpyHostToDevice),
          "rows");
  }

  double layer_ms(const LstmLayer& layer, int depth, const LstmPlan& plan, float* products,
                  float* cells) {
    const LstmRows in(facts_, input_.as<__half>(), depth, 589 * kWindows);
    CudaQueue queue(0);
    return mean_ms(queue, kLeast, [&] {
      layer.run(plan, in, output_.as<__half>(), products, cells, queue.stream());
    });
  }

  DeviceMemory input_, output_;
};

TEST_F(LstmTimes, Layers) {
  const char* const only = std::getenv("DIARIST_WINDOWS");
  CudaQueue queue(0);
  const model::BiLstm block = random_lstm(256, 5), narrow = random_lstm(60, 6);
  const LstmLayer layer(0, block, 256, kStateScale), first(0, narrow, 64, 16);
  // Weights for kernels by themselves: the numbers do not matter.
  const DeviceMemory weights(0, std::size_t{2} * 512 * 512 * 2, "weights"),
      columns(0, 4096, "scale");
  check(cudaMemcpy(weights.data(), input_.data(), weights.bytes(), cudaMemcpyDeviceToDevice), "w");
  check(cudaMemset(columns.data(), 0, 4096), "scale");
  for (const int windows : {8, 24, 136, 264, 528}) {
    if (only != nullptr && std::atoi(only) != windows) continue;
    const LstmPlan plan = plan_lstm(facts_, windows, 589, kProductBytes);
    const DeviceMemory products(0, product_bytes(plan), "products");
    const DeviceMemory cells(0, cell_bytes(plan), "cells");
    const double whole = layer_ms(layer, 256, plan, products.as<float>(), cells.as<float>());
    const double whole_first = layer_ms(first, 64, plan, products.as<float>(), cells.as<float>());
    std::printf("[          ] %4d windows, %d groups, stretch %3d: layer %.3f ms (first %.3f)\n",
                windows, plan.groups, plan.stretch, whole, whole_first);
    GateProductArgs product;
    product.rows = input_.as<__half>();
    product.products = products.as<float>();
    product.weights = weights.as<__half>();
    product.scale = product.bias = columns.as<float>();
    product.count = plan.stretch * plan.windows;
    for (const int depth : {64, 256}) {
      product.depth = depth;
      const LstmRows in(facts_, input_.as<__half>(), depth, 589 * kWindows);
      const LstmRows matrix(facts_, weights.as<__half>(), depth, 2 * kGateColumns);
      for (const Products kind : kinds()) {
        const double ms = mean_ms(queue, kLeast, [&] {
          check(kind == Products::kWarp
                    ? launch_gate_products(product, queue.stream())
                    : hopper::launch_gate_products(product, in.map(), matrix.map(),
                                                   plan.multiprocessors, queue.stream()),
                "products");
        });
        std::printf("[          ]   %s products, depth %3d: %.4f ms, %.0f TFLOP/s, %.2f TB/s out\n",
                    kind == Products::kWarp ? "warp     " : "warpgroup", depth, ms,
                    2.0 * 3 * 2 * product.count * depth * 512 / ms / 1e9,
                    2.0 * product.count * 512 * 4 / ms / 1e9);
      }
    }
    LstmArgs steps;
    steps.products = products.as<float>();
    steps.weights = weights.data();
    steps.rows = output_.as<__half>();
    steps.cells = cells.as<float>();
    steps.unscale[0] = steps.unscale[1] = 1.0F / (1 << 24);
    steps.windows = plan.windows;
    steps.frames = 589;
    steps.steps = plan.stretch;
    const double pair = mean_ms(queue, kLeast, [&] {
      check(launch_lstm_pair(steps, plan.groups, queue.stream()), "pair");
    });
    const double single =
        single_fits() ? mean_ms(queue, kLeast,
                                [&] { check(launch_lstm_single(steps, queue.stream()), "single"); })
                      : 0;
    std::printf("[          ]   recurrence: pair %.3f us a step, single %.3f us a step\n",
                1e3 * pair / plan.stretch, 1e3 * single / plan.stretch);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace diarist::test
