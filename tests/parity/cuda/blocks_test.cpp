// Every block on the GPU in FP32, against the double reference; whole networks likewise; and what
// BlockProgram does beside its numbers.

#include <algorithm>
#include <iostream>

#include "../backends/block_cases.hpp"
#include "backend/reference/reference_backend.hpp"
#include "blocks_backend.hpp"
#include "counted_new.hpp"
#include "diarist/error.hpp"
#include "model/networks.hpp"
#include "support/synthetic_weights.hpp"

namespace diarist::test {
namespace {

constexpr std::size_t kWindow = 160000, kFrames = 589;

void show(const std::string& text) {
  if (std::getenv("DIARIST_SHOW") != nullptr) std::cout << text << "\n";
}

template <typename T>
void upload(backend::Queue& queue, backend::Buffer& buffer, const std::vector<T>& values) {
  queue.upload(buffer, 0, std::as_bytes(std::span(values)));
}

/// Largest relative difference of all outputs; each is held against the tolerance.
void expect_reference(const GraphCase& test) {
  BlocksBackend gpu;
  const Outputs wanted = run_graph(*backend::reference::make_reference_backend(0), test);
  const Outputs got = run_graph(gpu, test);
  for (std::size_t o = 0; o < test.graph.outputs.size(); ++o) {
    const auto id = static_cast<std::size_t>(test.graph.outputs[o]);
    const std::string where = test.name + " " + test.graph.values[id].name;
    double worst = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const double difference = relative_difference(got[i][o], wanted[i][o]);
      worst = std::max(worst, difference);
      EXPECT_LE(difference, test.tolerance) << where << ", item " << i;
    }
    show(where + ": " + std::to_string(worst * 1e6) + "e-6");
  }
}

/// All items together, in another order and some twice, alone, and in small parts of a batch.
void expect_same_bits(const GraphCase& test) {
  BlocksBackend gpu, tight(1);
  const Outputs wanted = run_graph(gpu, test);
  EXPECT_EQ(run_graph(tight, test), wanted) << test.name << ", one item at a time";
  std::vector<int> shuffled;
  for (int i = static_cast<int>(test.items.size()) - 1; i >= 0; --i) {
    shuffled.push_back(i);
    if (i % 2 == 0) shuffled.push_back(static_cast<int>(test.items.size()) - 1 - i);
  }
  const Outputs again = run_graph(gpu, test, shuffled);
  for (std::size_t i = 0; i < shuffled.size(); ++i)
    EXPECT_EQ(again[i], wanted[static_cast<std::size_t>(shuffled[i])])
        << test.name << ", item " << shuffled[i] << " at place " << i;
  for (int i = 0; i < static_cast<int>(test.items.size()); ++i)
    EXPECT_EQ(run_graph(gpu, test, {i})[0], wanted[static_cast<std::size_t>(i)])
        << test.name << ", item " << i << " alone";
}

TEST(CudaBlocks, EqualTheReference) {
  DIARIST_NEED_CUDA();
  for (const GraphCase& test : block_cases()) expect_reference(test);
}

TEST(CudaBlocks, BitsDependOnNothingButTheItem) {
  DIARIST_NEED_CUDA();
  for (const GraphCase& test : block_cases()) expect_same_bits(test);
}

// The layer with 128 units has one kernel for few, some and many items.
TEST(CudaBlocks, AnLstmHasTheSameBitsHoweverManyItemsShareAKernel) {
  DIARIST_NEED_CUDA();
  BlocksBackend gpu;
  const GraphCase test = sequence_cases()[1];
  const Outputs wanted = run_graph(gpu, test);
  for (const int count : {200, 300, 700}) {
    std::vector<int> order;
    for (int i = 0; i < count; ++i) order.push_back(i * 5 % static_cast<int>(test.items.size()));
    const Outputs got = run_graph(gpu, test, order);
    for (std::size_t i = 0; i < order.size(); ++i)
      ASSERT_EQ(got[i], wanted[static_cast<std::size_t>(order[i])]) << count << " items, " << i;
  }
}

TEST(CudaBlocks, EmptyMaskIsTheBiasAndOneFrameHasNoDeviation) {
  DIARIST_NEED_CUDA();
  BlocksBackend gpu;
  GraphCase test = statistics_cases()[2];
  const auto& head = std::get<model::MaskedStatsHead>(test.graph.nodes[0].block);
  const Numbers embeddings = run_graph(gpu, test, {2})[0][0];
  const Numbers bias(head.bias.values().begin(), head.bias.values().end());
  EXPECT_EQ(Numbers(embeddings.begin(), embeddings.begin() + 256), bias);
  EXPECT_EQ(Numbers(embeddings.begin() + 512, embeddings.end()), bias);
  EXPECT_NE(Numbers(embeddings.begin() + 256, embeddings.begin() + 512), bias);
  // The same head, blind for means: with one frame only the bias may be left.
  std::vector<float> weight(head.weight.values().begin(), head.weight.values().end());
  for (std::size_t i = 0; i < weight.size(); ++i) weight[i] *= i % 5120 < 2560 ? 0.0F : 1.0F;
  auto& block = std::get<model::MaskedStatsHead>(test.graph.nodes[0].block);
  block.weight = {block.weight.shape(), weight};
  const Numbers one_frame = run_graph(gpu, test, {1})[0][0];
  EXPECT_EQ(Numbers(one_frame.begin(), one_frame.begin() + 256), bias);
}

/// Golden signal; the same very quiet and with an offset; silence; noise.
std::vector<Numbers> synthetic_windows() {
  const std::vector<float> golden = golden_signal();
  std::vector<Numbers> windows{golden, golden, Numbers(kWindow, 0.0F), Random(9).numbers(kWindow)};
  for (float& x : windows[1]) x = 1e-3F * x + 0.01F;
  return windows;
}

TEST(CudaBlockNetworks, FrontEnds) {
  DIARIST_NEED_CUDA();
  GraphCase test;
  for (const Numbers& window : synthetic_windows()) {
    const auto length = static_cast<std::int64_t>(window.size());
    test.items.push_back({{window}, length});
    test.items.push_back({{Numbers(window.begin(), window.begin() + 1237)}, 1237});
  }
  test.tolerance = 2e-5;
  for (const model::Graph& graph : {model::wespeaker_features(), model::campplus_features(),
                                    model::sinc_front_end(synthetic_weights("pyannet"))}) {
    test.name = graph.name;
    test.graph = graph;
    expect_reference(test);
  }
}

TEST(CudaBlockNetworks, Segmentation) {
  DIARIST_NEED_CUDA();
  const model::Weights weights = synthetic_weights("pyannet");
  const auto reference = backend::reference::make_reference_backend(0);
  GraphCase front;
  front.graph = model::sinc_front_end(weights);
  for (const Numbers& window : synthetic_windows())
    front.items.push_back({{window}, static_cast<std::int64_t>(window.size())});
  const Outputs raw = run_graph(*reference, front);
  GraphCase test;
  test.name = "segmentation";
  test.graph = model::segmentation_network(weights).with_outputs(
      {"classes", "log_probabilities", "masks", "sinc0", "sinc2", "lstm0", "lstm3"});
  for (std::size_t i = 0; i < front.items.size(); ++i)
    test.items.push_back({{front.items[i].inputs[0], raw[i][0]}, 0});
  const Outputs wanted = run_graph(*reference, test);
  BlocksBackend gpu;
  const Outputs got = run_graph(gpu, test);
  for (std::size_t item = 0; item < wanted.size(); ++item) {
    double worst = 0;
    const Numbers& scores = wanted[item][1];
    for (std::size_t i = 0; i < scores.size(); ++i)
      worst = std::max(worst, std::abs(static_cast<double>(got[item][1][i]) - scores[i]));
    EXPECT_LE(worst, 1e-4) << "window " << item;
    for (std::size_t t = 0; t < kFrames; ++t) {
      if (got[item][0][t] == wanted[item][0][t]) continue;
      std::vector<float> frame(scores.begin() + static_cast<std::ptrdiff_t>(7 * t),
                               scores.begin() + static_cast<std::ptrdiff_t>(7 * t + 7));
      std::ranges::sort(frame, std::greater<>());
      EXPECT_LE(frame[0] - frame[1], 1e-4F) << "window " << item << ", frame " << t;
    }
    std::string line = "segmentation, window " + std::to_string(item) +
                       ": log-probabilities off by " + std::to_string(worst * 1e6) + "e-6;";
    for (std::size_t o = 3; o < 7; ++o)
      line += " " + std::to_string(relative_difference(got[item][o], wanted[item][o]) * 1e6);
    show(line);
  }
  expect_same_bits(test);
}

TEST(CudaBlockNetworks, Campplus) {
  DIARIST_NEED_CUDA();
  const model::Weights weights = synthetic_weights("campplus");
  GraphCase test;
  test.name = "campplus";
  test.graph = model::campplus_network(weights).with_outputs(
      {"rows", "head", "tdnn", "block1", "transit1", "transit2", "frames", "embedding"});
  Random random(8);
  test.shared = {random.numbers(300 * 80, 4.0), {}};
  for (const std::int64_t length : {120, 2, 231, 37}) {
    Item item;
    item.length = length;
    item.inputs = {{}, {}};
    for (std::int64_t t = 0; t < length; ++t)
      item.inputs[1].push_back(static_cast<float>(random.below(300)));
    test.items.push_back(std::move(item));
  }
  expect_reference(test);
  expect_same_bits(test);

  BlocksBackend gpu;
  GraphCase trunk = test, head, gathered;
  trunk.graph = model::campplus_trunk(weights);
  head.graph = model::campplus_head(weights);
  gathered.graph = model::campplus_gathered_head(weights);
  test.graph = model::campplus_network(weights);
  const Outputs frames = run_graph(gpu, trunk), whole = run_graph(gpu, test);
  Numbers all;
  for (const auto& item : frames) {
    const auto rows = static_cast<std::int64_t>(item[0].size() / 512);
    head.items.push_back({{item[0]}, rows});
    Numbers indices;
    for (std::int64_t t = 0; t < rows; ++t)
      indices.push_back(static_cast<float>(static_cast<std::int64_t>(all.size()) / 512 + t));
    gathered.items.push_back({{{}, indices}, rows});
    all.insert(all.end(), item[0].begin(), item[0].end());
  }
  gathered.shared = {all, {}};
  EXPECT_EQ(run_graph(gpu, head), whole);
  EXPECT_EQ(run_graph(gpu, gathered), whole);
}

// A length that the embedding's own program does not take.
TEST(CudaBlockNetworks, Resnet34OfNinetyFrames) {
  DIARIST_NEED_CUDA();
  constexpr int kRows = 90;
  GraphCase test;
  test.name = "resnet34";
  test.graph = model::resnet34_network(synthetic_weights("wespeaker-resnet34"), kRows)
                   .with_outputs({"stem", "layer1.0", "layer2.0.shortcut", "layer2.3", "layer3.5",
                                  "layer4.2", "embeddings"});
  Random random(7);
  for (int i = 0; i < 2; ++i) {
    Numbers masks(3 * kFrames);
    for (std::size_t m = 0; m < masks.size(); ++m)
      masks[m] = m % kFrames > 100 * (m / kFrames) && random.next() > -0.5 ? 1.0F : 0.0F;
    test.items.push_back({{random.numbers(kRows * 80, 4.0), masks}, 0});
  }
  expect_reference(test);
}

/// A dense layer of 256 to 128 columns with buffers for so many rows.
class DenseRun : public testing::Test {
 protected:
  void SetUp() override {
    DIARIST_NEED_CUDA();
    graph_ = row_cases()[4].graph;
    program_ = gpu_.compile(graph_, {.max_items = 3, .max_length = 10});
    queue_ = gpu_.make_queue();
    in_ = gpu_.allocate(kRoom * 256 * 4);
    out_ = gpu_.allocate(kRoom * 128 * 4);
    numbers_ = Random(21).numbers(kRoom * 256);
    upload(*queue_, *in_, numbers_);
    run_.items = 1;
    run_.lengths = lengths_;
    run_.inputs = {{in_.get(), 0, 0, 0}};
    run_.outputs = {{out_.get(), 0, 0, 0}};
  }
  Numbers output() {
    program_->run(*queue_, run_);
    program_->settle(*queue_, run_);
    Numbers numbers(kRoom * 128);
    queue_->download(*out_, 0, std::as_writable_bytes(std::span(numbers)));
    queue_->wait();
    return numbers;
  }
  void expect_refused(const char* what) {
    try {
      program_->run(*queue_, run_);
      ADD_FAILURE() << "accepted: " << what;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInternal) << what;
    }
  }

  static constexpr std::int64_t kRoom = 30;
  BlocksBackend gpu_;
  model::Graph graph_;
  std::unique_ptr<backend::Program> program_;
  std::unique_ptr<backend::Queue> queue_;
  std::unique_ptr<backend::Buffer> in_, out_;
  Numbers numbers_;
  std::vector<std::int32_t> lengths_{10, 10, 10};
  backend::Run run_;
};

TEST_F(DenseRun, RefusesWhatWouldTouchForeignMemory) {
  EXPECT_NO_THROW(program_->run(*queue_, run_));
  const backend::Run good = run_;
  run_.outputs[0].offset = 20 * 128 + 1;
  expect_refused("an output that ends behind its buffer");
  run_ = good;
  run_.inputs[0].offset = -1;
  expect_refused("an input before its buffer");
  run_ = good;
  run_.items = 4;
  expect_refused("too many items");
  run_ = good;
  run_.items = 3;
  run_.inputs[0].item_stride = 11 * 256;
  expect_refused("a last item behind the buffer");
  run_ = good;
  lengths_[0] = 11;
  expect_refused("an item that is too long");
  lengths_[0] = 0;
  expect_refused("an item without rows");
  lengths_[0] = 10;
  run_.outputs.clear();
  expect_refused("no output");
  run_ = good;
  run_.inputs[0].buffer = nullptr;
  expect_refused("no buffer");
  run_ = good;
  std::stop_source stop;
  stop.request_stop();
  run_.stop = stop.get_token();
  try {
    program_->run(*queue_, run_);
    FAIL() << "a stopped run went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled);
  }
  EXPECT_THROW(gpu_.compile(graph_, {.max_items = 0, .max_length = 1}), Error);
  EXPECT_THROW(gpu_.compile(graph_, {.max_items = 1, .max_length = 0}), Error);
}

TEST_F(DenseRun, ItemsLieBackToBackOrAtMultiplesOfAStride) {
  run_.items = 3;
  const Numbers together = output();
  lengths_ = {10, 4, 7};
  run_.inputs[0].item_stride = 10 * 256;
  run_.outputs[0].item_stride = 10 * 128;
  const Numbers apart = output();
  for (const std::size_t item : {0U, 1U, 2U}) {
    const auto first = static_cast<std::ptrdiff_t>(item * 10 * 128);
    EXPECT_TRUE(std::equal(together.begin() + first,
                           together.begin() + first + lengths_[item] * 128, apart.begin() + first))
        << item;
  }
  // Overlapping stretches of the input, outputs back to back.
  run_.inputs[0].item_stride = 5 * 256;
  run_.outputs[0].item_stride = 0;
  const Numbers overlapping = output();
  EXPECT_TRUE(std::equal(together.begin() + 5 * 128, together.begin() + 9 * 128,
                         overlapping.begin() + 10 * 128));
  EXPECT_TRUE(std::equal(together.begin() + 10 * 128, together.begin() + 17 * 128,
                         overlapping.begin() + 14 * 128));
}

TEST_F(DenseRun, QueuesTakeTurns) {
  run_.items = 3;
  const Numbers wanted = output();
  const auto other = gpu_.make_queue();
  for (int i = 0; i < 20; ++i) program_->run(i % 2 == 0 ? *queue_ : *other, run_);
  other->wait();
  EXPECT_EQ(output(), wanted);
}

TEST(CudaBlockProgram, ReadsWindowsAtPositions) {
  DIARIST_NEED_CUDA();
  BlocksBackend gpu;
  const GraphCase test = statistics_cases()[3];  // 5x3x17, two speakers
  const Outputs wanted = run_graph(gpu, test);
  const auto queue = gpu.make_queue();
  const auto program = gpu.compile(test.graph, {.max_items = 3});
  const std::size_t map = 5 * 3 * 17, masks = 2 * kFrames;
  const auto maps = gpu.allocate(4 * map * 4), all_masks = gpu.allocate(4 * masks * 4);
  const auto out = gpu.allocate(3 * 2 * 256 * 4);
  for (std::size_t i = 0; i < 4; ++i) {
    queue->upload(*maps, i * map * 4, std::as_bytes(std::span(test.items[i].inputs[0])));
    queue->upload(*all_masks, i * masks * 4, std::as_bytes(std::span(test.items[i].inputs[1])));
  }
  std::vector<std::int32_t> positions{3, 0, 3};
  backend::Run run;
  run.items = 3;
  run.inputs = {{maps.get(), 0, static_cast<std::int64_t>(map), 0, positions},
                {all_masks.get(), 0, static_cast<std::int64_t>(masks), 0, positions}};
  run.outputs = {{out.get(), 0, 2 * 256, 0}};
  program->run(*queue, run);
  Numbers got(3 * 2 * 256);
  queue->download(*out, 0, std::as_writable_bytes(std::span(got)));
  queue->wait();
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(std::equal(got.begin() + static_cast<std::ptrdiff_t>(i * 512),
                           got.begin() + static_cast<std::ptrdiff_t>(i * 512 + 512),
                           wanted[static_cast<std::size_t>(positions[i])][0].begin()))
        << i;
  positions[1] = 4;
  EXPECT_THROW(program->run(*queue, run), Error);
  positions[1] = -1;
  EXPECT_THROW(program->run(*queue, run), Error);
}

TEST(CudaBlockProgram, AnIndexOutOfBoundsIsAnErrorOfTheRunAndOfNoOther) {
  DIARIST_NEED_CUDA();
  BlocksBackend gpu;
  const model::Graph graph = row_cases().back().graph;
  const auto program = gpu.compile(graph, {.max_items = 2, .max_length = 4});
  const auto queue = gpu.make_queue();
  const auto rows = gpu.allocate(50 * 80 * 4), indices = gpu.allocate(8 * 4);
  const auto out = gpu.allocate(8 * 80 * 4);
  upload(*queue, *rows, Random(3).numbers(50 * 80));
  const std::vector<std::int32_t> lengths{4, 4};
  backend::Run run;
  run.items = 2;
  run.lengths = lengths;
  run.inputs = {{rows.get(), 0, 0, 50}, {indices.get(), 0, 0, 0}};
  run.outputs = {{out.get(), 0, 0, 0}};
  for (const std::int32_t index : {7, -1, 50, 49, 2000000000, 0}) {
    upload(*queue, *indices, std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, index, index});
    program->run(*queue, run);
    if (index >= 0 && index < 50) {
      EXPECT_NO_THROW(program->settle(*queue, run)) << index;
      continue;
    }
    try {
      program->settle(*queue, run);
      ADD_FAILURE() << "accepted: " << index;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_NE(std::string(error.what()).find("item 1"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("at 2 "), std::string::npos) << error.what();
    }
  }
  run.inputs[0].rows = 51;
  EXPECT_THROW(program->run(*queue, run), Error);
}

TEST(CudaBlockProgram, RunAllocatesNothingAndEveryNodeHasAReason) {
  DIARIST_NEED_CUDA();
  BlocksBackend gpu;
  const model::Graph graph = model::campplus_network(synthetic_weights("campplus"));
  const auto program = gpu.compile(graph, {.max_items = 3, .max_length = 40});
  const auto queue = gpu.make_queue();
  const auto rows = gpu.allocate(100 * 80 * 4), indices = gpu.allocate(100 * 4);
  const auto out = gpu.allocate(3 * 192 * 4);
  upload(*queue, *rows, Random(3).numbers(100 * 80));
  upload(*queue, *indices, std::vector<std::int32_t>(100, 5));
  const std::vector<std::int32_t> lengths{40, 3, 20};
  backend::Run run;
  run.items = 3;
  run.lengths = lengths;
  run.inputs = {{rows.get(), 0, 0, 100}, {indices.get(), 0, 0, 0}};
  run.outputs = {{out.get(), 0, 192, 0}};
  program->run(*queue, run);
  program->settle(*queue, run);
  const long before = allocations();
  const std::size_t held = backend::cuda::device_bytes_held();
  for (int i = 0; i < 3; ++i) program->run(*queue, run);
  EXPECT_EQ(allocations(), before);
  EXPECT_EQ(backend::cuda::device_bytes_held(), held);
  program->settle(*queue, run);
  ASSERT_EQ(program->choices().size(), graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    EXPECT_EQ(program->choices()[i].node, graph.nodes[i].name);
    EXPECT_FALSE(program->choices()[i].kernel.empty());
    EXPECT_FALSE(program->choices()[i].reason.empty());
  }
}

TEST(CudaBlockProgram, LeavesOutWhatNobodyNeedsAndKeepsItsBudget) {
  DIARIST_NEED_CUDA();
  const model::Graph graph = model::segmentation_network(synthetic_weights("pyannet"));
  constexpr std::size_t kBudget = std::size_t{100} << 20;
  BlocksBackend tight(kBudget);
  const auto whole = tight.compile(graph, {.max_items = 200});
  EXPECT_EQ(whole->choices().size(), graph.nodes.size() - 1);  // no log-softmax
  EXPECT_LT(whole->workspace_bytes(), kBudget + (std::size_t{1} << 20));
  EXPECT_EQ(tight.compile(graph.with_outputs({"sinc1"}), {.max_items = 2})->choices().size(), 2U);
}

// An input as an output, and an output twice.
TEST(CudaBlockProgram, CopiesOutputsThatStandTwice) {
  DIARIST_NEED_CUDA();
  for (GraphCase test : {row_cases()[4], map_cases()[4]}) {
    test.name += ", copies";
    const model::ValueId in = test.graph.inputs[0], out = test.graph.outputs[0];
    test.graph.outputs = {out, in, out};
    expect_reference(test);
    BlocksBackend gpu;
    for (const auto& item : run_graph(gpu, test)) EXPECT_EQ(item[0], item[2]);
  }
}

}  // namespace
}  // namespace diarist::test
