// The segmentation network on the GPU against the double reference.

#include <cstdio>
#include <numeric>

#include "backend/reference/reference_backend.hpp"
#include "diarist/error.hpp"
#include "segmentation_fixture.hpp"
#include "timeline/activity.hpp"

namespace diarist::test {
namespace {

const std::vector<std::string> kTaps = {"sinc0",
                                        "sinc1",
                                        "sinc2",
                                        "lstm0",
                                        "lstm1",
                                        "lstm2",
                                        "lstm3",
                                        "linear0",
                                        "linear1",
                                        "logits",
                                        "log_probabilities",
                                        "classes",
                                        "masks"};

class Segmentation : public testing::Test {
 protected:
  void SetUp() override { DIARIST_NEED_CUDA(); }
  SegmentationBackend gpu_;
};

GraphCase network_case(const std::vector<std::string>& outputs) {
  GraphCase test;
  test.name = "segmentation";
  test.graph = segmentation_graph().with_outputs(outputs);
  GraphCase front;
  front.name = "sinc";
  front.graph = model::sinc_front_end(synthetic_weights("pyannet"));
  Numbers half_silent = voices(160000, 9);
  std::fill(half_silent.begin() + 90000, half_silent.end(), 0.0F);
  for (const Numbers& samples : {voices(160000, 1), golden_signal(), half_silent})
    front.items.push_back({{samples}, 160000});
  const Outputs raw = run_graph(*backend::reference::make_reference_backend(0), front);
  for (std::size_t i = 0; i < raw.size(); ++i)
    test.items.push_back({{front.items[i].inputs[0], raw[i][0]}, 0});
  return test;
}

TEST_F(Segmentation, EveryTapKeepsToTheReference) {
  const GraphCase test = network_case(kTaps);
  const Outputs wanted = run_graph(*backend::reference::make_reference_backend(0), test);
  const Outputs got = run_graph(gpu_, test);
  for (std::size_t item = 0; item < got.size(); ++item) {
    for (std::size_t o = 0; o + 2 < kTaps.size(); ++o) {
      const double difference = relative_difference(got[item][o], wanted[item][o]);
      std::printf("[          ] item %zu %-18s relative error %.2e\n", item, kTaps[o].c_str(),
                  difference);
      EXPECT_LT(difference, 1e-4) << kTaps[o];
    }
    const Numbers &scores = wanted[item][10], &classes = got[item][11];
    int close = 0, other = 0;
    for (std::size_t t = 0; t < 589; ++t) {
      Numbers row(scores.begin() + static_cast<std::ptrdiff_t>(7 * t),
                  scores.begin() + static_cast<std::ptrdiff_t>(7 * t + 7));
      std::sort(row.begin(), row.end());
      if (row[6] - row[5] < 1e-4F) {
        ++close;
        continue;
      }
      other += classes[t] != wanted[item][11][t] ? 1 : 0;
    }
    EXPECT_EQ(other, 0) << "item " << item;
    EXPECT_LT(close, 10);
  }
}

// The masks follow from this program's own classes, by the rule of the timeline.
TEST_F(Segmentation, MasksFollowFromClasses) {
  const GraphCase test = network_case({"classes", "masks"});
  const Outputs got = run_graph(gpu_, test);
  for (const std::vector<Numbers>& item : got) {
    std::vector<std::uint8_t> classes(589), bits(589);
    for (std::size_t t = 0; t < 589; ++t) classes[t] = static_cast<std::uint8_t>(item[0][t]);
    timeline::decode_classes(classes, bits);
    for (int speaker = 0; speaker < 3; ++speaker) {
      Numbers mask(589);
      timeline::embedding_mask(bits, speaker, mask);
      const auto at = item[1].begin() + speaker * 589;
      EXPECT_TRUE(std::equal(mask.begin(), mask.end(), at)) << "speaker " << speaker;
    }
  }
}

// Classes and logits of windows of a recording.
struct Answers {
  std::vector<std::uint8_t> classes;
  Numbers logits;
  bool same_window(std::size_t mine, const Answers& other, std::size_t theirs) const {
    return std::equal(classes.begin() + static_cast<std::ptrdiff_t>(mine * 589),
                      classes.begin() + static_cast<std::ptrdiff_t>(mine * 589 + 589),
                      other.classes.begin() + static_cast<std::ptrdiff_t>(theirs * 589)) &&
           std::equal(logits.begin() + static_cast<std::ptrdiff_t>(mine * 4123),
                      logits.begin() + static_cast<std::ptrdiff_t>(mine * 4123 + 4123),
                      other.logits.begin() + static_cast<std::ptrdiff_t>(theirs * 4123));
  }
};

Answers answers_of(backend::Program& program, const std::vector<backend::View>& inputs, int items) {
  const auto count = static_cast<std::size_t>(items);
  backend::cuda::CudaBuffer classes(0, count * 589), logits(0, count * 4123 * 4);
  backend::cuda::CudaQueue queue(0);
  queue.upload(classes, 0, std::vector<std::byte>(count * 589, std::byte{0xA5}));
  backend::Run run;
  run.items = items;
  run.inputs = inputs;
  run.outputs = {{&classes, 0, 589, 0}, {&logits, 0, 4123, 0}};
  program.run(queue, run);
  Answers answers;
  answers.classes.resize(count * 589);
  answers.logits.resize(count * 4123);
  queue.download(classes, 0, std::as_writable_bytes(std::span(answers.classes)));
  queue.download(logits, 0, std::as_writable_bytes(std::span(answers.logits)));
  queue.wait();
  return answers;
}

TEST_F(Segmentation, BatchPositionAndNeighboursDoNotMatter) {
  constexpr int kWindows = 132;
  Recording recording(kWindows);
  const model::Graph graph = segmentation_graph().with_outputs({"classes", "logits"});
  const auto program = gpu_.compile(graph, {.max_items = kWindows});
  const Answers all = answers_of(*program, recording.inputs(0), kWindows);
  int different = 0;
  for (std::size_t i = 1; i < kWindows; ++i) different += all.same_window(i, all, i - 1) ? 0 : 1;
  EXPECT_EQ(different, kWindows - 1) << "the windows must differ for this test";
  for (const int items : {1, 7, 8, 9, 30}) {
    const auto small = gpu_.compile(graph, {.max_items = items});
    for (const int first : {0, 77}) {
      const Answers some = answers_of(*small, recording.inputs(first), items);
      const Answers within = answers_of(*program, recording.inputs(first), items);
      for (int i = 0; i < items; ++i) {
        const auto at = static_cast<std::size_t>(i), from = static_cast<std::size_t>(first + i);
        EXPECT_TRUE(some.same_window(at, all, from)) << items << " items, window " << from;
        EXPECT_TRUE(within.same_window(at, all, from)) << items << " items, window " << from;
      }
    }
  }
}

TEST_F(Segmentation, PositionsAndPassesDoNotMatter) {
  constexpr int kWindows = 40, kItems = 1100;
  Recording recording(kWindows);
  const model::Graph graph = segmentation_graph().with_outputs({"classes", "logits"});
  const auto program = gpu_.compile(graph, {.max_items = kItems});
  const Answers all = answers_of(*program, recording.inputs(0), kWindows);
  std::vector<std::int32_t> positions(kItems);
  for (int i = 0; i < kItems; ++i) positions[static_cast<std::size_t>(i)] = i * 17 % kWindows;
  const Answers many = answers_of(*program, recording.inputs(0, positions), kItems);
  for (std::size_t i = 0; i < kItems; ++i)
    ASSERT_TRUE(many.same_window(i, all, static_cast<std::size_t>(positions[i]))) << i;
  // Samples by position, raw rows one after the other: another path through the front end.
  std::vector<std::int32_t> straight(9);
  std::iota(straight.begin(), straight.end(), 5);
  std::vector<backend::View> mixed = recording.inputs(0, straight);
  mixed[1] = recording.inputs(5)[1];
  const Answers few = answers_of(*program, mixed, 9);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_TRUE(few.same_window(i, all, i + 5)) << i;
}

TEST_F(Segmentation, WrongBuffersAreNamed) {
  Recording recording(3);
  const auto program = gpu_.compile(segmentation_graph(), {.max_items = 3});
  const auto queue = gpu_.make_queue();
  const auto classes = gpu_.allocate(3 * 589), masks = gpu_.allocate(std::size_t{3} * 3 * 589 * 4);
  const auto refused = [&](const backend::Run& run, const std::string& word) {
    try {
      program->run(*queue, run);
      ADD_FAILURE() << "nothing was thrown for " << word;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  };
  backend::Run good;
  good.items = 3;
  good.inputs = recording.inputs(0);
  good.outputs = {{classes.get(), 0, 589, 0}, {masks.get(), 0, 3 * 589, 0}};
  program->run(*queue, good);
  queue->wait();
  backend::Run run = good;
  run.items = 4;
  refused(run, "batch of 4");
  run = good;
  run.inputs[0].offset = 1;
  refused(run, "samples");
  run = good;
  run.outputs[1].offset = 1;
  refused(run, "masks");
  run = good;
  run.outputs[0].item_stride = 588;
  refused(run, "classes");
  const std::vector<std::int32_t> positions = {0, 3, 1}, few = {0, 1}, negative = {0, -1, 1};
  run.outputs = good.outputs;
  for (const auto& [where, word] :
       {std::pair{&positions, "samples"}, {&few, "2 positions"}, {&negative, "position -1"}}) {
    run.inputs = recording.inputs(0, *where);
    refused(run, word);
  }
}

}  // namespace
}  // namespace diarist::test
