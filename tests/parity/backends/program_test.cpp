// What a compiled program promises besides its numbers: no allocation while it runs, a bounded
// workspace, reasons for its choices.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "backend/cpu/cpu_backend.hpp"
#include "model/networks.hpp"
#include "support/synthetic_weights.hpp"

namespace {
std::atomic<long> allocations{0};
}  // namespace

// The only way to see an allocation from outside. Arrays and sized forms end up here. None is
// inlined: where gcc sees one half of a pair only, it takes the halves for strangers and warns.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace diarist::test {
namespace {

using backend::cpu::make_cpu_backend;

TEST(CpuProgram, SincFiltersOfTheNetworkAreFolded) {
  const auto cpu = make_cpu_backend(1);
  const model::Graph front = model::sinc_front_end(synthetic_weights("pyannet"));
  const auto program = cpu->compile(front, {.max_items = 1, .max_length = 1000});
  EXPECT_TRUE(program->choices()[0].kernel.starts_with("mirrored"));
}

TEST(CpuProgram, RunAllocatesNothing) {
  const auto cpu = make_cpu_backend(2);
  const auto program = cpu->compile(model::campplus_network(synthetic_weights("campplus")),
                                    {.max_items = 3, .max_length = 40});
  const auto queue = cpu->make_queue();
  const auto rows = cpu->allocate(100 * 80 * 4);
  const auto indices = cpu->allocate(100 * 4);
  const auto out = cpu->allocate(3 * 192 * 4);
  const std::vector<std::int32_t> lengths{40, 3, 20};
  backend::Run run;
  run.items = 3;
  run.lengths = lengths;
  run.inputs = {{rows.get(), 0, 0, 100}, {indices.get(), 0, 0, 0}};
  run.outputs = {{out.get(), 0, 192, 0}};
  program->run(*queue, run);
  const long before = allocations;
  program->run(*queue, run);
  EXPECT_EQ(allocations, before);
}

TEST(CpuProgram, SegmentationAllocatesNothingAndFillsFewMegabytes) {
  const auto cpu = make_cpu_backend(2);
  const auto program = cpu->compile(
      model::segmentation_network(synthetic_weights("pyannet")).with_outputs({"classes"}),
      {.max_items = 2});
  const auto queue = cpu->make_queue();
  const auto samples = cpu->allocate((160000 + 16000) * 4);
  const auto raw = cpu->allocate((15975 + 1600) * 80 * 4);
  const auto classes = cpu->allocate(2 * 589);
  backend::Run run;
  run.items = 2;  // windows of a strip, one second apart
  run.inputs = {{samples.get(), 0, 16000, 0}, {raw.get(), 0, 1600 * 80, 0}};
  run.outputs = {{classes.get(), 0, 589, 0}};
  program->run(*queue, run);
  const long before = allocations;
  program->run(*queue, run);
  EXPECT_EQ(allocations, before);
  EXPECT_LT(program->workspace_bytes(), 30'000'000U);
}

TEST(CpuProgram, Resnet34KeepsTwoMapsPerWorker) {
  const model::Graph graph = model::resnet34_network(synthetic_weights("wespeaker-resnet34"));
  const auto one = make_cpu_backend(1)->compile(graph, {.max_items = 8});
  const auto three_backend = make_cpu_backend(3);
  const auto three = three_backend->compile(graph, {.max_items = 8});
  EXPECT_LT(one->workspace_bytes(), 40'000'000U);
  EXPECT_EQ(three->workspace_bytes(), 3 * one->workspace_bytes());
}

TEST(CpuProgram, StrideOneConvolutionsOfResnet34AreWinograd) {
  const model::Graph graph = model::resnet34_network(synthetic_weights("wespeaker-resnet34"));
  for (const std::string& target : backend::cpu::cpu_targets_supported()) {
    const auto cpu = make_cpu_backend(1, target);
    const auto program = cpu->compile(graph, {.max_items = 1});
    int winograd = 0;
    for (const backend::Choice& choice : program->choices()) {
      winograd += choice.kernel.starts_with("Winograd") ? 1 : 0;
    }
    EXPECT_EQ(winograd, 29) << target;  // 36 without stem, three of stride 2 and three shortcuts
  }
}

TEST(CpuProgram, EveryNodeHasAKernelAndAReason) {
  const model::Graph graph = model::resnet34_network(synthetic_weights("wespeaker-resnet34"));
  const auto cpu = make_cpu_backend(1);
  const auto program = cpu->compile(graph, {.max_items = 1});
  ASSERT_EQ(program->choices().size(), graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    EXPECT_EQ(program->choices()[i].node, graph.nodes[i].name);
    EXPECT_FALSE(program->choices()[i].kernel.empty());
    EXPECT_FALSE(program->choices()[i].reason.empty());
  }
}

}  // namespace
}  // namespace diarist::test
