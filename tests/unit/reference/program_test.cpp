// Views, batches, taps and refusals of the reference backend.

#include <gtest/gtest.h>

#include <limits>
#include <stop_token>

#include "block_graph.hpp"
#include "diarist/error.hpp"
#include "model/graph_builder.hpp"

namespace diarist::test {
namespace {

using model::ElementType;
using model::Graph;

model::Dense doubling() {
  model::Dense dense;
  dense.weight = {{1, 1}, {2.0F}};
  dense.bias = {{1}, {0.0F}};
  return dense;
}

/// rows [-1, 1] -> twice -> four times.
Graph ragged_graph() {
  model::GraphBuilder graph("ragged");
  const auto rows = graph.input("rows", {-1, 1});
  const auto twice = graph.add("a", doubling(), {rows}, "twice");
  return graph.finish({graph.add("b", doubling(), {twice}, "four")});
}

template <typename Call>
void expect_code(ErrorCode code, const Call& call) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
  }
}

class ReferenceProgramTest : public testing::Test {
 protected:
  std::unique_ptr<backend::Backend> backend_ = backend::reference::make_reference_backend(2);
  std::unique_ptr<backend::Queue> queue_ = backend_->make_queue();

  /// Runs with one input and one output buffer.
  Numbers run(const Graph& graph, const Numbers& in, std::int64_t in_stride, std::size_t out_size,
              std::int64_t out_stride, const std::vector<std::int32_t>& lengths,
              std::stop_token stop = {}) {
    const auto program = backend_->compile(graph, {static_cast<int>(lengths.size()), 8});
    const auto input = buffer_of(*backend_, in);
    const auto output = buffer_of(*backend_, Numbers(out_size, -1.0F));
    backend::Run run;
    run.items = static_cast<int>(lengths.size());
    run.inputs = {{input.get(), 0, in_stride, 0}};
    run.outputs = {{output.get(), 0, out_stride, 0}};
    run.lengths = lengths;
    run.stop = stop;
    program->run(*queue_, run);
    return numbers_of(*backend_, *output);
  }
};

TEST_F(ReferenceProgramTest, RaggedItemsLieBackToBack) {
  EXPECT_EQ(run(ragged_graph(), {1, 2, 3, 4, 5, 6}, 0, 7, 0, {2, 1, 3}),
            (Numbers{4, 8, 12, 16, 20, 24, -1}));
}

TEST_F(ReferenceProgramTest, RaggedItemsAtAStride) {
  // Items start at elements 0, 1, 2 of the input and at 0, 4, 8 of the output.
  EXPECT_EQ(run(ragged_graph(), {1, 2, 3, 4}, 1, 10, 4, {2, 3, 2}),
            (Numbers{4, 8, -1, -1, 8, 12, 16, -1, 12, 16}));
}

TEST_F(ReferenceProgramTest, WindowsOfAStripOverlap) {
  const Graph graph = block_graph(doubling(), {{3, 1}});
  EXPECT_EQ(run(graph, {1, 2, 3, 4, 5}, 1, 9, 3, {0, 0, 0}), (Numbers{2, 4, 6, 4, 6, 8, 6, 8, 10}));
}

TEST_F(ReferenceProgramTest, AnyValueCanBeAnOutput) {
  const Graph graph = ragged_graph().with_outputs({"four", "rows", "twice"});
  const auto program = backend_->compile(graph, {1, 3});
  const auto input = buffer_of(*backend_, {1, 2, 3});
  std::vector<std::unique_ptr<backend::Buffer>> outputs;
  backend::Run run;
  run.items = 1;
  run.inputs = {{input.get(), 0, 0, 0}};
  for (int i = 0; i < 3; ++i) {
    outputs.push_back(buffer_of(*backend_, Numbers(3)));
    run.outputs.push_back({outputs.back().get(), 0, 0, 0});
  }
  const std::vector<std::int32_t> lengths = {3};
  run.lengths = lengths;
  program->run(*queue_, run);
  EXPECT_EQ(numbers_of(*backend_, *outputs[0]), (Numbers{4, 8, 12}));
  EXPECT_EQ(numbers_of(*backend_, *outputs[1]), (Numbers{1, 2, 3}));
  EXPECT_EQ(numbers_of(*backend_, *outputs[2]), (Numbers{2, 4, 6}));
}

TEST_F(ReferenceProgramTest, FirstMaximumAndNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Graph graph = block_graph(model::PowersetDecision{}, {{3, 7}});
  const auto program = backend_->compile(graph, {});
  const auto input = buffer_of(*backend_, {0,   3,   1,   3,   2,   3,   1,    // 1, not 3 or 5
                                           nan, nan, nan, nan, nan, nan, nan,  // no speech
                                           -2,  -2,  -2,  -2,  -2,  -2,  -1});
  const auto output = backend_->allocate(3);
  backend::Run run;
  run.items = 1;
  run.inputs = {{input.get(), 0, 0, 0}};
  run.outputs = {{output.get(), 0, 0, 0}};
  program->run(*queue_, run);
  const auto* classes = static_cast<const std::uint8_t*>(output->host());
  EXPECT_EQ(std::vector<int>(classes, classes + 3), (std::vector<int>{1, 0, 6}));
}

TEST_F(ReferenceProgramTest, GatheredRowsAreBoundsChecked) {
  model::GraphBuilder builder("gather");
  const auto features = builder.input("features", {-1, 2}, ElementType::kF32, true);
  const auto indices = builder.input("indices", {-1}, ElementType::kI32);
  const Graph graph =
      builder.finish({builder.add("gather", model::GatherRows{}, {features, indices}, "rows")});
  const auto program = backend_->compile(graph, {1, 3});
  const auto shared = buffer_of(*backend_, {0, 1, 10, 11, 20, 21, 30, 31});
  const auto output = buffer_of(*backend_, Numbers(6));
  const auto gather = [&](const std::vector<std::int32_t>& wanted) {
    const auto list = backend_->allocate(wanted.size() * 4);
    queue_->upload(*list, 0, std::as_bytes(std::span(wanted)));
    backend::Run run;
    run.items = 1;
    run.inputs = {{shared.get(), 2, 0, 3}, {list.get(), 0, 0, 0}};  // rows 1 to 3 of the buffer
    run.outputs = {{output.get(), 0, 0, 0}};
    const std::vector<std::int32_t> lengths = {static_cast<std::int32_t>(wanted.size())};
    run.lengths = lengths;
    program->run(*queue_, run);
  };
  gather({2, 0, 2});
  EXPECT_EQ(numbers_of(*backend_, *output), (Numbers{30, 31, 10, 11, 30, 31}));
  expect_code(ErrorCode::kInvalidArgument, [&] { gather({0, 3}); });
  expect_code(ErrorCode::kInvalidArgument, [&] { gather({-1}); });
}

TEST_F(ReferenceProgramTest, RunsThatDoNotFitAreRefused) {
  const Graph graph = ragged_graph();
  expect_code(ErrorCode::kInternal, [&] { run(graph, {1, 2}, 0, 8, 0, {3}); });      // input
  expect_code(ErrorCode::kInternal, [&] { run(graph, {1, 2, 3}, 0, 2, 0, {3}); });   // output
  expect_code(ErrorCode::kInternal, [&] { run(graph, Numbers(9), 0, 9, 0, {9}); });  // > 8
  expect_code(ErrorCode::kInvalidArgument, [&] { backend_->compile(graph, {0, 8}); });
  expect_code(ErrorCode::kInvalidArgument, [&] { backend_->compile(graph, {1, 0}); });
}

TEST_F(ReferenceProgramTest, StopsOnRequest) {
  std::stop_source stop;
  stop.request_stop();
  expect_code(ErrorCode::kCancelled,
              [&] { run(ragged_graph(), {1}, 0, 1, 0, {1}, stop.get_token()); });
}

TEST_F(ReferenceProgramTest, QueueChecksRanges) {
  const auto buffer = backend_->allocate(8);
  std::vector<std::byte> bytes(9);
  expect_code(ErrorCode::kInternal, [&] { queue_->upload(*buffer, 0, bytes); });
  expect_code(ErrorCode::kInternal,
              [&] { queue_->download(*buffer, 9, std::span(bytes).first(1)); });
  const std::int16_t pcm16[] = {-32768, 16384, 1};
  expect_code(ErrorCode::kInternal, [&] { queue_->upload_pcm16(*buffer, 0, pcm16); });
  expect_code(ErrorCode::kInternal, [&] { queue_->upload_pcm16(*buffer, 1, std::span(pcm16, 2)); });
  queue_->upload_pcm16(*buffer, 0, std::span(pcm16, 2));
  EXPECT_EQ(numbers_of(*backend_, *buffer), (Numbers{-1, 0.5F}));
  queue_->upload_pcm16(*buffer, 1, std::span(pcm16 + 2, 1));
  EXPECT_EQ(numbers_of(*backend_, *buffer), (Numbers{-1, 1.0F / 32768}));
}

}  // namespace
}  // namespace diarist::test
