// Times of every kernel for every layer of the ResNet34 trunk. Runs only when asked for:
// DIARIST_CONV_TIMES=128 conv_kernels_test --gtest_filter='ConvTimes.*' (128: items of a batch).
// DIARIST_CONV_TIMES_MS: how long each kernel is run for, 150 ms unless said.

#include <cstdio>

#include "backend/cuda/kernels/conv.hpp"
#include "backend/cuda/kernels/conv_ffma.hpp"
#include "backend/cuda/kernels/conv_mma_tiles.hpp"
#include "kernel_arrays.hpp"

namespace diarist::test {
namespace {

using namespace backend::cuda;

struct TrunkLayer {
  PlainConv conv;
  bool residual;
  int count;
};

std::vector<TrunkLayer> trunk() {
  std::vector<TrunkLayer> layers;
  const int blocks[] = {3, 4, 6, 3};
  int channels = 32, f = 80, t = 998;
  for (int stage = 0; stage < 4; ++stage) {
    int firsts = blocks[stage];
    if (stage > 0) {
      const PlainConv down{
          .stride = 2, .cin = channels, .cout = 2 * channels, .in_f = f, .in_t = t};
      PlainConv shortcut = down;
      shortcut.taps = 1;
      shortcut.relu = false;
      layers.push_back({down, false, 1});
      layers.push_back({shortcut, false, 1});
      f = down.out_f();
      t = down.out_t();
      channels *= 2;
      --firsts;
    }
    const PlainConv same{.cin = channels, .cout = channels, .in_f = f, .in_t = t};
    layers.push_back({same, false, firsts});
    layers.push_back({same, true, blocks[stage]});
  }
  return layers;
}

// A batch on the GPU: one item's random map, copied.
class Batch {
 public:
  Batch(const std::vector<std::uint8_t>& item, int items) {
    EXPECT_EQ(
        cudaMalloc(reinterpret_cast<void**>(&data_), item.size() * static_cast<std::size_t>(items)),
        cudaSuccess);
    for (int i = 0; i < items; ++i)
      EXPECT_EQ(cudaMemcpy(data_ + item.size() * static_cast<std::size_t>(i), item.data(),
                           item.size(), cudaMemcpyHostToDevice),
                cudaSuccess);
  }
  ~Batch() { cudaFree(data_); }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  std::uint8_t* data_ = nullptr;
};

template <typename T>
std::vector<std::uint8_t> bytes_of(const std::vector<T>& values) {
  std::vector<std::uint8_t> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// Mean time of a launch in ms, over at least `least_ms` of launches after a warm-up; negative when
// a launch fails.
template <typename Launch>
double mean_ms(Launch launch, double least_ms) {
  cudaEvent_t begin = nullptr, end = nullptr;
  if (cudaEventCreate(&begin) != cudaSuccess || cudaEventCreate(&end) != cudaSuccess) return -1;
  double total = 0;
  int runs = 3;
  bool ok = true;
  for (int round = 0; round < 2 && ok; ++round) {
    ok = cudaEventRecord(begin) == cudaSuccess;
    for (int i = 0; i < runs && ok; ++i) ok = launch() == cudaSuccess;
    float ms = 0;
    ok = ok && cudaEventRecord(end) == cudaSuccess && cudaEventSynchronize(end) == cudaSuccess &&
         cudaEventElapsedTime(&ms, begin, end) == cudaSuccess;
    total = double{ms} / runs;
    if (round == 0) runs = std::max(3, static_cast<int>(least_ms / std::max(total, 1e-3)));
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return ok ? total : -1;
}

void print_time(const char* kernel, const TrunkLayer& layer, int items, int bytes_per_value,
                double ms) {
  const PlainConv& conv = layer.conv;
  const double flop = 2.0 * conv.out_f() * conv.out_t() * conv.cout * conv.cin * conv.taps * items;
  const double bytes =
      (double{1} * conv.in_f * conv.in_t * conv.cin / (conv.taps == 1 ? 4 : 1) +
       double{1} * conv.out_f() * conv.out_t() * conv.cout * (layer.residual ? 2 : 1)) *
      bytes_per_value * items;
  std::printf("%3d -> %3d %dx%d/%d %-8s x%d  %-22s %8.4f ms %7.1f TFLOP/s %6.2f TB/s\n", conv.cin,
              conv.cout, conv.taps == 9 ? 3 : 1, conv.taps == 9 ? 3 : 1, conv.stride,
              layer.residual ? "residual" : "", layer.count, kernel, ms, flop / ms / 1e9,
              bytes / ms / 1e9);
  std::fflush(stdout);
}

void time_mma(bool split, int items, double least_ms) {
  ConvDevice device;
  DIARIST_CUDA_OK(query_conv_device(&device));
  double first_total = 0, best_total = 0;
  for (const TrunkLayer& layer : trunk()) {
    const PlainConv& conv = layer.conv;
    const Batch input(
        bytes_of(to_half_map(random_floats(conv.inputs(), -1, 1, 1), conv.cin, split)), items);
    const Batch output(
        bytes_of(to_half_map(random_floats(conv.outputs(), -1, 1, 2), conv.cout, split)), items);
    const Batch residual(
        bytes_of(to_half_map(random_floats(conv.outputs(), -1, 1, 2), conv.cout, split)),
        layer.residual ? items : 1);
    const std::vector<float> weight = random_floats(conv.weights(), -0.1F, 0.1F, 3);
    const float scale = conv_weight_scale(weight.data(), weight.size());
    const Batch weights(
        bytes_of(pack_conv_weights(weight.data(), conv.cout, conv.cin, conv.taps, split, scale)),
        1);
    const Batch bias(bytes_of(random_floats(static_cast<std::size_t>(conv.cout), -1, 1, 4)), 1);
    ConvArgs args;
    args.input = input.as<__half>();
    args.weights = weights.as<__half>();
    args.bias = bias.as<float>();
    args.residual = layer.residual ? residual.as<__half>() : nullptr;
    args.output = output.as<__half>();
    args.items = items;
    args.in_f = conv.in_f;
    args.in_t = conv.in_t;
    args.out_f = conv.out_f();
    args.out_t = conv.out_t();
    args.cin = conv.cin;
    args.cout = conv.cout;
    args.unscale = 1 / scale;
    args.relu = conv.relu;
    double first = 0, best = 0;
    int tile = -1;
    while ((tile = choose_conv_mma({conv.taps, conv.stride, conv.stride}, split, conv.cin,
                                   conv.cout, device.shared_per_block, tile)) >= 0) {
      const double ms = mean_ms(
          [&] { return launch_conv_mma_tile(tile, device, split, args, nullptr); }, least_ms);
      ASSERT_GT(ms, 0) << kConvMmaTiles[tile].name << ": "
                       << cudaGetErrorString(cudaGetLastError());
      print_time(kConvMmaTiles[tile].name, layer, items, split ? 4 : 2, ms);
      if (first == 0) first = ms;
      best = best == 0 ? ms : std::min(best, ms);
    }
    first_total += first * layer.count;
    best_total += best * layer.count;
  }
  std::printf(
      "%s, batch %d, without stem and ends: first tiles %.2f ms (%.0f chunks/s), best tiles "
      "%.2f ms (%.0f chunks/s)\n",
      split ? "exact" : "half", items, first_total, items / first_total * 1e3, best_total,
      items / best_total * 1e3);
}

void time_ffma(int items, double least_ms) {
  double total = 0;
  for (const TrunkLayer& layer : trunk()) {
    const PlainConv& conv = layer.conv;
    const Batch input(bytes_of(random_floats(conv.inputs(), -1, 1, 1)), items);
    const Batch output(bytes_of(random_floats(conv.outputs(), -1, 1, 2)), items);
    const Batch residual(bytes_of(random_floats(conv.outputs(), -1, 1, 2)),
                         layer.residual ? items : 1);
    const Batch weights(bytes_of(random_floats(conv.weights(), -0.1F, 0.1F, 3)), 1);
    const Batch bias(bytes_of(random_floats(static_cast<std::size_t>(conv.cout), -1, 1, 4)), 1);
    ConvFfmaArgs args;
    args.input = input.as<float>();
    args.weights = weights.as<float>();
    args.bias = bias.as<float>();
    args.residual = layer.residual ? residual.as<float>() : nullptr;
    args.output = output.as<float>();
    args.items = items;
    args.in_f = conv.in_f;
    args.in_t = conv.in_t;
    args.out_f = conv.out_f();
    args.out_t = conv.out_t();
    args.cin = conv.cin;
    args.cout = conv.cout;
    args.relu = conv.relu;
    const ConvShape shape{conv.taps, conv.stride, conv.stride};
    const double ms = mean_ms([&] { return launch_conv_ffma(shape, args, nullptr); }, least_ms);
    ASSERT_GT(ms, 0) << cudaGetErrorString(cudaGetLastError());
    print_time("conv_ffma", layer, items, 4, ms);
    total += ms * layer.count;
  }
  std::printf("FP32, batch %d, without stem and ends: %.2f ms (%.0f chunks/s)\n", items, total,
              items / total * 1e3);
}

TEST(ConvTimes, OfEveryTrunkLayer) {
  const char* wish = std::getenv("DIARIST_CONV_TIMES");
  const int items = wish == nullptr ? 0 : std::atoi(wish);
  if (items < 1) GTEST_SKIP() << "DIARIST_CONV_TIMES=<items of a batch> asks for times";
  DIARIST_NEED_CUDA();
  const char* span = std::getenv("DIARIST_CONV_TIMES_MS");
  const double least_ms = span == nullptr ? 150 : std::atof(span);
  DIARIST_CUDA_OK(prepare_conv_mma());
  time_mma(false, items, least_ms);
  time_mma(true, items, least_ms);
  time_ffma(std::min(items, 16), least_ms);
}

}  // namespace
}  // namespace diarist::test
