// The speaker embedding on the GPU against the double reference, layer by layer; and its figures.

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "backend/cuda/embedding_program.hpp"
#include "backend/reference/reference_backend.hpp"
#include "diarist/error.hpp"
#include "gpu_fixture.hpp"

namespace diarist::test {
namespace {

std::vector<std::string> taps() {
  std::vector<std::string> names = {"stem"};
  const int blocks[] = {3, 4, 6, 3};
  for (int layer = 1; layer <= 4; ++layer)
    for (int block = 0; block < blocks[layer - 1]; ++block) {
      const std::string name = "layer" + std::to_string(layer) + "." + std::to_string(block);
      names.push_back(name + ".hidden");
      if (layer > 1 && block == 0) names.push_back(name + ".shortcut");
      names.push_back(name);
    }
  names.push_back("embeddings");
  return names;
}

struct Wish {
  Precision precision;
  backend::cuda::Family family;
  bool record = true;
};

// graph_runner compiles in exact mode; this backend asks for what is under test.
class Forced final : public backend::Backend {
 public:
  explicit Forced(const Wish& wish)
      : inner_(backend::cuda::make_cuda_backend(0, wish.family)), wish_(wish) {}
  std::string name() const override { return inner_->name(); }
  std::string kernels() const override { return inner_->kernels(); }
  int threads() const noexcept override { return 1; }
  int preferred_items() const noexcept override { return inner_->preferred_items(); }
  std::unique_ptr<backend::Buffer> allocate(std::size_t bytes) override {
    return inner_->allocate(bytes);
  }
  std::unique_ptr<backend::Queue> make_queue() override { return inner_->make_queue(); }
  std::unique_ptr<backend::Program> compile(const model::Graph& graph,
                                            const backend::CompileOptions& options) override {
    backend::CompileOptions forced = options;
    forced.precision = wish_.precision;
    forced.record = wish_.record;
    return inner_->compile(graph, forced);
  }

 private:
  std::unique_ptr<backend::Backend> inner_;
  Wish wish_;
};

class CudaEmbedding : public testing::TestWithParam<Wish> {
 protected:
  static bool exact() { return GetParam().precision == Precision::kExact; }
};

TEST_P(CudaEmbedding, EveryLayerKeepsToTheReference) {
  DIARIST_NEED_CUDA();
  const std::vector<std::string> names = taps();
  const GraphCase test = embedding_case(2, names);
  const Outputs wanted = run_graph(*backend::reference::make_reference_backend(0), test);
  Forced gpu(GetParam());
  const Outputs got = run_graph(gpu, test);
  for (std::size_t o = 0; o < names.size(); ++o)
    for (std::size_t item = 0; item < got.size(); ++item) {
      const double difference = relative_difference(got[item][o], wanted[item][o]);
      std::printf("[          ] %-18s item %zu relative error %.2e\n", names[o].c_str(), item,
                  difference);
      EXPECT_LT(difference, exact() ? 1e-4 : 1e-2) << names[o];
    }
  for (std::size_t item = 0; item < got.size(); ++item) {
    const double worst = worst_cosine(got[item].back(), wanted[item].back());
    std::printf("[          ] item %zu cosine 1 - %.2e\n", item, 1 - worst);
    EXPECT_GE(worst, exact() ? 0.99999 : 0.9999);
  }
}

TEST_P(CudaEmbedding, BatchAndPositionDoNotMatter) {
  DIARIST_NEED_CUDA();
  const GraphCase test = embedding_case(5, {"embeddings"});
  Forced gpu(GetParam());
  const Outputs all = run_graph(gpu, test);
  const Outputs shuffled = run_graph(gpu, test, {3, 0, 4, 1, 2});
  EXPECT_EQ(shuffled[0][0], all[3][0]);
  EXPECT_EQ(shuffled[2][0], all[4][0]);
  EXPECT_EQ(run_graph(gpu, test, {2})[0][0], all[2][0]);
}

TEST_P(CudaEmbedding, RecordedRunsAndBatchSizesDoNotMatter) {
  DIARIST_NEED_CUDA();
  const GraphCase few = embedding_case(3, {"embeddings"});
  GraphCase many = few;
  for (int i = 3; i < 45; ++i) many.items.push_back(few.items[static_cast<std::size_t>(i % 3)]);
  Wish eager_wish = GetParam();
  eager_wish.record = false;
  Forced recorded(GetParam()), eager(eager_wish);
  const Outputs alone = run_graph(recorded, few, {0});
  EXPECT_EQ(run_graph(eager, few, {0}), alone);
  const Outputs all = run_graph(recorded, many);
  EXPECT_EQ(run_graph(eager, many), all);
  for (std::size_t i = 0; i < all.size(); i += 3) EXPECT_EQ(all[i], alone[0]) << "item " << i;
}

TEST_P(CudaEmbedding, WrongBuffersAreNamed) {
  DIARIST_NEED_CUDA();
  Forced gpu(GetParam());
  const auto program =
      gpu.compile(model::resnet34_network(resnet_weights(), kFrames), {.max_items = 2});
  const auto queue = gpu.make_queue();
  const auto small = gpu.allocate(100);
  backend::Run run;
  run.items = 1;
  run.inputs = {{small.get(), 0, kFrames * 80, 0}, {small.get(), 0, 3 * 589, 0}};
  run.outputs = {{small.get(), 0, 768, 0}};
  try {
    program->run(*queue, run);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find("log_mel"), std::string::npos) << error.what();
  }
}

// One batch without a recording, for profilers.
TEST_P(CudaEmbedding, OneBatch) {
  DIARIST_NEED_CUDA();
  Wish wish = GetParam();
  wish.record = false;
  Forced gpu(wish);
  GraphCase test = embedding_case(1, {"embeddings"});
  for (int i = 1; i < 128; ++i) test.items.push_back(test.items[0]);
  const Outputs all = run_graph(gpu, test);
  EXPECT_EQ(all.front(), all.back());
}

// Sustained rate over about two seconds; printed, not judged: the card's clock is its own.
TEST_P(CudaEmbedding, Rate) {
  DIARIST_NEED_CUDA();
  for (const int items : {1, 32, 128, 132}) {
    Forced gpu(GetParam());
    const auto program =
        gpu.compile(model::resnet34_network(resnet_weights(), kFrames), {.max_items = items});
    const auto queue = gpu.make_queue();
    const std::size_t count = static_cast<std::size_t>(items);
    const auto features = gpu.allocate(count * kFrames * 80 * 4);
    const auto masks = gpu.allocate(count * 3 * 589 * 4);
    const auto output = gpu.allocate(count * 768 * 4);
    const Numbers random = Random(5).numbers(static_cast<std::int64_t>(count) * kFrames * 80, 4.0);
    const Numbers ones(count * 3 * 589, 1.0F);
    queue->upload(*features, 0, std::as_bytes(std::span(random)));
    queue->upload(*masks, 0, std::as_bytes(std::span(ones)));
    backend::Run run;
    run.items = items;
    run.inputs = {{features.get(), 0, kFrames * 80, 0}, {masks.get(), 0, 3 * 589, 0}};
    run.outputs = {{output.get(), 0, 768, 0}};
    program->run(*queue, run);
    EXPECT_FALSE(program->settle(*queue, run));
    const auto start = std::chrono::steady_clock::now();
    double seconds = 0;
    int runs = 0;
    const double wanted = items == 132 || GetParam().family != backend::cuda::Family::kAny ? 1 : 3;
    while (seconds < wanted) {
      for (int i = 0; i < (items == 1 ? 50 : 5); ++i, ++runs) program->run(*queue, run);
      queue->wait();
      seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    std::printf("[          ] batch %d: %.0f chunks/s, %.3f ms a batch, workspace %.0f MB\n", items,
                runs * items / seconds, 1000 * seconds / runs,
                static_cast<double>(program->workspace_bytes()) / 1e6);
    if (items != 1 && items != 128) continue;
    double total = 0;
    for (const auto& launch :
         static_cast<backend::cuda::EmbeddingProgram&>(*program).times(*queue, run, 20)) {
      std::printf("[          ]   %-32s %-24s %8.4f ms\n", launch.layer.c_str(),
                  launch.kernel.c_str(), launch.milliseconds);
      total += launch.milliseconds;
    }
    std::printf("[          ]   sum %.3f ms\n", total);
  }
}

// The library in every mode, tf32 among them. Its bits may depend on the batch, so it has no part
// in the tests above.
TEST(CudaLibraryEmbedding, KeepsToTheReference) {
  DIARIST_NEED_CUDA();
  const GraphCase test = embedding_case(2, {"embeddings"});
  Outputs wanted;
  const struct {
    Wish wish;
    double least;
  } cases[] = {{{Precision::kTf32, backend::cuda::Family::kAny}, 0.999},
               {{Precision::kFast, backend::cuda::Family::kLibrary}, 0.9999},
               {{Precision::kExact, backend::cuda::Family::kLibrary}, 0.99999}};
  for (const auto& [wish, least] : cases) {
    Forced gpu(wish);
    try {
      gpu.compile(test.graph, {.max_items = 2});
    } catch (const Error& error) {
      const char* required = std::getenv("DIARIST_REQUIRE_CUDNN");
      if (error.code() != ErrorCode::kUnsupported || (required != nullptr && *required == '1'))
        throw;
      GTEST_SKIP() << error.what();
    }
    if (wanted.empty()) wanted = run_graph(*backend::reference::make_reference_backend(0), test);
    const Outputs got = run_graph(gpu, test);
    for (std::size_t item = 0; item < got.size(); ++item)
      EXPECT_GE(worst_cosine(got[item].back(), wanted[item].back()), least)
          << precision_name(wish.precision) << ", item " << item;
  }
}

INSTANTIATE_TEST_SUITE_P(Wishes, CudaEmbedding,
                         testing::Values(Wish{Precision::kFast, backend::cuda::Family::kAny},
                                         Wish{Precision::kExact, backend::cuda::Family::kAny},
                                         Wish{Precision::kFast, backend::cuda::Family::kPortable},
                                         Wish{Precision::kExact, backend::cuda::Family::kPortable}),
                         [](const auto& test) {
                           return std::string(test.param.precision == Precision::kExact ? "exact"
                                                                                        : "fast") +
                                  "_" + backend::cuda::family_name(test.param.family);
                         });

}  // namespace
}  // namespace diarist::test
