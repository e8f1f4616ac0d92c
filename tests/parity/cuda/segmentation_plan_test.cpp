// What the segmentation decides without a device: which network and GPU it serves, and how a batch
// is cut.

#include <gtest/gtest.h>

#include "backend/cuda/kernels/gate_products.hpp"
#include "segmentation_fixture.hpp"

namespace diarist::test {
namespace {

using namespace backend::cuda;

DeviceFacts facts_of(const char* name, int architecture, int multiprocessors,
                     std::size_t shared_bytes) {
  return {name, architecture, multiprocessors, shared_bytes};
}

const DeviceFacts kH200 = facts_of("NVIDIA H200", 90, 132, 232448);
const DeviceFacts kA100 = facts_of("NVIDIA A100", 80, 108, 166912);
const DeviceFacts kBlackwell = facts_of("RTX PRO 6000", 120, 188, 101376);
const DeviceFacts kAda = facts_of("L40S", 89, 142, 101376);

TEST(SegmentationPlan, ServesItsNetworkWhereTheKernelsFit) {
  for (const DeviceFacts& device : {kH200, kA100, kBlackwell})
    EXPECT_TRUE(SegmentationProgram::serves(segmentation_graph(), device)) << device.name;
  EXPECT_FALSE(SegmentationProgram::serves(segmentation_graph(), kAda));
  EXPECT_TRUE(SegmentationProgram::serves(segmentation_graph().with_outputs({"lstm1"}), kH200));
  EXPECT_FALSE(
      SegmentationProgram::serves(model::sinc_front_end(synthetic_weights("pyannet")), kH200));
  model::Graph other = segmentation_graph();
  std::get<model::Dense>(other.nodes[7].block).activation = model::Activation::kRelu;
  EXPECT_FALSE(SegmentationProgram::serves(other, kH200));
}

TEST(SegmentationPlan, BatchesAreCutToFillTheDevice) {
  constexpr std::size_t kBytes = std::size_t{128} << 20;
  const struct {
    const DeviceFacts* device;
    int windows;
    Recurrence recurrence;
    Products products;
    int groups, padded, stretch;
  } rows[] = {
      {&kH200, 1, Recurrence::kPair, Products::kWarpgroup, 1, 8, 589},
      {&kH200, 21, Recurrence::kPair, Products::kWarpgroup, 1, 24, 589},
      {&kH200, 264, Recurrence::kPair, Products::kWarpgroup, 1, 264, 124},
      {&kH200, 265, Recurrence::kPair, Products::kWarpgroup, 2, 272, 120},
      {&kH200, 528, Recurrence::kPair, Products::kWarpgroup, 2, 528, 62},
      {&kA100, 9, Recurrence::kSingle, Products::kWarp, 1, 16, 589},
      {&kBlackwell, 9, Recurrence::kPair, Products::kWarp, 1, 16, 589},
  };
  for (const auto& row : rows) {
    const LstmPlan plan = plan_lstm(*row.device, row.windows, 589, kBytes);
    const std::string what = row.device->name + ", " + std::to_string(row.windows);
    EXPECT_EQ(plan.recurrence, row.recurrence) << what;
    EXPECT_EQ(plan.products, row.products) << what;
    EXPECT_EQ(plan.groups, row.groups) << what;
    EXPECT_EQ(plan.windows, row.padded) << what;
    EXPECT_EQ(plan.stretch, row.stretch) << what;
    EXPECT_LE(product_bytes(plan), kBytes) << what;
  }
}

}  // namespace
}  // namespace diarist::test
