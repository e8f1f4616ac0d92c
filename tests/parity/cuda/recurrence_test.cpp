// The recurrent part of an LSTM layer on devices with less shared memory than this one.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "../backends/graph_runner.hpp"
#include "backend/cuda/blocks/recurrence.hpp"
#include "blocks_backend.hpp"

namespace diarist::test {
namespace {

using namespace backend::cuda;

constexpr int kUnits = 128;

/// Items of random gates and lengths, and what a launch needs.
class Recurrence {
 public:
  Recurrence(int items, int longest) : items_(items) {
    Random random(5);
    std::vector<blocks::Place> gates, outputs;
    std::int64_t steps = 0;
    for (int i = 0; i < items; ++i) {
      const auto length = static_cast<std::int32_t>(i == 0 ? longest : 1 + random.below(longest));
      gates.push_back({steps * 8 * kUnits, length, 0});
      outputs.push_back({steps * 2 * kUnits, length, 0});
      steps += length;
    }
    std::vector<float> places(static_cast<std::size_t>(items) * 8);
    std::memcpy(places.data(), gates.data(), places.size() * 2);
    std::memcpy(places.data() + places.size() / 2, outputs.data(), places.size() * 2);
    places_ = to_device<float>(0, places, "places");
    gates_ = to_device<float>(0, random.numbers(steps * 8 * kUnits, 2.0), "gates");
    outputs_ = DeviceMemory(0, static_cast<std::size_t>(steps) * 2 * kUnits * 4, "outputs");
    for (DeviceMemory& weights : weights_) {
      const Numbers matrix = random.numbers(std::int64_t{4} * kUnits * kUnits, 0.15);
      weights =
          to_device<float>(0, blocks::pack_recurrent(matrix.data(), kUnits), "recurrent weights");
    }
  }
  Numbers run(int multiprocessors, int shared_bytes, CudaQueue& queue) const {
    blocks::RecurrenceArgs args;
    args.gates = {gates_.as<float>(), places_.as<blocks::Place>()};
    args.output = {outputs_.as<float>(), places_.as<blocks::Place>() + items_};
    for (int d = 0; d < 2; ++d) args.weights[d] = weights_[d].as<float>();
    args.units = kUnits;
    EXPECT_EQ(cudaMemsetAsync(outputs_.data(), 0xFF, outputs_.bytes(), queue.stream()),
              cudaSuccess);
    EXPECT_EQ(
        blocks::launch_recurrence(args, items_, multiprocessors, shared_bytes, queue.stream()),
        cudaSuccess);
    Numbers numbers(outputs_.bytes() / 4);
    EXPECT_EQ(cudaMemcpyAsync(numbers.data(), outputs_.data(), outputs_.bytes(),
                              cudaMemcpyDeviceToHost, queue.stream()),
              cudaSuccess);
    queue.wait();
    return numbers;
  }

 private:
  int items_;
  DeviceMemory places_, gates_, outputs_, weights_[2];
};

TEST(CudaRecurrence, BitsDoNotDependOnTheDevicesSize) {
  DIARIST_NEED_CUDA();
  const Recurrence test(21, 30);
  CudaQueue queue(0);
  int here = 0;
  ASSERT_EQ(blocks::prepare_recurrence(0, &here), cudaSuccess);
  const Numbers wanted = test.run(132, here, queue);
  for (const float x : wanted) ASSERT_LE(std::abs(x), 1.0F);
  // 6, 16 and 132 multiprocessors: eight, four and two items per CTA.
  for (const int multiprocessors : {6, 16, 132})
    for (const int shared_bytes : {0, 48 << 10, 64 << 10, 99 << 10, 163 << 10, here})
      EXPECT_EQ(test.run(multiprocessors, std::min(shared_bytes, here), queue), wanted)
          << multiprocessors << " multiprocessors, " << shared_bytes << " bytes";
}

// DIARIST_BLOCK_TIMES: a step with two, four and eight items per CTA, on as many SMs as there are.
TEST(BlockTimes, Recurrence) {
  if (std::getenv("DIARIST_BLOCK_TIMES") == nullptr) GTEST_SKIP() << "DIARIST_BLOCK_TIMES asks";
  DIARIST_NEED_CUDA();
  constexpr int kSteps = 300;
  CudaQueue queue(0);
  Events events(2);
  for (const int items : {132, 264, 528}) {
    std::vector<blocks::Place> gates, outputs;
    for (int i = 0; i < items; ++i) {
      gates.push_back({std::int64_t{i} * kSteps * 8 * kUnits, kSteps, 0});
      outputs.push_back({std::int64_t{i} * kSteps * 2 * kUnits, kSteps, 0});
    }
    const auto bytes = gates.size() * sizeof(blocks::Place);
    const DeviceMemory places(0, 2 * bytes, "places");
    ASSERT_EQ(cudaMemcpy(places.data(), gates.data(), bytes, cudaMemcpyHostToDevice), cudaSuccess);
    ASSERT_EQ(
        cudaMemcpy(places.as<std::byte>() + bytes, outputs.data(), bytes, cudaMemcpyHostToDevice),
        cudaSuccess);
    const DeviceMemory x(0, gates.size() * kSteps * 8 * kUnits * 4, "gates");
    const DeviceMemory y(0, gates.size() * kSteps * 2 * kUnits * 4, "outputs");
    const DeviceMemory weights(0, 4 * kUnits * kUnits * 4, "weights");
    ASSERT_EQ(cudaMemset(x.data(), 0, x.bytes()), cudaSuccess);
    ASSERT_EQ(cudaMemset(weights.data(), 0, weights.bytes()), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    blocks::RecurrenceArgs args;
    args.gates = {x.as<float>(), places.as<blocks::Place>()};
    args.output = {y.as<float>(), places.as<blocks::Place>() + items};
    for (const float*& each : args.weights) each = weights.as<float>();
    args.units = kUnits;
    for (const int shared_bytes : {64 << 10, 99 << 10, 227 << 10}) {
      double milliseconds = 0;
      for (int i = 0; i < 3; ++i) {
        events.record(0, queue.stream());
        ASSERT_EQ(blocks::launch_recurrence(args, items, 132, shared_bytes, queue.stream()),
                  cudaSuccess);
        events.record(1, queue.stream());
        queue.wait();
        milliseconds = events.milliseconds(0, 1);
      }
      std::printf("%d items, %d KB of shared memory: %.2f us a step ms\n", items,
                  shared_bytes >> 10, 1000 * milliseconds / kSteps);
    }
  }
}

}  // namespace
}  // namespace diarist::test
