// Whole networks on every instruction set of this machine, against the double reference.

#include <gtest/gtest.h>
#include <sndfile.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>

#include "backend/cpu/cpu_backend.hpp"
#include "backend/reference/reference_backend.hpp"
#include "graph_runner.hpp"
#include "model/bundle.hpp"
#include "support/support.hpp"
#include "support/synthetic_weights.hpp"

namespace diarist::test {
namespace {

using backend::cpu::make_cpu_backend;

constexpr std::size_t kWindow = 160000;
constexpr std::size_t kFrames = 589;

/// A case together with what the reference says; made once for all instruction sets.
struct Expected {
  GraphCase test;
  Outputs wanted;
};

std::unique_ptr<backend::Backend> make_reference() {
  return backend::reference::make_reference_backend(0);
}

Expected expect(GraphCase test) {
  const auto reference = make_reference();
  Outputs wanted = run_graph(*reference, test);
  return {std::move(test), std::move(wanted)};
}

void show(const std::string& text) {
  if (std::getenv("DIARIST_SHOW") != nullptr) std::cout << text << "\n";
}

/// Windows with their raw filter outputs, classes and log-probabilities as outputs.
GraphCase segmentation_case(const model::Weights& weights, const std::vector<Numbers>& windows) {
  GraphCase front;
  front.name = "sinc front end";
  front.graph = model::sinc_front_end(weights);
  for (const Numbers& window : windows) {
    front.items.push_back({{window}, static_cast<std::int64_t>(window.size())});
  }
  const auto reference = make_reference();
  const Outputs raw = run_graph(*reference, front);
  GraphCase test;
  test.name = "segmentation";
  test.graph = model::segmentation_network(weights).with_outputs(
      {"classes", "log_probabilities", "sinc0", "sinc2", "lstm0", "lstm3"});
  for (std::size_t i = 0; i < windows.size(); ++i) {
    test.items.push_back({{windows[i], raw[i][0]}, 0});
  }
  return test;
}

/// Golden signal; the same very quiet and with an offset; silence; noise.
std::vector<Numbers> synthetic_windows() {
  const std::vector<float> golden = golden_signal();
  std::vector<Numbers> windows{golden, golden, Numbers(kWindow, 0.0F), Random(9).numbers(kWindow)};
  for (float& x : windows[1]) x = 1e-3F * x + 0.01F;
  return windows;
}

/// Four windows of a meeting; empty where the data is missing.
std::vector<Numbers> real_windows() {
  SF_INFO info{};
  const std::string path = (shared_folder() / "data" / "human" / "trn00.flac").string();
  SNDFILE* file = sf_open(path.c_str(), SFM_READ, &info);
  std::vector<Numbers> windows;
  if (file == nullptr) return windows;
  std::vector<float> all(static_cast<std::size_t>(info.frames * info.channels));
  sf_readf_float(file, all.data(), info.frames);
  sf_close(file);
  for (std::size_t start = 0; start + kWindow <= all.size() && windows.size() < 4;
       start += 5 * 16000) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(start);
    windows.emplace_back(first, first + kWindow);
  }
  return windows;
}

/// Log-probabilities near the reference's, and the same decisions wherever those are not a toss-up.
void expect_decisions(const Outputs& got, const Outputs& wanted, const std::string& target) {
  constexpr float kTossUp = 1e-4F;
  for (std::size_t item = 0; item < wanted.size(); ++item) {
    const Numbers& scores = wanted[item][1];
    double worst = 0;
    int different = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      worst = std::max(worst, std::abs(static_cast<double>(got[item][1][i]) - scores[i]));
    }
    for (std::size_t t = 0; t < kFrames; ++t) {
      std::vector<float> frame(scores.begin() + static_cast<std::ptrdiff_t>(7 * t),
                               scores.begin() + static_cast<std::ptrdiff_t>(7 * t + 7));
      std::ranges::sort(frame, std::greater<>());
      if (got[item][0][t] == wanted[item][0][t]) continue;
      ++different;
      EXPECT_LE(frame[0] - frame[1], kTossUp) << target << ", window " << item << ", frame " << t;
    }
    show(target + " segmentation, window " + std::to_string(item) + ": " + std::to_string(worst) +
         ", other classes " + std::to_string(different));
    EXPECT_LE(worst, 1e-4) << target << ", window " << item;
  }
}

class NetworkParity : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<backend::Backend> cpu_ = make_cpu_backend(2, GetParam());

  void expect_outputs(const Expected& expected) {
    const Outputs got = run_graph(*cpu_, expected.test);
    for (std::size_t i = 0; i < got.size(); ++i) {
      for (std::size_t o = 0; o < got[i].size(); ++o) {
        const double difference = relative_difference(got[i][o], expected.wanted[i][o]);
        const auto id = static_cast<std::size_t>(expected.test.graph.outputs[o]);
        const std::string where = GetParam() + " " + expected.test.name + " " +
                                  expected.test.graph.values[id].name + ", item " +
                                  std::to_string(i);
        show(where + ": " + std::to_string(difference));
        EXPECT_LE(difference, expected.test.tolerance) << where;
      }
    }
    if (got.size() < 2) return;
    const auto one = make_cpu_backend(1, GetParam());
    EXPECT_EQ(run_graph(*one, expected.test, {1, 0})[0], got[1]) << expected.test.name;
  }
};

TEST_P(NetworkParity, Segmentation) {
  static const Expected kExpected =
      expect(segmentation_case(synthetic_weights("pyannet"), synthetic_windows()));
  ASSERT_EQ(cpu_->kernels(), GetParam() + " (Highway)");
  const Outputs got = run_graph(*cpu_, kExpected.test);
  expect_decisions(got, kExpected.wanted, GetParam());
  // The same bits whichever windows share a tile.
  std::vector<int> order;
  for (int i = 0; i < 14; ++i) order.push_back((i * 3 + 1) % 4);
  const auto three = make_cpu_backend(3, GetParam());
  const Outputs again = run_graph(*three, kExpected.test, order);
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(again[i], got[static_cast<std::size_t>(order[i])]) << "place " << i;
  }
}

TEST_P(NetworkParity, SegmentationOfAMeetingWithPublishedWeights) {
  DIARIST_NEED(models_folder() / "open");
  DIARIST_NEED(shared_folder() / "data" / "human" / "trn00.flac");
  static const Expected kExpected = expect(segmentation_case(
      model::load_bundle(models_folder(), "open", false).segmentation, real_windows()));
  ASSERT_EQ(kExpected.wanted.size(), 4U);
  expect_decisions(run_graph(*cpu_, kExpected.test), kExpected.wanted, GetParam());
}

TEST_P(NetworkParity, Resnet34) {
  static const Expected kExpected = [] {
    GraphCase test;
    test.name = "resnet34";
    constexpr int kRows = 90;
    test.graph = model::resnet34_network(synthetic_weights("wespeaker-resnet34"), kRows)
                     .with_outputs({"stem", "layer1.0", "layer2.0.shortcut", "layer2.3", "layer3.5",
                                    "layer4.2", "embeddings"});
    Random random(7);
    for (int i = 0; i < 2; ++i) {
      Numbers masks(3 * kFrames);
      for (std::size_t m = 0; m < masks.size(); ++m) {
        masks[m] = m % kFrames > 100 * (m / kFrames) && random.next() > -0.5 ? 1.0F : 0.0F;
      }
      test.items.push_back({{random.numbers(kRows * 80, 4.0), masks}, 0});
    }
    return expect(std::move(test));
  }();
  expect_outputs(kExpected);
}

TEST_P(NetworkParity, Campplus) {
  static const Expected kExpected = [] {
    GraphCase test;
    test.name = "campplus";
    test.graph = model::campplus_network(synthetic_weights("campplus"))
                     .with_outputs({"rows", "head", "tdnn", "block1", "transit1", "transit2",
                                    "frames", "embedding"});
    Random random(8);
    test.shared = {random.numbers(300 * 80, 4.0), {}};
    for (const std::int64_t length : {120, 2, 231, 37}) {
      Item item;
      item.length = length;
      item.inputs = {{}, {}};
      for (std::int64_t t = 0; t < length; ++t) {
        item.inputs[1].push_back(static_cast<float>(random.below(300)));
      }
      test.items.push_back(std::move(item));
    }
    return expect(std::move(test));
  }();
  expect_outputs(kExpected);
}

TEST_P(NetworkParity, CampplusTrunkAndHead) {
  static const model::Weights kWeights = synthetic_weights("campplus");
  Random random(10);
  GraphCase trunk;
  trunk.name = "campplus trunk";
  trunk.graph = model::campplus_trunk(kWeights);
  trunk.shared = {random.numbers(100 * 80, 4.0), {}};
  GraphCase whole = trunk;
  whole.graph = model::campplus_network(kWeights);
  for (const std::int64_t length : {99, 50}) {
    Item item;
    item.length = length;
    item.inputs = {{}, {}};
    for (std::int64_t t = 0; t < length; ++t) item.inputs[1].push_back(static_cast<float>(t));
    trunk.items.push_back(item);
    whole.items.push_back(item);
  }
  const Outputs frames = run_graph(*cpu_, trunk);
  GraphCase head;
  head.name = "campplus head";
  head.graph = model::campplus_head(kWeights);
  for (const auto& item : frames) {
    head.items.push_back({{item[0]}, static_cast<std::int64_t>(item[0].size() / 512)});
  }
  EXPECT_EQ(run_graph(*cpu_, head), run_graph(*cpu_, whole));
}

INSTANTIATE_TEST_SUITE_P(Targets, NetworkParity,
                         testing::ValuesIn(backend::cpu::cpu_targets_supported()),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace diarist::test
