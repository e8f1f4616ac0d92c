#pragma once
// What the GPU tests share: skipping, synthetic weights, batches of features and masks.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "../backends/graph_runner.hpp"
#include "backend/cuda/cuda_backend.hpp"
#include "gpu_needed.hpp"
#include "model/networks.hpp"
#include "support/synthetic_weights.hpp"

namespace diarist::test {

inline constexpr int kFrames = 998;

inline const model::Weights& resnet_weights() {
  static const model::Weights made = synthetic_weights("wespeaker-resnet34");
  return made;
}

/// `items` chunks with features about as large as log-mel ones; masks: a stretch, every seventh
/// frame, and nobody.
inline GraphCase embedding_case(int items, const std::vector<std::string>& outputs) {
  GraphCase test;
  test.name = "embedding";
  test.graph = model::resnet34_network(resnet_weights(), kFrames).with_outputs(outputs);
  Random random(11);
  for (int i = 0; i < items; ++i) {
    Numbers features = random.numbers(std::int64_t{kFrames} * 80, 4.0);
    for (std::size_t t = 0; t < features.size(); ++t)
      features[t] += 0.05F * static_cast<float>(t % 80);
    Numbers masks(3 * 589, 0.0F);
    for (int f = 0; f < 589; ++f) {
      masks[static_cast<std::size_t>(f)] = f > 40 * i && f < 300 + 40 * i ? 1.0F : 0.0F;
      masks[static_cast<std::size_t>(589 + f)] = f % 7 == 0 ? 1.0F : 0.0F;
    }
    test.items.push_back({{features, masks}, 0});
  }
  return test;
}

/// Smallest cosine over the rows of 256 numbers.
inline double worst_cosine(const Numbers& a, const Numbers& b) {
  double worst = 1;
  for (std::size_t row = 0; row < a.size() / 256; ++row) {
    double dot = 0, aa = 0, bb = 0;
    for (std::size_t i = row * 256; i < (row + 1) * 256; ++i) {
      dot += double{a[i]} * double{b[i]};
      aa += double{a[i]} * double{a[i]};
      bb += double{b[i]} * double{b[i]};
    }
    worst = std::min(worst, dot / std::sqrt(aa * bb));
  }
  return worst;
}

/// Buffers of a batch on the GPU, filled from the items of a case.
class DeviceBatch {
 public:
  DeviceBatch(backend::Backend& gpu, backend::Queue& queue, const GraphCase& test)
      : items_(static_cast<int>(test.items.size())),
        features_(gpu.allocate(test.items.size() * kFrames * 80 * 4)),
        masks_(gpu.allocate(test.items.size() * 3 * 589 * 4)),
        embeddings_(gpu.allocate(test.items.size() * 768 * 4)) {
    for (std::size_t i = 0; i < test.items.size(); ++i) {
      queue.upload(*features_, i * kFrames * 80 * 4,
                   std::as_bytes(std::span(test.items[i].inputs[0])));
      queue.upload(*masks_, i * 3 * 589 * 4, std::as_bytes(std::span(test.items[i].inputs[1])));
    }
    queue.wait();
  }
  backend::Run run() const {
    backend::Run run;
    run.items = items_;
    run.inputs = {{features_.get(), 0, kFrames * 80, 0}, {masks_.get(), 0, 3 * 589, 0}};
    run.outputs = {{embeddings_.get(), 0, 768, 0}};
    return run;
  }
  /// Runs, settles and brings the embeddings down.
  Numbers embeddings(backend::Program& program, backend::Queue& queue) const {
    const backend::Run batch = run();
    program.run(queue, batch);
    program.settle(queue, batch);
    Numbers numbers(static_cast<std::size_t>(items_) * 768);
    queue.download(*embeddings_, 0, std::as_writable_bytes(std::span(numbers)));
    queue.wait();
    return numbers;
  }

 private:
  int items_;
  std::unique_ptr<backend::Buffer> features_, masks_, embeddings_;
};

}  // namespace diarist::test
