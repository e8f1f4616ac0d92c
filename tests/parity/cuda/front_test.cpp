// From samples and raw sinc rows to the LSTM's input, against the double reference.

#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "backend/cuda/front/segmentation_front.hpp"
#include "backend/reference/reference_backend.hpp"
#include "front_fixture.hpp"

namespace diarist::test {
namespace {

using backend::cuda::CudaQueue;
using backend::cuda::DeviceMemory;
using backend::cuda::FrontKernels;
using backend::cuda::FrontTaps;
using backend::cuda::FrontWindows;
using backend::cuda::SegmentationFront;

constexpr std::int64_t kSinc0 = 5325 * 80, kSinc1 = 1773 * 60, kSinc2 = 589 * 60;
constexpr std::int64_t kRaw = 15975 * 80;

/// The first three blocks only.
model::Graph front_graph() {
  model::Graph graph =
      model::segmentation_network(pyannet_weights()).with_outputs({"sinc0", "sinc1", "sinc2"});
  graph.nodes.resize(3);
  return graph;
}

SegmentationFront make_front(int max_windows, int sub_batch,
                             FrontKernels kernels = FrontKernels::kBest) {
  const model::Graph graph = front_graph();
  return {0,
          std::get<model::SincPool>(graph.nodes[0].block),
          std::get<model::Conv1d>(graph.nodes[1].block),
          std::get<model::Conv1d>(graph.nodes[2].block),
          max_windows,
          sub_batch,
          kernels};
}

template <typename T>
DeviceMemory uploaded(CudaQueue& queue, const std::vector<T>& values) {
  DeviceMemory memory(0, values.size() * sizeof(T), "test");
  EXPECT_EQ(cudaMemcpyAsync(memory.data(), values.data(), values.size() * sizeof(T),
                            cudaMemcpyHostToDevice, queue.stream()),
            cudaSuccess);
  queue.wait();
  return memory;
}

template <typename T>
std::vector<T> downloaded(CudaQueue& queue, const DeviceMemory& memory) {
  std::vector<T> values(memory.bytes() / sizeof(T));
  EXPECT_EQ(cudaMemcpyAsync(values.data(), memory.data(), memory.bytes(), cudaMemcpyDeviceToHost,
                            queue.stream()),
            cudaSuccess);
  queue.wait();
  return values;
}

float half_value(std::uint16_t bits) {
  __half_raw raw;
  raw.x = bits;
  return __half2float(__half(raw));
}

constexpr std::uint16_t kPoison = 0xA5A5;

struct FrontResult {
  std::vector<std::uint16_t> rows;  // [589][columns][128]
  Numbers sinc0, sinc1, sinc2;
};

/// A run with poisoned outputs; sinc1 and sinc2 with gaps between the items.
FrontResult run_front(const SegmentationFront& front, CudaQueue& queue, const FrontWindows& windows,
                      int columns, bool taps) {
  const auto count = static_cast<std::size_t>(windows.count);
  const auto rows = uploaded(
      queue, std::vector<std::uint16_t>(static_cast<std::size_t>(columns) * 589 * 128, kPoison));
  const auto sinc0 = uploaded(queue, Numbers(taps ? count * kSinc0 : 1, NAN));
  const auto sinc1 = uploaded(queue, Numbers(taps ? count * (kSinc1 + 7) : 1, NAN));
  const auto sinc2 = uploaded(queue, Numbers(taps ? count * (kSinc2 + 3) : 1, NAN));
  FrontTaps wanted;
  if (taps)
    wanted = {sinc0.as<float>(), kSinc0,    sinc1.as<float>(), kSinc1 + 7,
              sinc2.as<float>(), kSinc2 + 3};
  front.run(queue.stream(), windows, rows.as<__half>(), columns, wanted);
  return {downloaded<std::uint16_t>(queue, rows), downloaded<float>(queue, sinc0),
          downloaded<float>(queue, sinc1), downloaded<float>(queue, sinc2)};
}

/// The halves of a window's column: [589][128].
std::vector<std::uint16_t> column_of(const FrontResult& result, int column, int columns) {
  std::vector<std::uint16_t> halves;
  for (int t = 0; t < 589; ++t) {
    const auto* from = result.rows.data() + (static_cast<std::size_t>(t) * columns + column) * 128;
    halves.insert(halves.end(), from, from + 128);
  }
  return halves;
}

Numbers part_of(const Numbers& all, std::size_t item, std::int64_t stride, std::int64_t count) {
  const auto from = all.begin() + static_cast<std::ptrdiff_t>(item) * stride;
  return {from, from + count};
}

using SegmentationFrontEnd = FrontKernelsTest;
INSTANTIATE_TEST_SUITE_P(Kernels, SegmentationFrontEnd, both_kernels(), kernels_name);

TEST_P(SegmentationFrontEnd, EqualsTheReference) {
  DIARIST_NEED_CUDA();
  CudaQueue queue(0);
  const auto reference = backend::reference::make_reference_backend(0);
  const std::vector<Signal> all = signals(160000);
  GraphCase raw_case{"raw", model::sinc_front_end(pyannet_weights()), {}, {}};
  for (const Signal& signal : all) raw_case.items.push_back({{signal.samples}, 160000});
  const Outputs raw = run_graph(*reference, raw_case);
  GraphCase test{"front", front_graph(), {}, {}};
  Numbers samples, raw_rows;
  for (std::size_t i = 0; i < all.size(); ++i) {
    test.items.push_back({{all[i].samples, raw[i][0]}, 0});
    samples.insert(samples.end(), all[i].samples.begin(), all[i].samples.end());
    raw_rows.insert(raw_rows.end(), raw[i][0].begin(), raw[i][0].end());
  }
  const Outputs wanted = run_graph(*reference, test);

  const int count = static_cast<int>(all.size()), columns = count + 2;
  const SegmentationFront front = make_front(count, 3, GetParam());
  const auto samples_there = uploaded(queue, samples);
  const auto raw_there = uploaded(queue, raw_rows);
  const FrontWindows windows{
      samples_there.as<float>(), 160000, raw_there.as<float>(), kRaw, nullptr, count};
  const FrontResult got = run_front(front, queue, windows, columns, true);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Numbers taps[3] = {part_of(got.sinc0, i, kSinc0, kSinc0),
                             part_of(got.sinc1, i, kSinc1 + 7, kSinc1),
                             part_of(got.sinc2, i, kSinc2 + 3, kSinc2)};
    std::printf("%-26s", all[i].name.c_str());
    for (std::size_t s = 0; s < 3; ++s) {
      const Errors errors = errors_of(taps[s], wanted[i][s]);
      std::printf(" sinc%zu max %.1e rms %.1e", s, errors.largest, errors.rms);
      EXPECT_LE(relative_difference(taps[s], wanted[i][s]), 1e-5) << all[i].name << " sinc" << s;
      EXPECT_LE(errors.largest, 5e-5) << all[i].name << " sinc" << s;
    }
    const std::vector<std::uint16_t> halves = column_of(got, static_cast<int>(i), columns);
    Numbers value(kSinc2);
    for (std::size_t t = 0; t < 589; ++t)
      for (std::size_t c = 0; c < 64; ++c) {
        const std::uint16_t high = halves[t * 128 + c], low = halves[t * 128 + 64 + c];
        if (c < 60)
          value[t * 60 + c] = (half_value(high) + half_value(low)) / SegmentationFront::kRowScale;
        else
          EXPECT_TRUE(high == 0 && low == 0) << "padding of row " << t;
      }
    const Errors errors = errors_of(value, wanted[i][2]);
    std::printf(" rows max %.1e rms %.1e\n", errors.largest, errors.rms);
    EXPECT_LE(errors.largest, 5e-5) << all[i].name;
  }
  for (int column = count; column < columns; ++column)
    for (const std::uint16_t half : column_of(got, column, columns))
      ASSERT_EQ(half, kPoison) << "column " << column << " belongs to nobody";
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::int64_t gap = 0; gap < 7; ++gap)
      EXPECT_TRUE(std::isnan(got.sinc1[i * (kSinc1 + 7) + kSinc1 + gap]));
}

// Windows of one tape at arbitrary positions.
TEST_P(SegmentationFrontEnd, AWindowsBitsDependOnNothingElse) {
  DIARIST_NEED_CUDA();
  CudaQueue queue(0);
  constexpr std::int64_t kStep = 4010;  // samples; no multiple of 3 raw rows
  constexpr int kPlaces = 9;
  const Numbers tape = speech_like(160000 + kStep * kPlaces, 6);
  Random random(8);
  const Numbers raw = random.numbers(kRaw + kStep / 10 * 80 * kPlaces, 0.3);
  const auto samples_there = uploaded(queue, tape);
  const auto raw_there = uploaded(queue, raw);
  const std::vector<std::int32_t> positions = {7, 0, 3, 3, 8, 1, 2, 7, 5};
  const auto positions_there = uploaded(queue, positions);
  const FrontWindows windows{
      samples_there.as<float>(),          kStep, raw_there.as<float>(), kStep / 10 * 80,
      positions_there.as<std::int32_t>(), 9};
  const FrontResult all = run_front(make_front(9, 9, GetParam()), queue, windows, 9, true);
  const FrontResult parts = run_front(make_front(16, 4, GetParam()), queue, windows, 12, false);
  const SegmentationFront one = make_front(1, 1, GetParam());
  for (int i = 0; i < 9; ++i) {
    const auto halves = column_of(all, i, 9);
    EXPECT_EQ(column_of(parts, i, 12), halves) << "window " << i;
    const std::int64_t at = positions[static_cast<std::size_t>(i)];
    const FrontWindows single{samples_there.as<float>() + at * kStep,
                              0,
                              raw_there.as<float>() + at * kStep / 10 * 80,
                              0,
                              nullptr,
                              1};
    const FrontResult alone = run_front(one, queue, single, 1, true);
    EXPECT_EQ(column_of(alone, 0, 1), halves) << "window " << i;
    const auto item = static_cast<std::size_t>(i);
    EXPECT_EQ(alone.sinc0, part_of(all.sinc0, item, kSinc0, kSinc0));
    EXPECT_EQ(part_of(alone.sinc1, 0, 0, kSinc1), part_of(all.sinc1, item, kSinc1 + 7, kSinc1));
  }
}

TEST_P(SegmentationFrontEnd, MisusesAreErrors) {
  DIARIST_NEED_CUDA();
  CudaQueue queue(0);
  const SegmentationFront front = make_front(2, 2, GetParam());
  const DeviceMemory some(0, 4096, "test");
  FrontWindows windows{some.as<float>(), 16000, some.as<float>(), 128000, nullptr, 3};
  EXPECT_THROW(front.run(queue.stream(), windows, some.as<__half>(), 3), Error);
  windows.count = 2;
  EXPECT_THROW(front.run(queue.stream(), windows, some.as<__half>(), 1), Error);
  windows.raw = some.as<float>() + 1;
  EXPECT_THROW(front.run(queue.stream(), windows, some.as<__half>(), 2), Error);
  model::Graph graph = front_graph();
  auto second = std::get<model::Conv1d>(graph.nodes[2].block);
  second.pool3 = false;
  EXPECT_THROW(SegmentationFront(0, std::get<model::SincPool>(graph.nodes[0].block),
                                 std::get<model::Conv1d>(graph.nodes[1].block), second, 1, 1),
               Error);
}

}  // namespace
}  // namespace diarist::test
