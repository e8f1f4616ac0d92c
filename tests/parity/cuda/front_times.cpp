// Times of the front ends. Runs only when asked for: DIARIST_FRONT_TIMES=500 cuda_front_test
// --gtest_filter='FrontTimes.*' (500: milliseconds per figure).

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <functional>

#include "backend/cuda/front/segmentation_front.hpp"
#include "front_fixture.hpp"

namespace diarist::test {
namespace {

using backend::cuda::CudaQueue;
using backend::cuda::DeviceMemory;
using backend::cuda::Events;
using backend::cuda::FrontKernels;
using backend::cuda::SegmentationFront;

double wanted_ms() {
  const char* text = std::getenv("DIARIST_FRONT_TIMES");
  return text == nullptr ? 0 : std::atof(text);
}

/// Mean milliseconds of a call, over at least wanted_ms() of calls after a warm-up.
double milliseconds_of(CudaQueue& queue, const std::function<void()>& call) {
  Events events(2);
  for (int repeats = 3;; repeats *= 4) {
    events.record(0, queue.stream());
    for (int i = 0; i < repeats; ++i) call();
    events.record(1, queue.stream());
    queue.wait();
    const double ms = events.milliseconds(0, 1);
    if (ms >= wanted_ms() || repeats > 100000) return ms / repeats;
  }
}

TEST(FrontTimes, Windows) {
  DIARIST_NEED_CUDA();
  if (wanted_ms() <= 0) GTEST_SKIP() << "runs when DIARIST_FRONT_TIMES is set";
  CudaQueue queue(0);
  const model::Graph graph = model::segmentation_network(pyannet_weights());
  constexpr int kMost = 528;
  const Numbers tape = speech_like(16000 * (kMost + 9), 1);
  const DeviceMemory samples(0, tape.size() * 4, "samples");
  const DeviceMemory raw(0, tape.size() / 10 * 80 * 4, "raw");
  const DeviceMemory rows(0, std::size_t{589} * kMost * 128 * 2, "rows");
  ASSERT_EQ(cudaMemcpyAsync(samples.data(), tape.data(), tape.size() * 4, cudaMemcpyHostToDevice,
                            queue.stream()),
            cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(raw.data(), 0x3C, raw.bytes(), queue.stream()), cudaSuccess);
  const auto measure = [&](int sub_batch, FrontKernels kernels) {
    const SegmentationFront front(0, std::get<model::SincPool>(graph.nodes[0].block),
                                  std::get<model::Conv1d>(graph.nodes[1].block),
                                  std::get<model::Conv1d>(graph.nodes[2].block), kMost, sub_batch,
                                  kernels);
    for (const int windows : {1, 21, 132, 528}) {
      const double ms = milliseconds_of(queue, [&] {
        front.run(queue.stream(),
                  {samples.as<float>(), 16000, raw.as<float>(), 128000, nullptr, windows},
                  rows.as<__half>(), windows);
      });
      std::printf("%s, %3d windows, %3d at a time: %8.1f us, %6.2f us per chunk\n", front.kernel(),
                  windows, sub_batch, ms * 1e3, ms * 1e3 / windows);
    }
  };
  for (const int sub_batch : {66, 132, 264}) measure(sub_batch, FrontKernels::kBest);
  measure(132, FrontKernels::kPortable);
}

TEST(FrontTimes, Tape) {
  DIARIST_NEED_CUDA();
  if (wanted_ms() <= 0) GTEST_SKIP() << "runs when DIARIST_FRONT_TIMES is set";
  FrontBackend gpu, portable(FrontKernels::kPortable);
  const auto queue = gpu.make_queue();
  constexpr int kSeconds = 256;
  const Numbers tape = speech_like(16000 * (kSeconds + 1), 1);
  const auto samples = gpu.allocate(tape.size() * 4);
  queue->upload(*samples, 0, std::as_bytes(std::span(tape)));
  const auto rows = gpu.allocate(std::size_t{kSeconds} * 1600 * 80 * 4);
  const model::Graph sinc = model::sinc_front_end(pyannet_weights());
  for (const auto& [backend, graph, tail, per_second] :
       {std::tuple{&gpu, sinc, 241, 1600}, std::tuple{&portable, sinc, 241, 1600},
        std::tuple{&gpu, model::wespeaker_features(), 240, 100}}) {
    const auto program =
        backend->compile(graph, {.max_items = kSeconds, .max_length = 16000 + tail});
    for (const int seconds : {1, 10, 64, 256}) {
      const std::vector<std::int32_t> lengths(static_cast<std::size_t>(seconds), 16000 + tail);
      backend::Run run;
      run.items = seconds;
      run.inputs = {{samples.get(), 0, 16000, 0}};
      run.outputs = {{rows.get(), 0, std::int64_t{per_second} * 80, 0}};
      run.lengths = lengths;
      const double ms =
          milliseconds_of(static_cast<CudaQueue&>(*queue), [&] { program->run(*queue, run); });
      std::printf("%-10s %3d s at once: %7.1f us, %6.3f us per second of audio\n",
                  program->choices()[0].kernel.c_str(), seconds, ms * 1e3, ms * 1e3 / seconds);
    }
  }
}

}  // namespace
}  // namespace diarist::test
