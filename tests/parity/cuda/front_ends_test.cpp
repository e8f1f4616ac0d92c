// The sinc convolution and log-mel features on the GPU against the double reference.

#include <gtest/gtest.h>

#include <cstdio>
#include <limits>

#include "backend/reference/reference_backend.hpp"
#include "front_fixture.hpp"

namespace diarist::test {
namespace {

struct FrontGraph {
  const char* name;
  model::Graph graph;
  int reach, stride;
  double tolerance;
};

std::vector<FrontGraph> front_graphs() {
  return {{"sinc", model::sinc_front_end(pyannet_weights()), 251, 10, 3e-6},
          {"log-mel, Hamming", model::wespeaker_features(), 400, 160, 1e-6},
          {"log-mel, Povey", model::campplus_features(), 400, 160, 1e-6}};
}

// Every signal at several lengths, odd ones among them.
GraphCase case_of(const FrontGraph& front) {
  GraphCase test;
  test.name = front.name;
  test.graph = front.graph;
  const std::vector<std::int64_t> lengths = {16241, 16000, 7777, 401, 400, 251, 250, 16240};
  const std::vector<Signal> all = signals(16241);
  for (std::size_t s = 0; s < all.size(); ++s)
    for (const std::int64_t length : {std::int64_t{16241}, lengths[s]}) {
      Numbers samples = all[s].samples;
      samples.resize(static_cast<std::size_t>(length));
      test.items.push_back({{samples}, length});
    }
  return test;
}

using FrontEnds = FrontKernelsTest;
INSTANTIATE_TEST_SUITE_P(Kernels, FrontEnds, both_kernels(), kernels_name);

TEST_P(FrontEnds, EqualTheReference) {
  DIARIST_NEED_CUDA();
  FrontBackend gpu(GetParam());
  const auto reference = backend::reference::make_reference_backend(0);
  for (const FrontGraph& front : front_graphs()) {
    const GraphCase test = case_of(front);
    const Outputs wanted = run_graph(*reference, test);
    const Outputs got = run_graph(gpu, test);
    double worst = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const double difference = relative_difference(got[i][0], wanted[i][0]);
      worst = std::max(worst, difference);
      EXPECT_LE(difference, front.tolerance)
          << front.name << ", item " << i << " of " << test.items[i].length << " samples";
    }
    std::printf("%-18s largest difference %.2e of the largest number\n", front.name, worst);
  }
}

TEST_P(FrontEnds, AnItemsBitsDependOnNothingElse) {
  DIARIST_NEED_CUDA();
  FrontBackend gpu(GetParam());
  for (const FrontGraph& front : front_graphs()) {
    const GraphCase test = case_of(front);
    const Outputs all = run_graph(gpu, test);
    std::vector<int> order;
    for (int i = static_cast<int>(test.items.size()) - 1; i >= 0; i -= 3) order.push_back(i);
    const Outputs some = run_graph(gpu, test, order);
    for (std::size_t i = 0; i < order.size(); ++i)
      EXPECT_EQ(some[i], all[static_cast<std::size_t>(order[i])]) << front.name;
    EXPECT_EQ(run_graph(gpu, test, {3})[0], all[3]) << front.name;
  }
}

// More items than one launch takes.
TEST_P(FrontEnds, ManyItems) {
  DIARIST_NEED_CUDA();
  FrontBackend gpu(GetParam());
  for (const FrontGraph& front : front_graphs()) {
    const GraphCase test = case_of(front);
    const Outputs all = run_graph(gpu, test);
    std::vector<int> order;
    for (int i = 0; i < 300; ++i) order.push_back(i * 7 % static_cast<int>(test.items.size()));
    const Outputs many = run_graph(gpu, test, order);
    for (std::size_t i = 0; i < order.size(); ++i)
      EXPECT_EQ(many[i], all[static_cast<std::size_t>(order[i])]) << front.name << " " << i;
  }
}

/// Rows of stretches of a tape that begin every `step` samples and overlap, at a stride of rows.
Numbers rows_of_tape(FrontBackend& gpu, const FrontGraph& front, const Numbers& tape, int offset,
                     int step, int items) {
  const auto queue = gpu.make_queue();
  const std::int64_t tail = front.reach - front.stride;
  const auto program = gpu.compile(front.graph, {.max_items = items, .max_length = step + tail});
  const auto samples = gpu.allocate(tape.size() * 4);
  queue->upload(*samples, 0, std::as_bytes(std::span(tape)));
  const std::int64_t rows = step / front.stride;
  Numbers result(static_cast<std::size_t>(items * rows * 80),
                 std::numeric_limits<float>::quiet_NaN());
  const auto target = gpu.allocate(result.size() * 4);
  queue->upload(*target, 0, std::as_bytes(std::span(result)));
  std::vector<std::int32_t> lengths(static_cast<std::size_t>(items),
                                    static_cast<std::int32_t>(step + tail));
  backend::Run run;
  run.items = items;
  run.inputs = {{samples.get(), offset, step, 0}};
  run.outputs = {{target.get(), 0, rows * 80, 0}};
  run.lengths = lengths;
  program->run(*queue, run);
  queue->download(*target, 0, std::as_writable_bytes(std::span(result)));
  queue->wait();
  return result;
}

// Rows of the same samples have the same bits however the tape is cut, and a shout or a number that
// is not finite changes only the rows that touch it.
TEST_P(FrontEnds, RowsDoNotDependOnTheCut) {
  DIARIST_NEED_CUDA();
  FrontBackend gpu(GetParam());
  for (const FrontGraph& front : front_graphs()) {
    Numbers tape = speech_like(8 * 16000 + 1000, 4);
    const Numbers by_second = rows_of_tape(gpu, front, tape, 160, 16000, 6);
    const Numbers whole = rows_of_tape(gpu, front, tape, 160, 96000, 1);
    EXPECT_EQ(by_second, whole) << front.name;
    const Numbers odd = rows_of_tape(gpu, front, tape, 160, 1600, 60);
    EXPECT_EQ(odd, whole) << front.name;
    const Numbers later = rows_of_tape(gpu, front, tape, 160 + 480, 32000, 2);
    const auto skipped = static_cast<std::ptrdiff_t>(480 / front.stride * 80);
    EXPECT_TRUE(std::equal(later.begin(), later.end(), whole.begin() + skipped)) << front.name;

    const int shouts[] = {40000, 71234};
    tape[160 + 40000] = 300.0F;
    tape[160 + 71234] = std::numeric_limits<float>::infinity();
    const Numbers shouted = rows_of_tape(gpu, front, tape, 160, 16000, 6);
    for (std::size_t at = 0; at < whole.size(); ++at) {
      const int first = static_cast<int>(at / 80) * front.stride;
      bool touched = false;
      for (const int shout : shouts)
        touched = touched || (first <= shout && shout < first + front.reach);
      if (touched || shouted[at] == whole[at]) continue;
      ADD_FAILURE() << front.name << ": row " << at / 80 << " changed";
      break;
    }
  }
}

TEST_P(FrontEnds, MisusesAreErrors) {
  DIARIST_NEED_CUDA();
  FrontBackend gpu(GetParam());
  const FrontGraph sinc = front_graphs()[0];
  const auto queue = gpu.make_queue();
  const auto program = gpu.compile(sinc.graph, {.max_items = 2, .max_length = 1000});
  const auto buffer = gpu.allocate(1000 * 4);
  const auto run_with = [&](int items, std::int32_t length, std::int64_t offset) {
    const std::vector<std::int32_t> lengths(static_cast<std::size_t>(items), length);
    backend::Run run;
    run.items = items;
    run.inputs = {{buffer.get(), offset, 0, 0}};
    run.outputs = {{buffer.get(), 500, 0, 0}};
    run.lengths = lengths;
    program->run(*queue, run);
  };
  EXPECT_THROW(run_with(3, 260, 0), Error);
  EXPECT_THROW(run_with(1, 1001, 0), Error);
  EXPECT_THROW(run_with(1, 300, 800), Error);
  EXPECT_THROW(run_with(2, 600, 0), Error);
  EXPECT_NO_THROW(run_with(1, 260, 0));
  queue->wait();
}

}  // namespace
}  // namespace diarist::test
