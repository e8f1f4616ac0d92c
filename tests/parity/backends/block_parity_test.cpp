// Every block on every instruction set of this machine, against the double reference.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backend/cpu/cpu_backend.hpp"
#include "backend/reference/reference_backend.hpp"
#include "block_cases.hpp"
#include "diarist/error.hpp"

namespace diarist::test {
namespace {

using backend::cpu::make_cpu_backend;

class BlockParity : public testing::TestWithParam<std::string> {};

TEST_P(BlockParity, EqualsTheReference) {
  const auto reference = backend::reference::make_reference_backend(1);
  const auto cpu = make_cpu_backend(2, GetParam());
  ASSERT_EQ(cpu->kernels(), GetParam() + " (Highway)");
  for (const GraphCase& test : block_cases()) {
    const Outputs wanted = run_graph(*reference, test);
    const Outputs got = run_graph(*cpu, test);
    double worst = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      for (std::size_t o = 0; o < wanted[i].size(); ++o) {
        const double difference = relative_difference(got[i][o], wanted[i][o]);
        worst = std::max(worst, difference);
        EXPECT_LE(difference, test.tolerance) << test.name << ", item " << i;
      }
    }
    RecordProperty(test.name, std::to_string(worst));
    if (std::getenv("DIARIST_SHOW") != nullptr) {
      std::cout << GetParam() << "  " << test.name << ": " << worst << "\n";
    }
  }
}

TEST_P(BlockParity, BitsDependOnNothingButTheItem) {
  const auto one = make_cpu_backend(1, GetParam());
  const auto two = make_cpu_backend(2, GetParam());
  const auto three = make_cpu_backend(3, GetParam());
  for (const GraphCase& test : block_cases()) {
    const Outputs wanted = run_graph(*one, test);
    EXPECT_EQ(run_graph(*two, test), wanted) << test.name << " with two threads";
    EXPECT_EQ(run_graph(*three, test), wanted) << test.name << " with three threads";
    std::vector<int> shuffled;
    for (int i = static_cast<int>(test.items.size()) - 1; i >= 0; --i) {
      shuffled.push_back(i);
      if (i % 2 == 0) shuffled.push_back(static_cast<int>(test.items.size()) - 1 - i);
    }
    const Outputs again = run_graph(*two, test, shuffled);
    for (std::size_t i = 0; i < shuffled.size(); ++i) {
      EXPECT_EQ(again[i], wanted[static_cast<std::size_t>(shuffled[i])])
          << test.name << ", item " << shuffled[i] << " at place " << i;
    }
    for (int i = 0; i < static_cast<int>(test.items.size()); ++i) {
      EXPECT_EQ(run_graph(*two, test, {i})[0], wanted[static_cast<std::size_t>(i)])
          << test.name << ", item " << i << " alone";
    }
  }
}

TEST_P(BlockParity, EmptyMaskIsTheBiasAndOneFrameHasNoDeviation) {
  const auto cpu = make_cpu_backend(1, GetParam());
  GraphCase test = statistics_cases()[2];
  const auto& head = std::get<model::MaskedStatsHead>(test.graph.nodes[0].block);
  const Numbers embeddings = run_graph(*cpu, test, {2})[0][0];
  const Numbers bias(head.bias.values().begin(), head.bias.values().end());
  EXPECT_EQ(Numbers(embeddings.begin(), embeddings.begin() + 256), bias);
  EXPECT_EQ(Numbers(embeddings.begin() + 512, embeddings.end()), bias);
  EXPECT_NE(Numbers(embeddings.begin() + 256, embeddings.begin() + 512), bias);

  // The same head, blind for means: with one frame only the bias may be left.
  std::vector<float> weight(head.weight.values().begin(), head.weight.values().end());
  for (std::size_t i = 0; i < weight.size(); ++i) weight[i] *= i % 5120 < 2560 ? 0.0F : 1.0F;
  auto& block = std::get<model::MaskedStatsHead>(test.graph.nodes[0].block);
  block.weight = {block.weight.shape(), weight};
  const Numbers one_frame = run_graph(*cpu, test, {1})[0][0];
  EXPECT_EQ(Numbers(one_frame.begin(), one_frame.begin() + 256), bias);
}

INSTANTIATE_TEST_SUITE_P(Targets, BlockParity,
                         testing::ValuesIn(backend::cpu::cpu_targets_supported()),
                         [](const auto& each) { return each.param; });

TEST(CpuTargets, AreNamedAndChecked) {
  const auto supported = backend::cpu::cpu_targets_supported();
  const auto compiled = backend::cpu::cpu_targets_compiled();
  ASSERT_FALSE(supported.empty());
  for (const std::string& name : supported) {
    EXPECT_NE(std::ranges::find(compiled, name), compiled.end()) << name;
  }
  EXPECT_EQ(make_cpu_backend(1, "")->kernels(), supported.front() + " (Highway)");
  try {
    make_cpu_backend(1, "AVX9");
    FAIL() << "an unknown set was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find(supported.front()), std::string::npos);
  }
  for (const std::string& name : compiled) {
    if (std::ranges::find(supported, name) != supported.end()) continue;
    EXPECT_THROW(make_cpu_backend(1, name), Error) << name;
  }
}

TEST(CpuTargets, CanBeForcedByTheEnvironment) {
  const std::string last = backend::cpu::cpu_targets_supported().back();
  ASSERT_EQ(setenv("DIARIST_CPU_TARGET", last.c_str(), 1), 0);
  const std::string kernels = make_cpu_backend(1, "")->kernels();
  const std::string named =
      make_cpu_backend(1, backend::cpu::cpu_targets_supported().front())->kernels();
  unsetenv("DIARIST_CPU_TARGET");
  EXPECT_EQ(kernels, last + " (Highway)");
  EXPECT_EQ(named, backend::cpu::cpu_targets_supported().front() + " (Highway)");
}

std::string kernel_of(backend::Backend& backend, const model::Graph& graph) {
  return backend.compile(graph, {.max_items = 1, .max_length = 1000})->choices()[0].kernel;
}

TEST(CpuProgram, SincFiltersAreFoldedOnlyIfTheyAreMirroredToTheBit) {
  const auto cpu = make_cpu_backend(1);
  for (GraphCase& test : mirrored_sinc_cases()) {
    EXPECT_TRUE(kernel_of(*cpu, test.graph).starts_with("mirrored")) << test.name;
    auto& filters = std::get<model::SincConvolution>(test.graph.nodes[0].block).filters;
    std::vector<float> numbers(filters.values().begin(), filters.values().end());
    const auto last = numbers.size() - 1;
    numbers[last] = std::nextafter(numbers[last], 9.0F);
    filters = {filters.shape(), std::move(numbers)};
    EXPECT_TRUE(kernel_of(*cpu, test.graph).starts_with("sliding")) << test.name;
  }
}

TEST(CpuProgram, RefusesWhatWouldTouchForeignMemory) {
  const auto cpu = make_cpu_backend(1, "");
  GraphCase gather = row_cases().back();
  ASSERT_EQ(gather.name, "GatherRows");
  for (const float index : {-1.0F, 50.0F}) {
    gather.items[1].inputs[1][4] = index;
    EXPECT_THROW(run_graph(*cpu, gather), Error) << index;
  }
  const GraphCase dense = row_cases()[4];
  const auto program = cpu->compile(dense.graph, {.max_items = 1, .max_length = 10});
  const auto queue = cpu->make_queue();
  const auto in = cpu->allocate(10 * 256 * 4);
  const auto out = cpu->allocate(10 * 128 * 4);
  const std::vector<std::int32_t> lengths{10};
  backend::Run run;
  run.items = 1;
  run.lengths = lengths;
  run.inputs = {{in.get(), 0, 0, 0}};
  run.outputs = {{out.get(), 0, 0, 0}};
  EXPECT_NO_THROW(program->run(*queue, run));
  run.outputs[0].offset = 1;
  EXPECT_THROW(program->run(*queue, run), Error);
  run.outputs[0].offset = 0;
  run.inputs[0].offset = -1;
  EXPECT_THROW(program->run(*queue, run), Error);
  run.inputs[0].offset = 0;
  std::stop_source stop;
  stop.request_stop();
  run.stop = stop.get_token();
  try {
    program->run(*queue, run);
    FAIL() << "a stopped run went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled);
  }
}

}  // namespace
}  // namespace diarist::test
