// The launches of one pack.

#include "backend/cuda/campplus/campplus_pack.hpp"

#include <cuda_fp16.h>

#include "backend/cuda/check.hpp"
#include "backend/cuda/kernels/campplus/gather.hpp"

namespace diarist::backend::cuda::campplus {
namespace {

constexpr const char* kBlockNames[] = {"block1", "block2", "block3"};
constexpr const char* kHeadNames[kHeadConvolutions] = {
    "layer1.0.conv1", "layer1.0.conv2", "layer1.1.conv1", "layer1.1.conv2", "layer2.0.conv1",
    "layer2.0.conv2", "layer2.1.conv1", "layer2.1.conv2", "conv2"};

// Where maps begin: the first stage lives in two maps of 40 frequencies, the second stage in two of
// 20 in place of the first of them.
constexpr int kA = 0, kC = 20, kB = 40;

}  // namespace

const HeadStep kHeadSteps[kHeadConvolutions] = {
    {-1, kBands, kA, 40, -1, kB}, {kA, 40, kB, 40, kB, -1}, {kB, 40, kA, 40, -1, -1},
    {kA, 40, kB, 40, kB, -1},     {kB, 40, kA, 20, -1, kC}, {kA, 20, kC, 20, kC, -1},
    {kC, 20, kA, 20, -1, -1},     {kA, 20, kC, 20, kC, -1}, {kC, 20, -1, 10, -1, -1}};

void CampplusPack::run(const PackSource& source) {
  tables();
  gather(source);
  mark("gather");
  for (const Slab& slab : plan_.slabs)
    for (int index = 0; index < kHeadConvolutions; ++index) {
      convolve(slab, index);
      mark(kHeadNames[index]);
    }
  tdnn();
  mark("tdnn");
  for (int block = 0; block < 3; ++block) {
    dense_block(block);
    mark(kBlockNames[block]);
    transit(block, source);
    mark("transits");
  }
}

void CampplusPack::tables() {
  TablesArgs args;
  args.items = space_.items;
  args.row_items = space_.row_items;
  args.unit_segments = space_.unit_segments;
  args.items_count = static_cast<int>(plan_.items.size());
  args.rows = plan_.rows;
  check(launch_tables(args, stream_), "tables of a pack");
  tables_.items = space_.items;
  tables_.segments = space_.segments;
  tables_.tiles = space_.tiles;
  tables_.tiles_count = static_cast<int>(plan_.tiles.size());
  tables_.row_items = space_.row_items;
  tables_.unit_segments = space_.unit_segments;
  tables_.range = space_.range + plan_.first_item;
  tables_.items_count = args.items_count;
  tables_.rows = plan_.rows;
  tables_.units = plan_.rows / 2;
}

void CampplusPack::gather(const PackSource& source) {
  GatherArgs args;
  args.tables = tables_;
  args.features = source.features;
  args.indices = source.indices;
  args.feature_rows = source.feature_rows;
  args.means = space_.means;
  args.planes = space_.planes;
  args.low_planes = space_.low_planes;
  args.pitch = space_.plane_pitch;
  check(launch_gather(args, stream_), "gathered rows");
}

void CampplusPack::convolve(const Slab& slab, int index) {
  const std::size_t pixel = model_.exact() ? 64 : 32;  // halves
  const HeadStep& step = kHeadSteps[index];
  const auto map = [&](int frequency) -> __half* {
    if (frequency < 0) return nullptr;
    return space_.maps +
           static_cast<std::size_t>(frequency) * static_cast<std::size_t>(space_.map_rows) * pixel;
  };
  MapConvArgs args;
  if (step.input < 0) {
    args.stem = model_.stem;
    args.planes = space_.planes + slab.first_row;
    if (space_.low_planes != nullptr) args.low_planes = space_.low_planes + slab.first_row;
    args.plane_pitch = space_.plane_pitch;
  }
  args.input = map(step.input);
  args.in_frequency = step.in_frequency;
  args.in_pitch = args.out_pitch = space_.map_rows;
  args.conv = model_.convolutions[static_cast<std::size_t>(index)];
  args.shortcut = model_.shortcuts[static_cast<std::size_t>(index)];
  args.beside = map(step.beside);
  args.residual = map(step.residual);
  args.output = map(step.output);
  if (step.output < 0) {
    args.output = space_.head + static_cast<std::size_t>(slab.first_row) * pixel;
    args.out_pitch = space_.head_pitch;
  }
  args.out_frequency = step.out_frequency;
  args.stride = step.in_frequency / step.out_frequency;
  args.time = slab.rows;
  args.exact = model_.exact();
  args.row_items = space_.row_items + slab.first_row;
  args.range = tables_.range;
  args.multiprocessors = launch_.multiprocessors;
  check(launch_map_conv(args, stream_), "convolution of CAM++'s head");
}

void CampplusPack::tdnn() {
  TdnnArgs args;
  args.tables = tables_;
  args.map = space_.head;
  args.pitch = space_.head_pitch;
  args.product = model_.tdnn;
  args.out_rows = space_.rows[0];
  args.exact = model_.exact();
  check(launch_tdnn(args, stream_), "CAM++'s TDNN layer");
}

void CampplusPack::dense_block(int block) {
  const std::vector<DenseLayerWeights>& layers = model_.blocks[static_cast<std::size_t>(block)];
  const TransitWeights& behind = model_.transits[static_cast<std::size_t>(block)];
  DenseLayerArgs args;
  args.tables = tables_;
  args.rows = space_.rows[block % 2];
  args.dilation = block == 0 ? 1 : 2;
  args.exact = model_.exact();
  args.launch = launch_.frames;
  args.columns = behind.columns - kGrowth * static_cast<int>(layers.size());
  for (std::size_t i = 0; i < layers.size(); ++i, args.columns += kGrowth) {
    args.affine = layers[i].affine;
    args.reduce = layers[i].reduce;
    args.local_weights = layers[i].local;
    args.local_unscale = layers[i].local_unscale;
    args.local = space_.local[i % 2];
    args.sums = space_.sums[i % 2];
    // The first one waits for everything before: from then on the tables may be read early.
    args.launch.overlap = launch_.frames.overlap && (block > 0 || i > 0);
    check(launch_dense_layer(args, stream_), "dense layer of CAM++");
    args.pending = {args.local, args.sums, layers[i].gates};
  }
  pending_ = args.pending;
}

void CampplusPack::transit(int block, const PackSource& source) {
  const TransitWeights& weights = model_.transits[static_cast<std::size_t>(block)];
  TransitArgs args;
  args.tables = tables_;
  args.rows = space_.rows[block % 2];
  args.columns = weights.columns;
  args.outputs = weights.outputs;
  args.pending = pending_;
  args.affine = weights.affine;
  args.product = weights.product;
  if (block < 2)
    args.out_rows = space_.rows[(block + 1) % 2];
  else
    args.frames = source.frames;
  args.exact = model_.exact();
  args.launch = launch_.frames;
  check(launch_transit(args, stream_), "transit of CAM++");
}

}  // namespace diarist::backend::cuda::campplus
