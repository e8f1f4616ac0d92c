// Convolutions through cuDNN against a plain loop in doubles. Skips without a GPU or without cuDNN;
// DIARIST_REQUIRE_CUDNN=1 makes the latter a failure.

#include <cstdio>
#include <memory>
#include <string>

#include "../cuda/kernel_arrays.hpp"
#include "backend/cuda/library/library_convolutions.hpp"
#include "backend/cuda/library/library_weights.hpp"
#include "diarist/error.hpp"

namespace diarist::backend::cuda {
namespace {

using test::from_half_map;
using test::GuardedArray;
using test::PlainConv;
using test::random_floats;
using test::relative_error;

// Null when there is no cuDNN; then the test has been skipped or failed.
std::unique_ptr<LibraryConvolutions> open_library(Mode mode, int items) {
  try {
    return std::make_unique<LibraryConvolutions>(0, mode, items);
  } catch (const Error& error) {
    const char* required = std::getenv("DIARIST_REQUIRE_CUDNN");
    EXPECT_TRUE(required == nullptr || *required != '1') << error.what();
    std::printf("[          ] %s\n", error.what());
    return nullptr;
  }
}

constexpr const char* kNoLibrary = "needs cuDNN 9 (its folder in LD_LIBRARY_PATH)";

// The kinds of convolution that the trunk has, on small maps.
std::vector<ConvLayer> small_layers() {
  std::vector<ConvLayer> layers;
  const auto add = [&](int cin, int cout, int taps, int stride, bool residual) {
    ConvLayer layer;
    layer.name = "layer" + std::to_string(layers.size());
    layer.shape = {cin, cout, taps, stride, stride, 10, 37, residual};
    layer.relu = taps == 9;
    layers.push_back(layer);
  };
  for (const int channels : {32, 64, 128, 256}) {
    add(channels, channels, 9, 1, false);
    add(channels, channels, 9, 1, true);
    if (channels == 256) break;
    add(channels, 2 * channels, 9, 2, false);
    add(channels, 2 * channels, 1, 2, false);
  }
  return layers;
}

// A layer's arrays on the GPU, in the type of the mode, and what doubles make of them.
class LayerArrays {
 public:
  LayerArrays(const ConvLayer& layer, Mode mode, int items)
      : halves_(mode == Mode::kFast), channels_(layer.shape.cout) {
    const LayerShape& s = layer.shape;
    conv_ = {.taps = s.taps,
             .stride = s.stride_f,
             .cin = s.cin,
             .cout = s.cout,
             .in_f = s.frequency,
             .in_t = s.time,
             .items = items,
             .relu = layer.relu};
    const std::vector<float> input = random_floats(conv_.inputs(), -1, 2, 1);
    const std::vector<float> residual =
        s.residual ? random_floats(conv_.outputs(), -3, 3, 2) : std::vector<float>();
    const std::vector<float> bias = random_floats(static_cast<std::size_t>(s.cout), -1, 1, 3);
    const std::vector<float> weight = random_floats(conv_.weights(), -0.2F, 0.2F, 4);
    input_ = upload(input);
    if (s.residual) residual_ = upload(residual);
    bias_ = upload(bias);
    weights_ = upload(pack_library_weights(weight, s.cout, s.cin, s.taps));
    output_ = std::make_unique<GuardedArray<std::uint8_t>>(conv_.outputs() * (halves_ ? 2 : 4));
    // What the library is given, so that the error is its own.
    const std::vector<double> rounded = values(bias);
    wanted_ = conv_.run(values(input), values(weight), {rounded.begin(), rounded.end()},
                        values(residual));
  }

  LibraryArgs args() const {
    return {input_->data(), weights_->data(), bias_->data(),
            residual_ == nullptr ? nullptr : residual_->data(), output_->data()};
  }
  std::vector<std::uint8_t> bytes() const { return output_->values(); }
  double error() const {
    const std::vector<std::uint8_t> raw = bytes();
    if (halves_) {
      std::vector<std::uint16_t> map(raw.size() / 2);
      std::memcpy(map.data(), raw.data(), raw.size());
      return relative_error(from_half_map(map, channels_, false), wanted_);
    }
    std::vector<float> map(raw.size() / 4);
    std::memcpy(map.data(), raw.data(), raw.size());
    return relative_error(map, wanted_);
  }
  void poison() const {
    EXPECT_EQ(cudaMemset(output_->data(), 0xFF, conv_.outputs() * (halves_ ? 2 : 4)), cudaSuccess);
  }

 private:
  using Bytes = std::unique_ptr<GuardedArray<std::uint8_t>>;

  Bytes upload(const std::vector<float>& floats) const {
    std::vector<std::uint8_t> raw;
    const auto copy = [&](const auto& array) {
      raw.resize(array.size() * sizeof(array[0]));
      std::memcpy(raw.data(), array.data(), raw.size());
    };
    halves_ ? copy(to_library_halves(floats, "test")) : copy(floats);
    return std::make_unique<GuardedArray<std::uint8_t>>(raw);
  }
  std::vector<double> values(const std::vector<float>& floats) const {
    std::vector<double> result;
    for (const float x : floats)
      result.push_back(halves_ ? double{__half2float(__float2half_rn(x))} : double{x});
    return result;
  }

  bool halves_;
  int channels_;
  PlainConv conv_;
  Bytes input_, residual_, bias_, weights_, output_;
  std::vector<double> wanted_;
};

class LibraryModes : public testing::TestWithParam<Mode> {};

// The output is NaN before: a call without residual must not read it.
TEST_P(LibraryModes, AgreeWithDoubles) {
  const Mode mode = GetParam();
  DIARIST_NEED_CUDA();
  const auto library = open_library(mode, 3);
  if (library == nullptr) GTEST_SKIP() << kNoLibrary;
  const double bound = mode == Mode::kExact ? 5e-6 : 2e-3;
  for (const ConvLayer& layer : small_layers()) {
    const LayerArrays arrays(layer, mode, 3);
    const LibraryPlan& plan = library->plan(layer, 3, arrays.args(), nullptr);
    arrays.poison();
    library->run(plan, arrays.args(), nullptr);
    const double error = arrays.error();
    std::printf("[          ] %s: relative error %.1e; %s\n", plan.name().c_str(), error,
                library->reason(layer).c_str());
    EXPECT_LT(error, bound) << plan.name();
  }
  EXPECT_EQ(library->plans(), static_cast<int>(small_layers().size()));
}

// Only at one number of items: the library may run another kernel for another one (cuDNN 9.14 does,
// in fast and tf32 mode), so a program that needs it has a single batch class.
TEST_P(LibraryModes, ABatchHasTheSameBitsEveryTime) {
  const Mode mode = GetParam();
  DIARIST_NEED_CUDA();
  const auto library = open_library(mode, 9);
  if (library == nullptr) GTEST_SKIP() << kNoLibrary;
  for (const ConvLayer& layer : small_layers()) {
    const LayerArrays arrays(layer, mode, 9);
    const LibraryPlan& plan = library->plan(layer, 9, arrays.args(), nullptr);
    library->run(plan, arrays.args(), nullptr);
    const std::vector<std::uint8_t> once = arrays.bytes();
    arrays.poison();
    library->run(plan, arrays.args(), nullptr);
    EXPECT_EQ(arrays.bytes() == once, true) << layer.name << " " << shape_text(layer.shape);
  }
}

TEST_P(LibraryModes, ReplayHasTheBitsOfAnEagerRun) {
  const Mode mode = GetParam();
  DIARIST_NEED_CUDA();
  const auto library = open_library(mode, 3);
  if (library == nullptr) GTEST_SKIP() << kNoLibrary;
  cudaStream_t stream = nullptr;
  DIARIST_CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (const ConvLayer& layer : small_layers()) {
    const LayerArrays arrays(layer, mode, 3);
    const LibraryPlan& plan = library->plan(layer, 3, arrays.args(), stream);
    library->run(plan, arrays.args(), stream);
    DIARIST_CUDA_OK(cudaStreamSynchronize(stream));
    const std::vector<std::uint8_t> eager = arrays.bytes();
    arrays.poison();
    DIARIST_CUDA_OK(cudaDeviceSynchronize());
    DIARIST_CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    library->run(plan, arrays.args(), stream);
    cudaGraph_t graph = nullptr;
    DIARIST_CUDA_OK(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t executable = nullptr;
    DIARIST_CUDA_OK(cudaGraphInstantiate(&executable, graph, 0));
    DIARIST_CUDA_OK(cudaGraphLaunch(executable, stream));
    DIARIST_CUDA_OK(cudaStreamSynchronize(stream));
    EXPECT_EQ(arrays.bytes() == eager, true) << layer.name;
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
  }
  cudaStreamDestroy(stream);
}

TEST_P(LibraryModes, TheRankingMarksOneChoice) {
  const Mode mode = GetParam();
  DIARIST_NEED_CUDA();
  const auto library = open_library(mode, 3);
  if (library == nullptr) GTEST_SKIP() << kNoLibrary;
  for (const ConvLayer& layer : small_layers()) {
    int chosen = 0;
    for (const LibraryCandidate& candidate : library->candidates(layer, 3)) {
      chosen += candidate.chosen ? 1 : 0;
      std::printf("[          ] %-10s %-22s %-16s %10zu bytes %s%s\n", layer.name.c_str(),
                  algorithm_name(candidate.algorithm).c_str(), math_name(candidate.math).c_str(),
                  candidate.workspace_bytes, candidate.problem.c_str(),
                  candidate.chosen ? "chosen" : "");
    }
    EXPECT_EQ(chosen, 1) << layer.name;
  }
}

TEST(Library, TheLargestBatchIsPlannedFirst) {
  DIARIST_NEED_CUDA();
  const auto library = open_library(Mode::kFast, 4);
  if (library == nullptr) GTEST_SKIP() << kNoLibrary;
  const ConvLayer layer = small_layers()[0];
  const LayerArrays arrays(layer, Mode::kFast, 1);
  try {
    library->plan(layer, 1, arrays.args(), nullptr);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInternal);
  }
}

TEST(Library, CanBeMadeAgain) {
  for (int i = 0; i < 3; ++i) {
    DIARIST_NEED_CUDA();
    const auto library = open_library(Mode::kFast, 1);
    if (library == nullptr) GTEST_SKIP() << kNoLibrary;
    const ConvLayer layer = small_layers()[1];
    const LayerArrays arrays(layer, Mode::kFast, 1);
    library->run(library->plan(layer, 1, arrays.args(), nullptr), arrays.args(), nullptr);
    EXPECT_LT(arrays.error(), 2e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, LibraryModes,
                         testing::Values(Mode::kFast, Mode::kExact, Mode::kTf32),
                         [](const auto& test) { return std::string(mode_name(test.param)); });

}  // namespace
}  // namespace diarist::backend::cuda
