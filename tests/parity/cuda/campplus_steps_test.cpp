// Every step of CAM++ on the GPU against the same value of the double reference.

#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>

#include "backend/cuda/campplus/campplus_pack.hpp"
#include "backend/cuda/check.hpp"
#include "campplus_fixture.hpp"
#include "model/topology.hpp"

namespace diarist::test {
namespace {

using namespace backend::cuda::campplus;  // NOLINT(google-build-using-namespace)
using backend::cuda::check;
using backend::cuda::DeviceMemory;

const std::vector<int> kLengths = {260, 5, 37, 131, 2};

const std::vector<std::string> kMapTaps = {
    "head.layer1.0.hidden", "head.layer1.0",        "head.layer1.1.hidden",
    "head.layer1.1",        "head.layer2.0.hidden", "head.layer2.0",
    "head.layer2.1.hidden", "head.layer2.1",        "head.map"};
const std::vector<std::string> kRowTaps = {"tdnn",     "block1", "transit1", "block2",
                                           "transit2", "block3", "frames"};

std::vector<std::string> all_taps() {
  std::vector<std::string> taps = kMapTaps;
  taps.insert(taps.end(), kRowTaps.begin(), kRowTaps.end());
  return taps;
}

const GraphCase& steps_case() {
  static const GraphCase made =
      gathered_case(model::campplus_network(campplus_weights()).with_outputs(all_taps()), kLengths);
  return made;
}

const Outputs& steps_reference() {
  static const Outputs made = [] {
    const auto reference = backend::reference::make_reference_backend(0);
    return run_graph(*reference, steps_case());
  }();
  return made;
}

/// One pack on the device, step by step.
class Steps {
 public:
  explicit Steps(bool exact)
      : exact_(exact),
        graph_(model::campplus_network(campplus_weights())),
        parts_(parts_of(graph_)),
        model_(0, parts_, exact),
        limits_(pack_limits(static_cast<int>(kLengths.size()), 260, 132)),
        space_(0, limits_, exact, true, 512),
        pack_(model_, space_, plan_, launch_, queue_.stream(), no_mark_) {
    const std::vector<std::int32_t> lengths(kLengths.begin(), kLengths.end());
    PackPlanner(limits_.rows, 200).next(lengths, 0, limits_.rows, plan_);
    std::vector<std::int32_t> indices;
    std::int64_t frame = 0;
    for (std::size_t i = 0; i < plan_.items.size(); ++i) {
      plan_.items[i].first_index = static_cast<std::int64_t>(indices.size());
      plan_.items[i].first_frame = frame;
      frame += plan_.items[i].units();
      for (const float index : steps_case().items[i].inputs[1])
        indices.push_back(static_cast<std::int32_t>(index));
    }
    features_ = upload(steps_case().shared[0]);
    indices_ = upload(indices);
    copy(space_.items, plan_.items);
    copy(space_.segments, plan_.segments);
    copy(space_.tiles, plan_.tiles);
    source_.features = features_.as<float>();
    source_.feature_rows = 1500;
    source_.indices = indices_.as<std::int32_t>();
    source_.frames = space_.frames;
    check(prepare_map_conv(exact), "kernels");
    check(prepare_frames(exact, &launch_.frames), "kernels");
  }

  CampplusPack& pack() { return pack_; }
  const PackSource& source() const { return source_; }
  const PackPlan& plan() const { return plan_; }
  const CampplusWorkspace& space() const { return space_; }

  /// A map's pixels of an item as [32][frequencies][rows].
  Numbers map(const __half* begin, int pitch, int frequencies, int first_row, int rows) {
    const std::size_t pixel = exact_ ? 64 : 32;
    std::vector<__half> all(static_cast<std::size_t>(frequencies) *
                            static_cast<std::size_t>(pitch) * pixel);
    fetch(all.data(), begin, all.size() * sizeof(__half));
    Numbers out;
    for (int c = 0; c < 32; ++c)
      for (int f = 0; f < frequencies; ++f)
        for (int t = 0; t < rows; ++t) {
          const std::size_t at = static_cast<std::size_t>(f * pitch + first_row + t) * pixel +
                                 static_cast<std::size_t>(c);
          out.push_back(__half2float(all[at]) + (exact_ ? __half2float(all[at + 32]) : 0.0F));
        }
    return out;
  }

  /// The first `columns` columns of an item's units.
  Numbers rows(const void* begin, const PackItem& item, int columns) {
    const std::size_t count = static_cast<std::size_t>(item.units()) * kFrameColumns;
    const std::size_t first = static_cast<std::size_t>(item.first_unit()) * kFrameColumns;
    Numbers out;
    const auto take = [&](const auto& all) {
      for (int u = 0; u < item.units(); ++u)
        for (int c = 0; c < columns; ++c)
          out.push_back(static_cast<float>(all[static_cast<std::size_t>(u * kFrameColumns + c)]));
    };
    if (exact_) {
      std::vector<float> all(count);
      fetch(all.data(), static_cast<const float*>(begin) + first, count * 4);
      take(all);
    } else {
      std::vector<__half> all(count);
      fetch(all.data(), static_cast<const __half*>(begin) + first, count * 2);
      take(all);
    }
    return out;
  }

  Numbers frames(const PackItem& item) {
    Numbers out(static_cast<std::size_t>(item.units()) * 512);
    fetch(out.data(), space_.frames + item.first_frame * 512, out.size() * 4);
    return out;
  }

 private:
  static CampplusParts parts_of(const model::Graph& graph) {
    CampplusParts parts;
    EXPECT_TRUE(find_parts(graph, parts));
    return parts;
  }
  template <typename T>
  DeviceMemory upload(const std::vector<T>& values) {
    DeviceMemory memory(0, values.size() * sizeof(T), "test");
    copy(memory.template as<T>(), values);
    return memory;
  }
  template <typename T>
  void copy(T* target, const std::vector<T>& values) {
    check(cudaMemcpyAsync(target, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice,
                          queue_.stream()),
          "test");
    queue_.wait();
  }
  void fetch(void* target, const void* source, std::size_t bytes) {
    check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToHost, queue_.stream()), "test");
    queue_.wait();
  }

  bool exact_;
  model::Graph graph_;
  CampplusParts parts_;
  CampplusModel model_;
  PackLimits limits_;
  CampplusWorkspace space_;
  PackPlan plan_;
  backend::cuda::CudaQueue queue_{0};
  std::function<void(const char*)> no_mark_;
  PackLaunch launch_{132, {}};
  CampplusPack pack_;
  PackSource source_;
  DeviceMemory features_, indices_;
};

class CudaCampplusSteps : public testing::TestWithParam<bool> {};

TEST_P(CudaCampplusSteps, EveryValueEqualsTheReference) {
  DIARIST_NEED_CUDA();
  const bool exact = GetParam();
  Steps steps(exact);
  const double tolerance = exact ? kExactDifference : 2e-2;
  const auto expect = [&](std::size_t tap, std::size_t item, const Numbers& got, int columns) {
    Numbers wanted;
    const Numbers& all = steps_reference()[item][tap];
    const std::size_t rows = static_cast<std::size_t>(steps.plan().items[item].units());
    if (columns == 0) {
      wanted = all;
    } else {
      const std::size_t width = all.size() / rows;
      for (std::size_t u = 0; u < rows; ++u)
        wanted.insert(wanted.end(), all.begin() + static_cast<std::ptrdiff_t>(u * width),
                      all.begin() + static_cast<std::ptrdiff_t>(u * width) + columns);
    }
    const double difference = relative_difference(got, wanted);
    EXPECT_LE(difference, tolerance) << all_taps()[tap] << ", item " << item;
    return difference;
  };
  const auto report = [&](std::size_t tap, double worst) {
    std::printf("[          ] %-22s %.2e\n", all_taps()[tap].c_str(), worst);
  };
  CampplusPack& pack = steps.pack();
  pack.tables();
  pack.gather(steps.source());
  const CampplusWorkspace& space = steps.space();
  ASSERT_GE(steps.plan().slabs.size(), 2U);
  std::vector<double> worst(kMapTaps.size(), 0);
  for (const Slab& slab : steps.plan().slabs)
    for (std::size_t i = 0; i < kMapTaps.size(); ++i) {
      pack.convolve(slab, static_cast<int>(i));
      const HeadStep& step = kHeadSteps[i];
      const bool last = step.output < 0;
      const std::size_t pixel = exact ? 64 : 32;
      const __half* const map = last ? space.head
                                     : space.maps + static_cast<std::size_t>(step.output) *
                                                        static_cast<std::size_t>(space.map_rows) *
                                                        pixel;
      for (std::size_t item = 0; item < kLengths.size(); ++item) {
        const PackItem& at = steps.plan().items[item];
        if (at.first_row < slab.first_row || at.first_row >= slab.first_row + slab.rows) continue;
        const Numbers got =
            steps.map(map, last ? space.head_pitch : space.map_rows, step.out_frequency,
                      at.first_row - (last ? 0 : slab.first_row), at.rows);
        worst[i] = std::max(worst[i], expect(i, item, got, 0));
      }
    }
  for (std::size_t i = 0; i < worst.size(); ++i) report(i, worst[i]);
  const auto expect_rows = [&](std::size_t tap, int array, int columns) {
    double most = 0;
    for (std::size_t item = 0; item < kLengths.size(); ++item)
      most = std::max(
          most, expect(tap, item, steps.rows(space.rows[array], steps.plan().items[item], columns),
                       columns));
    report(tap, most);
  };
  std::size_t tap = kMapTaps.size();
  pack.tdnn();
  expect_rows(tap++, 0, 128);
  for (int block = 0; block < 3; ++block) {
    const model::DenseStage& stage = model::kCampplusStages[block];
    pack.dense_block(block);
    // The last layer's columns are finished by the transit.
    expect_rows(tap++, block % 2, stage.grown() - 32);
    pack.transit(block, steps.source());
    if (block < 2) expect_rows(tap++, (block + 1) % 2, stage.out);
  }
  double most = 0;
  for (std::size_t item = 0; item < kLengths.size(); ++item)
    most = std::max(most, expect(tap, item, steps.frames(steps.plan().items[item]), 0));
  report(tap, most);
}

INSTANTIATE_TEST_SUITE_P(Modes, CudaCampplusSteps, testing::Values(false, true),
                         [](const auto& mode) { return mode.param ? "Exact" : "Fast"; });

}  // namespace
}  // namespace diarist::test
