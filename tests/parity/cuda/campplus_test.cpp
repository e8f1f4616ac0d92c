// CAM++ on the GPU as a whole, against the double reference.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "campplus_fixture.hpp"

namespace diarist::test {
namespace {

using backend::cuda::campplus::CampplusProgram;
using backend::cuda::campplus::find_parts;
using backend::cuda::campplus::GraphKind;

// Odd ones, segments that just end, begin or lack a unit, and tiles that cut items.
const std::vector<int> kLengths = {998, 2, 3, 37, 199, 200, 201, 8, 402, 1, 256};

const GraphCase& network_case() {
  static const GraphCase made =
      gathered_case(model::campplus_network(campplus_weights()), kLengths);
  return made;
}

Outputs reference_of(const GraphCase& test) {
  const auto reference = backend::reference::make_reference_backend(0);
  return run_graph(*reference, test);
}

const Outputs& network_reference() {
  static const Outputs made = reference_of(network_case());
  return made;
}

void expect_network(Precision precision, double difference, double least_cosine) {
  CampplusBackend gpu(precision);
  const Outputs got = run_graph(gpu, network_case());
  double worst = 0, furthest = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const Numbers& wanted = network_reference()[i][0];
    const double relative = relative_difference(got[i][0], wanted);
    const double angle = 1 - cosine(got[i][0], wanted);
    EXPECT_LE(relative, difference) << kLengths[i] << " rows";
    EXPECT_LE(angle, 1 - least_cosine) << kLengths[i] << " rows";
    worst = std::max(worst, relative);
    furthest = std::max(furthest, angle);
  }
  std::printf("[          ] largest difference %.2e, 1 - cosine %.2e\n", worst, furthest);
}

TEST(CudaCampplus, ExactEqualsTheReference) {
  DIARIST_NEED_CUDA();
  expect_network(Precision::kExact, kExactDifference, 1 - 1e-9);
}

TEST(CudaCampplus, HalvesStayNearTheReference) {
  DIARIST_NEED_CUDA();
  expect_network(Precision::kFast, 2e-2, 0.9999);
}

TEST(CudaCampplus, ManyShortItemsShareATile) {
  DIARIST_NEED_CUDA();
  // Up to 31 items lie in one tile of the dense layers.
  std::vector<int> lengths;
  for (int i = 0; i < 45; ++i) lengths.push_back(i < 33 ? 1 + i % 3 : 3 * i % 40 + 1);
  const GraphCase test = gathered_case(model::campplus_network(campplus_weights()), lengths);
  const Outputs wanted = reference_of(test);
  CampplusBackend gpu(Precision::kFast);
  const Outputs got = run_graph(gpu, test);
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_LE(1 - cosine(got[i][0], wanted[i][0]), 1e-4) << "item " << i;
}

TEST(CudaCampplus, TrunkGivesFramesItemBehindItem) {
  DIARIST_NEED_CUDA();
  const GraphCase test = gathered_case(model::campplus_trunk(campplus_weights()), {201, 5, 60});
  const Outputs wanted = reference_of(test);
  for (const Precision precision : {Precision::kExact, Precision::kFast}) {
    CampplusBackend gpu(precision);
    const Outputs got = run_graph(gpu, test);
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_LE(relative_difference(got[i][0], wanted[i][0]),
                precision == Precision::kExact ? kExactDifference : 2e-2);
  }
}

TEST(CudaCampplus, HeadPoolsFrames) {
  DIARIST_NEED_CUDA();
  GraphCase test;
  test.graph = model::campplus_head(campplus_weights());
  Random random(9);
  for (const int length : {499, 1, 2, 4, 77})
    test.items.push_back({{random.numbers(std::int64_t{length} * 512, 3.0)}, length});
  const Outputs wanted = reference_of(test);
  CampplusBackend gpu(Precision::kFast);
  const Outputs got = run_graph(gpu, test);
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_LE(relative_difference(got[i][0], wanted[i][0]), 1e-5);
}

/// Frames gathered out of a shared array, then the head.
model::Graph pooled_graph() {
  model::Graph graph = model::campplus_head(campplus_weights());
  const model::StatsHead head = std::get<model::StatsHead>(graph.nodes[0].block);
  model::Graph pooled;
  pooled.name = "campplus_pooled";
  pooled.values = {{"frames", model::ElementType::kF32, {-1, 512}, true},
                   {"indices", model::ElementType::kI32, {-1}, false},
                   {"rows", model::ElementType::kF32, {-1, 512}, false},
                   {"embedding", model::ElementType::kF32, {192}, false}};
  pooled.nodes = {{"gather", model::GatherRows{}, {0, 1}, 2}, {"head", head, {2}, 3}};
  pooled.inputs = {0, 1};
  pooled.outputs = {3};
  return pooled;
}

TEST(CudaCampplus, HeadPoolsGatheredFrames) {
  DIARIST_NEED_CUDA();
  GraphCase test;
  test.graph = pooled_graph();
  Random random(10);
  test.shared = {random.numbers(std::int64_t{900} * 512, 3.0), {}};
  for (const int length : {499, 4, 31}) {
    Numbers indices;
    for (int i = 0; i < length; ++i) indices.push_back(static_cast<float>(random.below(900)));
    test.items.push_back({{{}, indices}, length});
  }
  const Outputs wanted = reference_of(test);
  CampplusBackend gpu(Precision::kExact);
  const Outputs got = run_graph(gpu, test);
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_LE(relative_difference(got[i][0], wanted[i][0]), 1e-5);
}

TEST(CudaCampplus, BitsDependOnNothingButTheItem) {
  DIARIST_NEED_CUDA();
  // Enough rows for several tiles, slabs and packs.
  std::vector<int> lengths = kLengths;
  Random random(3);
  while (lengths.size() < 90) lengths.push_back(static_cast<int>(1 + random.below(998)));
  const GraphCase test = gathered_case(model::campplus_network(campplus_weights()), lengths);
  std::vector<int> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  for (const Precision precision : {Precision::kFast, Precision::kExact}) {
    CampplusBackend gpu(precision);
    const Outputs all = run_graph(gpu, test, order);
    std::vector<int> reversed(order.rbegin(), order.rend());
    const Outputs backwards = run_graph(gpu, test, reversed);
    for (std::size_t i = 0; i < all.size(); ++i)
      EXPECT_EQ(all[i][0], backwards[all.size() - 1 - i][0]) << lengths[i] << " rows, reversed";
    for (const int alone : {0, 1, 2, 4, 6, 9, 50}) {
      const Outputs single = run_graph(gpu, test, {alone});
      EXPECT_EQ(all[static_cast<std::size_t>(alone)][0], single[0][0]) << "alone, item " << alone;
    }
    const Outputs few = run_graph(gpu, test, {7, 0, 3, 0});
    EXPECT_EQ(all[0][0], few[1][0]);
    EXPECT_EQ(all[0][0], few[3][0]);
  }
}

/// Instead of a program without halves: writes sevens.
class Sevens final : public backend::Program {
 public:
  void run(backend::Queue& queue, const backend::Run& run) override {
    EXPECT_EQ(run.items, 1);
    const Numbers numbers(192, 7.0F);
    queue.upload(*run.outputs[0].buffer, static_cast<std::size_t>(run.outputs[0].offset) * 4,
                 std::as_bytes(std::span(numbers)));
  }
  std::span<const backend::Choice> choices() const noexcept override { return {}; }
  std::size_t workspace_bytes() const noexcept override { return 0; }
};

struct Batch {
  Batch(backend::Backend& gpu, backend::Queue& queue, const GraphCase& test, const Numbers& shared,
        const std::vector<std::int32_t>& index_list)
      : features(gpu.allocate(shared.size() * 4)),
        indices(gpu.allocate(index_list.size() * 4)),
        output(gpu.allocate(test.items.size() * 192 * 4)),
        flags(gpu.allocate(test.items.size() * 4)) {
    queue.upload(*features, 0, std::as_bytes(std::span(shared)));
    queue.upload(*indices, 0, std::as_bytes(std::span(index_list)));
    for (const Item& item : test.items) lengths.push_back(static_cast<std::int32_t>(item.length));
    run.items = static_cast<int>(test.items.size());
    run.lengths = lengths;
    run.inputs = {{features.get(), 0, 0, static_cast<std::int64_t>(shared.size()) / 80},
                  {indices.get(), 0, 0, 0}};
    run.outputs = {{output.get(), 0, 192, 0}};
    run.flags = {flags.get(), 0, 0, 0};
  }
  Numbers numbers(backend::Queue& queue) const {
    Numbers all(output->bytes() / 4);
    queue.download(*output, 0, std::as_writable_bytes(std::span(all)));
    queue.wait();
    return all;
  }
  std::unique_ptr<backend::Buffer> features, indices, output, flags;
  std::vector<std::int32_t> lengths;
  backend::Run run;
};

std::vector<std::int32_t> all_indices(const GraphCase& test) {
  std::vector<std::int32_t> list;
  for (const Item& item : test.items)
    for (const float index : item.inputs[1]) list.push_back(static_cast<std::int32_t>(index));
  return list;
}

TEST(CudaCampplus, ItemsThatLeaveTheRangeAreComputedAgain) {
  DIARIST_NEED_CUDA();
  GraphCase test = gathered_case(model::campplus_network(campplus_weights()), {60, 40, 90, 50});
  Numbers shared = test.shared[0];
  // The third item reads rows of its own, which are far too large.
  std::vector<std::int32_t> list = all_indices(test);
  for (std::size_t i = 100; i < 190; ++i) list[i] = static_cast<std::int32_t>(1300 + i);
  for (std::size_t i = 1400 * 80; i < 1490 * 80; ++i) shared[i] *= 1e5F;
  for (const Precision precision : {Precision::kFast, Precision::kExact}) {
    int made = 0;
    CampplusBackend gpu(precision,
                        [&](const model::Graph&, const backend::CompileOptions& options) {
                          EXPECT_EQ(options.max_items, 1);
                          ++made;
                          return std::make_unique<Sevens>();
                        });
    backend::cuda::CudaQueue queue(0);
    const auto program = gpu.make(test.graph, {.max_items = 4, .max_length = 100});
    const Batch batch(gpu, queue, test, shared, list);
    program->run(queue, batch.run);
    std::vector<std::uint32_t> flags(4);
    queue.download(*batch.flags, 0, std::as_writable_bytes(std::span(flags)));
    queue.wait();
    EXPECT_EQ(flags[0], 0U);
    EXPECT_EQ(flags[1], 0U);
    EXPECT_NE(flags[2], 0U);
    EXPECT_EQ(flags[3], 0U);
    const Numbers before = batch.numbers(queue);
    EXPECT_TRUE(program->settle(queue, batch.run));
    const Numbers after = batch.numbers(queue);
    EXPECT_EQ(made, 1);
    for (std::size_t i = 0; i < after.size(); ++i)
      EXPECT_EQ(after[i], i / 192 == 2 ? 7.0F : before[i]) << i;
    EXPECT_FALSE(program->settle(queue, batch.run));
  }
}

TEST(CudaCampplus, WrongArgumentsAreNamed) {
  DIARIST_NEED_CUDA();
  const GraphCase test = gathered_case(model::campplus_network(campplus_weights()), {60, 40});
  CampplusBackend gpu(Precision::kFast);
  backend::cuda::CudaQueue queue(0);
  const auto program = gpu.make(test.graph, {.max_items = 2, .max_length = 100});
  std::vector<std::int32_t> list = all_indices(test);
  const Batch batch(gpu, queue, test, test.shared[0], list);
  const auto code_of = [&](const backend::Run& run) {
    try {
      program->run(queue, run);
      program->settle(queue, run);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::kInternal;
  };
  backend::Run run = batch.run;
  run.items = 3;
  EXPECT_EQ(code_of(run), ErrorCode::kInvalidArgument);
  run = batch.run;
  const std::vector<std::int32_t> lengths = {60, 101};
  run.lengths = lengths;
  EXPECT_EQ(code_of(run), ErrorCode::kInvalidArgument);
  run = batch.run;
  run.outputs[0].item_stride = 191;
  EXPECT_EQ(code_of(run), ErrorCode::kInvalidArgument);
  run = batch.run;
  run.inputs[0].rows = 1501;
  EXPECT_EQ(code_of(run), ErrorCode::kInvalidArgument);
  run = batch.run;
  run.inputs[0].rows = 10;  // the indices point behind them
  EXPECT_EQ(code_of(run), ErrorCode::kInvalidArgument);
}

TEST(CampplusParts, TellsItsGraphsFromOthers) {
  backend::cuda::campplus::CampplusParts parts;
  const model::Graph network = model::campplus_network(campplus_weights());
  ASSERT_TRUE(find_parts(network, parts));
  EXPECT_EQ(parts.kind, GraphKind::kNetwork);
  const model::Graph trunk = model::campplus_trunk(campplus_weights());
  ASSERT_TRUE(find_parts(trunk, parts));
  EXPECT_EQ(parts.kind, GraphKind::kTrunk);
  const model::Graph head = model::campplus_head(campplus_weights());
  ASSERT_TRUE(find_parts(head, parts));
  EXPECT_EQ(parts.kind, GraphKind::kHead);
  const model::Graph pooled = pooled_graph();
  ASSERT_TRUE(find_parts(pooled, parts));
  EXPECT_EQ(parts.kind, GraphKind::kPooled);
  EXPECT_FALSE(find_parts(network.with_outputs({"tdnn"}), parts));
  EXPECT_FALSE(find_parts(network.with_outputs({"frames", "embedding"}), parts));
  EXPECT_FALSE(find_parts(model::campplus_features(), parts));
}

}  // namespace
}  // namespace diarist::test
