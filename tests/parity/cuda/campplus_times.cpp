// Device time of CAM++'s parts, sustained: --gtest_filter=CampplusTimes.*
// --gtest_also_run_disabled_tests

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "backend/cuda/choice/device_meter.hpp"
#include "campplus_fixture.hpp"

namespace diarist::test {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void print_times(Precision precision, const std::vector<int>& counts, double least_seconds) {
  char bus[32] = {};
  ASSERT_EQ(cudaDeviceGetPCIBusId(bus, sizeof(bus), 0), cudaSuccess);
  const auto meter = backend::cuda::DeviceMeter::open(bus);
  CampplusBackend gpu(precision);
  backend::cuda::CudaQueue queue(0);
  for (const int count : counts) {
    Random random(17);
    std::vector<int> lengths;
    std::int64_t rows = 0;
    for (int i = 0; i < count; ++i) {
      lengths.push_back(count == 1 ? 998 : static_cast<int>(200 + random.below(799)));
      rows += lengths.back();
    }
    const GraphCase test = gathered_case(model::campplus_network(campplus_weights()), lengths);
    const auto program = gpu.make(test.graph, {.max_items = count, .max_length = 998});
    std::vector<std::int32_t> indices, item_rows(lengths.begin(), lengths.end());
    for (const Item& item : test.items)
      for (const float index : item.inputs[1]) indices.push_back(static_cast<std::int32_t>(index));
    const auto features = gpu.allocate(test.shared[0].size() * 4);
    const auto list = gpu.allocate(indices.size() * 4);
    const auto output = gpu.allocate(static_cast<std::size_t>(count) * 192 * 4);
    queue.upload(*features, 0, std::as_bytes(std::span(test.shared[0])));
    queue.upload(*list, 0, std::as_bytes(std::span(indices)));
    backend::Run run;
    run.items = count;
    run.lengths = item_rows;
    run.inputs = {{features.get(), 0, 0, 1500}, {list.get(), 0, 0, 0}};
    run.outputs = {{output.get(), 0, 192, 0}};
    const auto per_input = [&](double seconds) {
      return 1e6 * seconds * 998 / static_cast<double>(rows);
    };
    for (int i = 0; i < 3; ++i) program->run(queue, run);
    queue.wait();
    const auto begin = queue.make_mark(), end = queue.make_mark();
    const auto start = Clock::now();
    int runs = 0;
    double device = 0, host = 0;
    DeviceState state;
    while (seconds_since(start) < least_seconds) {
      queue.set(*begin);
      const auto queued = Clock::now();
      constexpr int kRuns = 5;
      for (int i = 0; i < kRuns; ++i) program->run(queue, run);
      host += seconds_since(queued);
      queue.set(*end);
      if (meter != nullptr) state = meter->state();
      queue.wait();
      device += queue.seconds_between(*begin, *end);
      runs += kRuns;
    }
    std::printf(
        "[          ] %s, %d items, %lld rows: %.1f us per 998 rows (%.1f us queueing), "
        "%.0f MHz, %.0f W, workspace %.0f MB\n",
        precision_name(precision), count, static_cast<long long>(rows), per_input(device / runs),
        per_input(host / runs), double{state.clock_mhz}, double{state.power_watts},
        static_cast<double>(program->workspace_bytes()) / 1e6);
    for (const auto& part : program->times(queue, run, 9))
      std::printf("[          ]   %-16s %7.2f us per 998 rows\n", part.part.c_str(),
                  per_input(part.milliseconds * 1e-3));
  }
}

TEST(CampplusTimes, Halves) {
  DIARIST_NEED_CUDA();
  print_times(Precision::kFast, {1, 8, 32, 128, 400}, 2.0);
}

TEST(CampplusTimes, Exact) {
  DIARIST_NEED_CUDA();
  print_times(Precision::kExact, {128}, 2.0);
}

}  // namespace
}  // namespace diarist::test
