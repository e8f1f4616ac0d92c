// What the GPU embedding does beside its numbers: range, growth, threads, memory, errors.

#include <cuda_runtime_api.h>

#include <cmath>
#include <thread>

#include "backend/cuda/embedding_model.hpp"
#include "backend/cuda/embedding_pass.hpp"
#include "backend/cuda/embedding_program.hpp"
#include "backend/reference/reference_backend.hpp"
#include "diarist/error.hpp"
#include "gpu_fixture.hpp"

namespace diarist::test {
namespace {

using namespace backend::cuda;

std::unique_ptr<backend::Program> compile(backend::Backend& gpu, Precision precision, int items,
                                          std::vector<std::string>* log = nullptr) {
  backend::CompileOptions options;
  options.max_items = items;
  options.precision = precision;
  if (log != nullptr)
    options.log = [log](LogLevel, std::string_view text) { log->emplace_back(text); };
  return gpu.compile(model::resnet34_network(resnet_weights(), kFrames), options);
}

class PerPrecision : public testing::TestWithParam<Precision> {};

// Features so large that the first map passes 65504: the chunk is computed again without halves,
// its neighbours keep their bits, and the next batch starts clean.
TEST_P(PerPrecision, ChunksOutOfRangeAreComputedAgain) {
  DIARIST_NEED_CUDA();
  GraphCase test = embedding_case(3, {"embeddings"});
  const GraphCase usual = test;
  for (float& x : test.items[1].inputs[0]) x *= 30000.0F;
  const auto gpu = make_cuda_backend(0);
  const auto queue = gpu->make_queue();
  std::vector<std::string> log;
  const auto program = compile(*gpu, GetParam(), 3, &log);
  const Numbers wanted = DeviceBatch(*gpu, *queue, usual).embeddings(*program, *queue);
  EXPECT_TRUE(log.empty());
  const DeviceBatch batch(*gpu, *queue, test);
  program->run(*queue, batch.run());
  EXPECT_TRUE(program->settle(*queue, batch.run()));
  ASSERT_EQ(log.size(), 1U);
  EXPECT_NE(log[0].find("range of half precision"), std::string::npos) << log[0];
  const Numbers got = batch.embeddings(*program, *queue);
  EXPECT_EQ(log.size(), 1U) << "said once per model";
  for (const std::size_t item : {0U, 2U})
    EXPECT_TRUE(std::equal(got.begin() + item * 768, got.begin() + (item + 1) * 768,
                           wanted.begin() + item * 768))
        << "item " << item << " depends on its neighbour";
  const Outputs truth =
      run_graph(*backend::reference::make_reference_backend(0), test, std::vector<int>{1});
  const Numbers item(got.begin() + 768, got.begin() + 2 * 768);
  EXPECT_GE(worst_cosine(item, truth[0][0]), 0.99999);
  EXPECT_EQ(DeviceBatch(*gpu, *queue, usual).embeddings(*program, *queue), wanted);
  EXPECT_EQ(log.size(), 1U);
}

// The first convolution of a block by 2^power, the one behind it by 2^-power: the same function.
model::Graph scaled_network(int power) {
  model::Weights weights = resnet_weights();
  const auto scale = [&](const std::string& name, int by) {
    const base::TensorF& tensor = weights.at(name);
    Numbers values(tensor.values().begin(), tensor.values().end());
    for (float& value : values) value = std::ldexp(value, by);
    weights[name] = base::TensorF(tensor.shape(), std::move(values));
  };
  scale("resnet.layer1.1.conv1.weight", power);
  scale("resnet.layer1.1.conv1.weight_bias", power);
  scale("resnet.layer1.1.conv2.weight", -power);
  return model::resnet34_network(weights, kFrames);
}

// 2^17: the hidden map leaves the range of a half, its weights don't. 2^26: the weights do as well,
// and no kernel of halves is chosen from the start.
TEST_P(PerPrecision, WeightsBeyondTheRangeOfAHalf) {
  DIARIST_NEED_CUDA();
  const GraphCase test = embedding_case(2, {"embeddings"});
  const auto gpu = make_cuda_backend(0);
  const auto queue = gpu->make_queue();
  const DeviceBatch batch(*gpu, *queue, test);
  const auto exact = compile(*gpu, Precision::kExact, 2);
  const Numbers wanted = batch.embeddings(*exact, *queue);
  for (const int power : {17, 26}) {
    std::vector<std::string> log;
    backend::CompileOptions options;
    options.max_items = 2;
    options.precision = GetParam();
    options.log = [&log](LogLevel, std::string_view text) { log.emplace_back(text); };
    const auto program = gpu->compile(scaled_network(power), options);
    bool halves = false;
    for (const backend::Choice& choice : program->choices())
      halves = halves || (choice.node.find("conv") != std::string::npos &&
                          choice.kernel.find("ffma") == std::string::npos);
    EXPECT_EQ(halves, power == 17) << power;
    EXPECT_GE(worst_cosine(batch.embeddings(*program, *queue), wanted), 0.99999) << power;
    EXPECT_EQ(log.size(), power == 17 ? 1U : 0U) << power;
  }
}

TEST_P(PerPrecision, NumbersThatAreNoneAreAnError) {
  DIARIST_NEED_CUDA();
  GraphCase test = embedding_case(2, {"embeddings"});
  test.items[1].inputs[0][12345] = std::nanf("");
  const auto gpu = make_cuda_backend(0);
  const auto queue = gpu->make_queue();
  const auto program = compile(*gpu, GetParam(), 2);
  const DeviceBatch batch(*gpu, *queue, test);
  program->run(*queue, batch.run());
  try {
    program->settle(*queue, batch.run());
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find("not finite"), std::string::npos) << error.what();
  }
  const GraphCase usual = embedding_case(2, {"embeddings"});
  EXPECT_EQ(DeviceBatch(*gpu, *queue, usual).embeddings(*program, *queue).size(), 2U * 768U);
}

TEST_P(PerPrecision, MasksThatAreNoNumbersAreAnError) {
  DIARIST_NEED_CUDA();
  GraphCase test = embedding_case(2, {"embeddings"});
  test.items[0].inputs[1][4] = std::nanf("");  // the frame of the map's second column
  const auto gpu = make_cuda_backend(0);
  const auto queue = gpu->make_queue();
  const auto program = compile(*gpu, GetParam(), 2);
  const DeviceBatch batch(*gpu, *queue, test);
  program->run(*queue, batch.run());
  EXPECT_THROW(program->settle(*queue, batch.run()), Error);
}

TEST_P(PerPrecision, TwoProgramsInTwoThreads) {
  DIARIST_NEED_CUDA();
  const GraphCase test = embedding_case(5, {"embeddings"});
  const auto gpu = make_cuda_backend(0);
  Numbers wanted;
  {
    const auto queue = gpu->make_queue();
    const auto program = compile(*gpu, GetParam(), 5);
    wanted = DeviceBatch(*gpu, *queue, test).embeddings(*program, *queue);
  }
  std::vector<Numbers> got(2);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < got.size(); ++i)
    threads.emplace_back([&, i] {
      const auto queue = gpu->make_queue();
      const auto program = compile(*gpu, GetParam(), i == 0 ? 5 : 8);
      const DeviceBatch batch(*gpu, *queue, test);
      for (int repeat = 0; repeat < 10; ++repeat) got[i] = batch.embeddings(*program, *queue);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(got[0], wanted);
  EXPECT_EQ(got[1], wanted);
}

TEST_P(PerPrecision, TheCallersMemoryAndStream) {
  DIARIST_NEED_CUDA();
  const GraphCase test = embedding_case(1, {"embeddings"});
  const auto gpu = make_cuda_backend(0);
  const auto own = gpu->make_queue();
  const auto program = compile(*gpu, GetParam(), 1);
  const Numbers wanted = DeviceBatch(*gpu, *own, test).embeddings(*program, *own);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  void* memory[3] = {};
  const std::size_t bytes[3] = {kFrames * 80 * 4, 3 * 589 * 4, 768 * 4};
  for (int i = 0; i < 3; ++i) ASSERT_EQ(cudaMalloc(&memory[i], bytes[i]), cudaSuccess);
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ(cudaMemcpyAsync(memory[i], test.items[0].inputs[static_cast<std::size_t>(i)].data(),
                              bytes[i], cudaMemcpyHostToDevice, stream),
              cudaSuccess);
  Numbers got(768);
  {
    const auto queue = gpu->make_queue_on(stream);
    const auto features = gpu->wrap(memory[0], bytes[0]), masks = gpu->wrap(memory[1], bytes[1]);
    const auto output = gpu->wrap(memory[2], bytes[2]);
    backend::Run run;
    run.items = 1;
    run.inputs = {{features.get(), 0, kFrames * 80, 0}, {masks.get(), 0, 3 * 589, 0}};
    run.outputs = {{output.get(), 0, 768, 0}};
    program->run(*queue, run);
    // The result is the caller's to read on the same stream.
    ASSERT_EQ(cudaMemcpyAsync(got.data(), memory[2], bytes[2], cudaMemcpyDeviceToHost, stream),
              cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_FALSE(program->settle(*queue, run));
  }
  EXPECT_EQ(got, wanted);
  float on_host = 0;
  EXPECT_THROW(gpu->wrap(&on_host, 4), Error);
  for (void* block : memory) cudaFree(block);
  cudaStreamDestroy(stream);
}

// The default stream can't be recorded, so the recording must not happen on the caller's.
TEST_P(PerPrecision, TheDefaultStreamFromTheFirstRunOn) {
  DIARIST_NEED_CUDA();
  const GraphCase test = embedding_case(2, {"embeddings"});
  const auto gpu = make_cuda_backend(0);
  const auto own = gpu->make_queue(), callers = gpu->make_queue_on(nullptr);
  const auto first = compile(*gpu, GetParam(), 2), second = compile(*gpu, GetParam(), 2);
  const DeviceBatch batch(*gpu, *own, test);
  const Numbers wanted = batch.embeddings(*first, *own);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(batch.embeddings(*second, *callers), wanted) << i;
}

// Five items in passes of four and one: the words of the first pass outlive the second.
TEST_P(PerPrecision, RangeWordsOfAnEarlierPassAreKept) {
  DIARIST_NEED_CUDA();
  GraphCase test = embedding_case(5, {"embeddings"});
  const auto gpu = make_cuda_backend(0);
  const auto queue = gpu->make_queue();
  const auto program = compile(*gpu, GetParam(), 8);
  const Numbers usual = DeviceBatch(*gpu, *queue, test).embeddings(*program, *queue);
  for (float& x : test.items[1].inputs[0]) x *= 30000.0F;
  const DeviceBatch batch(*gpu, *queue, test);
  program->run(*queue, batch.run());
  EXPECT_TRUE(program->settle(*queue, batch.run()));
  const Numbers got = batch.embeddings(*program, *queue);
  for (const std::size_t item : {0U, 2U, 3U, 4U})
    EXPECT_TRUE(std::equal(got.begin() + item * 768, got.begin() + (item + 1) * 768,
                           usual.begin() + item * 768))
        << item;
  for (std::size_t i = 768; i < 1536; ++i) ASSERT_TRUE(std::isfinite(got[i])) << i;
}

TEST_P(PerPrecision, MasksThatOverlapAreRefused) {
  DIARIST_NEED_CUDA();
  const GraphCase test = embedding_case(2, {"embeddings"});
  const auto gpu = make_cuda_backend(0);
  const auto queue = gpu->make_queue();
  const auto program = compile(*gpu, GetParam(), 2);
  const DeviceBatch batch(*gpu, *queue, test);
  backend::Run run = batch.run();
  run.inputs[1].item_stride = 0;
  try {
    program->run(*queue, run);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find("overlap"), std::string::npos) << error.what();
  }
}

TEST_P(PerPrecision, ForcedAndChosenKernelsAreTold) {
  DIARIST_NEED_CUDA();
  const auto gpu = make_cuda_backend(0);
  const auto program = compile(*gpu, GetParam(), 4);
  EXPECT_EQ(program->choices().size(), 38U);  // 36 convolutions, pooling, head
  for (const backend::Choice& choice : program->choices()) {
    EXPECT_FALSE(choice.kernel.empty()) << choice.node;
    EXPECT_FALSE(choice.reason.empty()) << choice.node;
  }
  EXPECT_GT(program->workspace_bytes(), 0U);
  EXPECT_GE(program->plans(), 11);
}

INSTANTIATE_TEST_SUITE_P(Modes, PerPrecision, testing::Values(Precision::kFast, Precision::kExact),
                         [](const auto& test) { return precision_name(test.param); });

// The pass below is what a program makes of its batch classes.
class Pass : public testing::Test {
 protected:
  void SetUp() override {
    DIARIST_NEED_CUDA();
    gpu_ = make_cuda_backend(0);
    queue_ = gpu_->make_queue();
    ModelOptions options;
    options.choice.mode = Mode::kFast;
    model_ = std::make_unique<EmbeddingModel>(0, model::resnet34_network(resnet_weights(), kFrames),
                                              options);
    buffers_ = std::make_unique<PassBuffers>(*model_, 8);
    store_ = std::make_unique<ActivationStore>(0);
    const GraphCase test = embedding_case(1, {"embeddings"});
    features_ = gpu_->allocate(kFrames * 80 * 4);
    queue_->upload(*features_, 0, std::as_bytes(std::span(test.items[0].inputs[0])));
    queue_->wait();
    ASSERT_EQ(cudaMemcpy(buffers_->masks.data(), test.items[0].inputs[1].data(), 3 * 589 * 4,
                         cudaMemcpyHostToDevice),
              cudaSuccess);
  }

  cudaStream_t stream() const { return static_cast<CudaQueue&>(*queue_).stream(); }

  Numbers embeddings(EmbeddingPass& pass, bool record) {
    pass.prepare(reinterpret_cast<const float*>(static_cast<CudaBuffer&>(*features_).data()),
                 kFrames * 80, nullptr, 1, stream());
    pass.run(stream(), record);
    Numbers numbers(768);
    EXPECT_EQ(cudaMemcpyAsync(numbers.data(), buffers_->embeddings(), 768 * 4,
                              cudaMemcpyDeviceToHost, stream()),
              cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream()), cudaSuccess);
    return numbers;
  }

  std::unique_ptr<backend::Backend> gpu_;
  std::unique_ptr<backend::Queue> queue_;
  std::unique_ptr<EmbeddingModel> model_;
  std::unique_ptr<PassBuffers> buffers_;
  std::unique_ptr<ActivationStore> store_;
  std::unique_ptr<backend::Buffer> features_;
};

TEST_F(Pass, IsRecordedAgainAfterTheStorageGrew) {
  EmbeddingPass small(*model_, 1, *store_, *buffers_);
  const Numbers eager = embeddings(small, false);
  EXPECT_FALSE(small.recorded());
  EXPECT_EQ(embeddings(small, true), eager);
  EXPECT_TRUE(small.recorded());
  EXPECT_EQ(embeddings(small, true), eager);
  const std::uint64_t generation = store_->generation();
  EmbeddingPass large(*model_, 8, *store_, *buffers_);
  EXPECT_EQ(embeddings(large, true), eager);
  EXPECT_GT(store_->generation(), generation);
  EXPECT_EQ(embeddings(small, true), eager);
  EXPECT_EQ(embeddings(small, false), eager);
}

TEST_F(Pass, AFailureWhileRecordingLeavesTheStreamUsable) {
  EmbeddingPass pass(*model_, 1, *store_, *buffers_);
  const Numbers wanted = embeddings(pass, false);
  auto& launches = const_cast<std::vector<Launch>&>(pass.launches());
  const auto whole = launches[5].run;
  launches[5].run = [&whole](cudaStream_t queue) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaError_t error = cudaStreamIsCapturing(queue, &status);
    if (error != cudaSuccess || status == cudaStreamCaptureStatusNone) return whole(queue);
    return cudaErrorLaunchOutOfResources;
  };
  EXPECT_THROW(pass.run(stream(), true), Error);
  EXPECT_FALSE(pass.recorded());
  launches[5].run = whole;
  EXPECT_EQ(embeddings(pass, true), wanted);
}

TEST(CudaMemory, RunningOutIsATypedErrorAndLaterCallsWork) {
  DIARIST_NEED_CUDA();
  const auto gpu = make_cuda_backend(0);
  std::size_t free_bytes = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free_bytes, &total), cudaSuccess);
  void* hog = nullptr;
  ASSERT_EQ(cudaMalloc(&hog, free_bytes - (std::size_t{400} << 20)), cudaSuccess);
  try {
    compile(*gpu, Precision::kFast, 128);
    FAIL() << "1.3 GB fit into 400 MB";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory) << error.what();
  }
  const GraphCase test = embedding_case(1, {"embeddings"});
  const auto queue = gpu->make_queue();
  const auto small = compile(*gpu, Precision::kFast, 1);
  const Numbers tight = DeviceBatch(*gpu, *queue, test).embeddings(*small, *queue);
  ASSERT_EQ(cudaFree(hog), cudaSuccess);
  const auto large = compile(*gpu, Precision::kFast, 128);
  EXPECT_EQ(DeviceBatch(*gpu, *queue, test).embeddings(*large, *queue), tight);
}

TEST(CudaDevices, AbsentOnesAndUnknownFamiliesAreNamed) {
  DIARIST_NEED_CUDA();
  try {
    make_cuda_backend(99);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("cuda:99"), std::string::npos);
  }
  EXPECT_THROW(family_named("turbo"), Error);
  try {
    backend::CompileOptions options;
    options.tune_file = "some.tune";
    make_cuda_backend(0, Family::kPortable)
        ->compile(model::resnet34_network(resnet_weights(), kFrames), options);
    FAIL() << "a tune file was ignored";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find("portable"), std::string::npos) << error.what();
  }
  for (int i = 0; i < 3; ++i) {
    const auto gpu = make_cuda_backend(0);
    const auto program = compile(*gpu, Precision::kFast, 2);
  }
}

// Needs no GPU.
TEST(PlaceMaps, LiveMapsNeverShareBytes) {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> maps;
    for (int i = 0; i < 30; ++i) {
      Lifetime map;
      map.bytes = static_cast<std::size_t>(random.below(5) * random.below(4000));
      map.first = static_cast<int>(random.below(20));
      map.last = map.first + static_cast<int>(random.below(6));
      maps.push_back(map);
    }
    const Placement placement = place_maps(maps);
    for (std::size_t a = 0; a < maps.size(); ++a) {
      EXPECT_LE(placement.offsets[a] + maps[a].bytes, placement.bytes);
      for (std::size_t b = 0; b < a; ++b) {
        if (maps[a].bytes == 0 || maps[b].bytes == 0) continue;
        const bool together = maps[a].first <= maps[b].last && maps[b].first <= maps[a].last;
        const bool apart = placement.offsets[a] + maps[a].bytes <= placement.offsets[b] ||
                           placement.offsets[b] + maps[b].bytes <= placement.offsets[a];
        EXPECT_TRUE(!together || apart) << a << " and " << b;
      }
    }
  }
}

TEST(PassSize, ComposesAnyNumber) {
  for (int most : {1, 3, 32, 128, 132})
    for (int items = 1; items <= most; ++items) {
      int left = items, passes = 0;
      while (left > 0) {
        const int size = EmbeddingProgram::pass_size(left, most);
        ASSERT_GE(size, 1);
        ASSERT_LE(size, most);
        ASSERT_TRUE(size <= left || 4 * left >= 3 * size) << items << " in passes of " << size;
        left -= size;
        ++passes;
      }
      EXPECT_LE(passes, 9);
    }
}

}  // namespace
}  // namespace diarist::test
