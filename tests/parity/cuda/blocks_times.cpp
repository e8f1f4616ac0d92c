// Times of BlockProgram. Runs only when asked for: DIARIST_BLOCK_TIMES=132 (windows of a batch)
// cuda_blocks_test --gtest_filter='BlockTimes.*'. A line is the time up to a value of the graph.

#include <cstdio>

#include "../backends/graph_runner.hpp"
#include "blocks_backend.hpp"
#include "model/networks.hpp"
#include "support/synthetic_weights.hpp"

namespace diarist::test {
namespace {

using backend::cuda::Events;

int wanted_items() {
  const char* wish = std::getenv("DIARIST_BLOCK_TIMES");
  return wish == nullptr ? 0 : std::atoi(wish);
}

/// DIARIST_BLOCK_VALUE picks one value of the graph.
bool wanted(const std::string& name) {
  const char* wish = std::getenv("DIARIST_BLOCK_VALUE");
  return wish == nullptr || name == wish;
}

/// Milliseconds of a run, after warm-up, over about 300 ms.
double milliseconds(backend::Program& program, backend::cuda::CudaQueue& queue,
                    const backend::Run& run) {
  Events events(2);
  program.run(queue, run);
  program.run(queue, run);
  queue.wait();
  const auto timed = [&](int repeats) {
    events.record(0, queue.stream());
    for (int i = 0; i < repeats; ++i) program.run(queue, run);
    events.record(1, queue.stream());
    queue.wait();
    return events.milliseconds(0, 1) / repeats;
  };
  const double once = timed(1);
  return timed(std::max(2, static_cast<int>(300 / std::max(once, 0.01))));
}

struct Buffers {
  std::unique_ptr<backend::Buffer> random(BlocksBackend& gpu, backend::Queue& queue,
                                          std::int64_t count, double scale) {
    const Numbers numbers = Random(static_cast<std::uint64_t>(count)).numbers(count, scale);
    auto buffer = gpu.allocate(static_cast<std::size_t>(count) * 4);
    queue.upload(*buffer, 0, std::as_bytes(std::span(numbers)));
    return buffer;
  }
};

TEST(BlockTimes, Segmentation) {
  const int items = wanted_items();
  if (items < 1) GTEST_SKIP() << "DIARIST_BLOCK_TIMES=<windows of a batch> asks for times";
  DIARIST_NEED_CUDA();
  BlocksBackend gpu;
  backend::cuda::CudaQueue queue(0);
  Buffers make;
  const auto samples = make.random(gpu, queue, 160000 + 1600 * (items - 1), 0.3);
  const auto raw = make.random(gpu, queue, 80 * (15975 + 160 * (items - 1)), 0.3);
  const auto out = gpu.allocate(static_cast<std::size_t>(items) * 5325 * 80 * 4);
  const model::Graph graph = model::segmentation_network(synthetic_weights("pyannet"));
  double before = 0;
  for (const char* name : {"sinc0", "sinc1", "sinc2", "lstm0", "lstm1", "lstm2", "lstm3", "logits",
                           "classes", "masks"}) {
    if (!wanted(name)) continue;
    const auto program = gpu.compile(graph.with_outputs({name}), {.max_items = items});
    backend::Run run;
    run.items = items;
    run.inputs = {{samples.get(), 0, 1600, 0}, {raw.get(), 0, 160 * 80, 0}};
    run.outputs = {{out.get(), 0, 5325 * 80, 0}};
    const double now = milliseconds(*program, queue, run);
    std::printf("%-8s %8.3f ms, +%.3f, %.2f us a window, workspace %.0f MB\n", name, now,
                now - before, 1000 * now / items,
                static_cast<double>(program->workspace_bytes()) / 1e6);
    before = now;
  }
}

TEST(BlockTimes, Campplus) {
  const int items = wanted_items();
  if (items < 1) GTEST_SKIP() << "DIARIST_BLOCK_TIMES=<windows of a batch> asks for times";
  DIARIST_NEED_CUDA();
  constexpr std::int64_t kLength = 150;
  BlocksBackend gpu;
  backend::cuda::CudaQueue queue(0);
  Buffers make;
  const auto rows = make.random(gpu, queue, 10000 * 80, 4.0);
  std::vector<std::int32_t> indices;
  for (std::int64_t i = 0; i < items * kLength; ++i)
    indices.push_back(static_cast<std::int32_t>(i * 7 % 10000));
  const auto places = gpu.allocate(indices.size() * 4);
  queue.upload(*places, 0, std::as_bytes(std::span(indices)));
  const auto out = gpu.allocate(static_cast<std::size_t>(items * kLength) * 320 * 8);
  const std::vector<std::int32_t> lengths(static_cast<std::size_t>(items), kLength);
  const model::Graph graph = model::campplus_network(synthetic_weights("campplus"));
  double before = 0;
  for (const char* name : {"rows", "head", "tdnn", "block1", "transit1", "block2", "transit2",
                           "block3", "frames", "embedding"}) {
    if (!wanted(name)) continue;
    const auto program =
        gpu.compile(graph.with_outputs({name}), {.max_items = items, .max_length = kLength});
    backend::Run run;
    run.items = items;
    run.lengths = lengths;
    run.inputs = {{rows.get(), 0, 0, 10000}, {places.get(), 0, 0, 0}};
    run.outputs = {{out.get(), 0, std::string(name) == "embedding" ? 192 : 0, 0}};
    const double now = milliseconds(*program, queue, run);
    std::printf("%-9s %8.3f ms, +%.3f, %.2f us an item of 150 frames, workspace %.0f MB\n", name,
                now, now - before, 1000 * now / items,
                static_cast<double>(program->workspace_bytes()) / 1e6);
    before = now;
  }
}

TEST(BlockTimes, FrontEnds) {
  if (wanted_items() < 1) GTEST_SKIP() << "DIARIST_BLOCK_TIMES=<windows of a batch> asks for times";
  DIARIST_NEED_CUDA();
  constexpr std::int64_t kSamples = 16000 * 600;
  BlocksBackend gpu;
  backend::cuda::CudaQueue queue(0);
  Buffers make;
  const auto samples = make.random(gpu, queue, kSamples, 0.3);
  const auto out = gpu.allocate(static_cast<std::size_t>(kSamples / 10) * 80 * 4);
  const std::vector<std::int32_t> lengths{kSamples};
  for (const model::Graph& graph : {model::wespeaker_features(), model::campplus_features(),
                                    model::sinc_front_end(synthetic_weights("pyannet"))}) {
    const auto program = gpu.compile(graph, {.max_items = 1, .max_length = kSamples});
    backend::Run run;
    run.items = 1;
    run.lengths = lengths;
    run.inputs = {{samples.get(), 0, 0, 0}};
    run.outputs = {{out.get(), 0, 0, 0}};
    std::printf("%-20s %8.3f ms for 600 s\n", graph.name.c_str(),
                milliseconds(*program, queue, run));
  }
}

}  // namespace
}  // namespace diarist::test
