#pragma once
// Arithmetic of the per-layer profile: what a launch must compute and move at least, and the time
// that a device's peaks allow for it.

#include <span>
#include <string>
#include <vector>

#include "backend/cuda/choice/choice.hpp"
#include "backend/profiling.hpp"
#include "diarist/tuning.hpp"

namespace diarist::backend::cuda {

/// Cost of one launch for a number of items.
struct LaunchCost {
  double flops = 0;     // useful ones, two per product
  double products = 1;  // products that the device makes per useful one (3 for split halves)
  double bytes = 0;     // maps that enter and leave, weights and residual once
};

/// A launch of a chosen trunk: its layers (indices) in order, the one it is launched in place of
/// last in `leader`.
struct ChosenLaunch {
  int leader = 0;
  std::vector<int> layers;
  LaunchCost cost;
};

/// The launches of a trunk in the order in which they run.
std::vector<ChosenLaunch> launches_of(std::span<const ConvLayer> layers, const TrunkChoice& choice,
                                      Mode mode, int items);

/// Multiplications and additions of one convolution for one item.
double conv_flops(const LayerShape& shape);

/// Masked pooling of a map for some masks, and the head: rows behind the convolutions.
LaunchCost pooling_cost(int channels, int frequency, int time, MapFormat format, int speakers,
                        int mask_frames, int items);
LaunchCost head_cost(int inputs, int outputs, int rows);

/// Row of the profile: floor = the larger of arithmetic and memory time.
LayerProfile profile_row(const std::string& layers, const std::string& kernel,
                         const LaunchCost& cost, double milliseconds, double flops_per_second,
                         double bytes_per_second);

/// The peak that a kernel's arithmetic is measured against.
double peak_flops(const DevicePeaks& peaks, KernelId kernel, Mode mode);

/// Rows for a whole trunk; milliseconds in the order of launches_of().
std::vector<LayerProfile> profile_rows(std::span<const ConvLayer> layers, const TrunkChoice& choice,
                                       Mode mode, int items, std::span<const double> milliseconds,
                                       const DevicePeaks& peaks);

/// Peaks of a device by its name; all zero (no floor) for a device that is not in the table.
DevicePeaks known_peaks(const DeviceFacts& device);

}  // namespace diarist::backend::cuda
