// Times of the segmentation network, printed and not judged: the card's clock is its own.
// DIARIST_SECONDS: length of each load, 2 unless said. DIARIST_WINDOWS: only this batch.

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "backend/cuda/choice/device_meter.hpp"
#include "segmentation_fixture.hpp"

namespace diarist::test {
namespace {

std::unique_ptr<backend::cuda::DeviceMeter> open_meter() {
  char bus[32] = {};
  if (cudaDeviceGetPCIBusId(bus, sizeof(bus), 0) != cudaSuccess) return nullptr;
  return backend::cuda::DeviceMeter::open(bus);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(SegmentationTimes, Batches) {
  DIARIST_NEED_CUDA();
  const char* const seconds_text = std::getenv("DIARIST_SECONDS");
  const char* const only = std::getenv("DIARIST_WINDOWS");
  const double wanted = seconds_text != nullptr ? std::atof(seconds_text) : 2.0;
  const auto meter = open_meter();
  SegmentationBackend gpu;
  constexpr int kWindows = 100;
  Recording recording(kWindows);
  for (const int items : {1, 21, 132, 264, 528, 1056}) {
    if (only != nullptr && std::atoi(only) != items) continue;
    const auto count = static_cast<std::size_t>(items);
    const auto program = gpu.compile(segmentation_graph(), {.max_items = items});
    const auto queue = gpu.make_queue();
    const auto classes = gpu.allocate(count * 589), masks = gpu.allocate(count * 3 * 589 * 4);
    std::vector<std::int32_t> positions(count);
    for (std::size_t i = 0; i < count; ++i) positions[i] = static_cast<std::int32_t>(i % kWindows);
    backend::Run run;
    run.items = items;
    run.inputs = recording.inputs(0, positions);
    run.outputs = {{classes.get(), 0, 589, 0}, {masks.get(), 0, 3 * 589, 0}};
    for (int i = 0; i < 3; ++i) program->run(*queue, run);
    queue->wait();
    // Alone: one batch, waited for.
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 5; ++i) {
      program->run(*queue, run);
      queue->wait();
    }
    const double alone = seconds_since(start) / 5;
    // Sustained: the host stays a few batches ahead.
    start = std::chrono::steady_clock::now();
    int runs = 0;
    DeviceState state;
    const int ahead = std::max(2, static_cast<int>(0.05 / alone));
    while (seconds_since(start) < wanted) {
      for (int i = 0; i < ahead; ++i, ++runs) program->run(*queue, run);
      if (meter != nullptr) state = meter->state();
      queue->wait();
    }
    const double seconds = seconds_since(start);
    std::printf(
        "[          ] %4d windows: %.0f chunks/s sustained, %.3f ms a batch (%.3f alone), %d MHz, "
        "%.0f W, workspace %.0f MB\n",
        items, runs * items / seconds, 1e3 * seconds / runs, 1e3 * alone,
        static_cast<int>(state.clock_mhz), state.power_watts,
        static_cast<double>(program->workspace_bytes()) / 1e6);
    double total = 0;
    const auto parts = static_cast<backend::cuda::SegmentationProgram&>(*program).times(
        *queue, run, items > 600 ? 3 : 11);
    const int in_pass = std::min(items, 528);
    for (const auto& part : parts) total += part.milliseconds;
    for (const auto& part : parts)
      std::printf("[          ]   %-14s %8.4f ms %8.3f us a chunk\n", part.part.c_str(),
                  part.milliseconds, 1e3 * part.milliseconds / in_pass);
    std::printf("[          ]   sum            %8.4f ms\n", total);
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace diarist::test
