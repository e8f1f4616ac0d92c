#include "backend/cuda/choice/profile.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace diarist::backend::cuda {
namespace {

double bytes_per_value(MapFormat format) {
  switch (format) {
    case MapFormat::kHalf:
      return 2;
    case MapFormat::kSplit:
    case MapFormat::kFloat:
      return 4;
    default:
      return 0;
  }
}

bool splits(KernelId kernel, Mode mode) {
  return mode == Mode::kExact && kernel != KernelId::kConvFfma && kernel != KernelId::kStemFfma &&
         kernel != KernelId::kLibrary;
}

// Work of one launch while its layers are gathered.
class Sum {
 public:
  Sum(std::span<const ConvLayer> layers, const TrunkChoice& choice, Mode mode, int items)
      : layers_(layers), choice_(choice), mode_(mode), items_(items) {}

  LaunchCost of(const std::vector<int>& members) {
    LaunchCost cost;
    std::vector<int> read;
    for (const int index : members) {
      const ConvLayer& layer = layers_[static_cast<std::size_t>(index)];
      const LayerShape& s = layer.shape;
      cost.flops += conv_flops(s) * items_;
      if (splits(choice_.layers[static_cast<std::size_t>(index)].kernel, mode_)) cost.products = 3;
      const double weights = static_cast<double>(s.cin) * s.cout * s.taps;
      cost.bytes += weights * (mode_ == Mode::kFast ? 2 : 4) + s.cout * 4.0;
      // A 1x1 kernel reads only the pixels that its strides leave.
      const bool point = s.taps == 1;
      const double in = static_cast<double>(s.cin) * items_ *
                        (point ? s.out_frequency() : s.frequency) * (point ? s.out_time() : s.time);
      const double out = static_cast<double>(s.cout) * s.out_frequency() * s.out_time() * items_;
      cost.bytes += out * map_bytes(layer.output);
      // A map that several layers of the launch read comes in once.
      if (first_reader(layer.input, read))
        cost.bytes += in * (s.stem() ? 4.0 : map_bytes(layer.input));
      if (layer.residual >= 0 && first_reader(layer.residual, read))
        cost.bytes += out * map_bytes(layer.residual);
    }
    return cost;
  }

 private:
  static bool first_reader(int value, std::vector<int>& read) {
    if (std::find(read.begin(), read.end(), value) != read.end()) return false;
    read.push_back(value);
    return true;
  }

  double map_bytes(int value) const {
    if (value < 0 || static_cast<std::size_t>(value) >= choice_.maps.size()) return 0;
    return bytes_per_value(choice_.maps[static_cast<std::size_t>(value)]);
  }

  std::span<const ConvLayer> layers_;
  const TrunkChoice& choice_;
  Mode mode_;
  int items_;
};

struct KnownPeaks {
  const char* name;           // that the device's name contains
  double half, single, tf32;  // TFLOP/s, dense, FP32 sums
  double gigabytes;           // per second
};

// From the vendor's data sheets. Consumer cards make FP16 products with FP32 sums at half the rate
// of those with FP16 sums. H200: measured ceilings of cuBLAS and of a copy, which a kernel can
// reach.
constexpr KnownPeaks kKnownPeaks[] = {
    {"H200", 764, 67, 495, 4220},        {"H100 80GB HBM3", 989, 67, 495, 3350},
    {"A100", 312, 19.5, 156, 2039},      {"RTX 3090", 71, 35.6, 35.6, 936},
    {"RTX 4090", 165, 82.6, 82.6, 1008}, {"L4", 121, 30.3, 60, 300},
    {"T4", 65, 8.1, 8.1, 320},           {"RTX 5090", 210, 105, 105, 1792},
};

}  // namespace

double conv_flops(const LayerShape& s) {
  return 2.0 * s.cin * s.cout * s.taps * s.out_frequency() * s.out_time();
}

std::vector<ChosenLaunch> launches_of(std::span<const ConvLayer> layers, const TrunkChoice& choice,
                                      Mode mode, int items) {
  std::vector<ChosenLaunch> launches;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (choice.layers[i].launched_by != static_cast<int>(i)) continue;
    ChosenLaunch launch;
    launch.leader = static_cast<int>(i);
    for (std::size_t m = 0; m < layers.size(); ++m)
      if (choice.layers[m].launched_by == launch.leader)
        launch.layers.push_back(static_cast<int>(m));
    launch.cost = Sum(layers, choice, mode, items).of(launch.layers);
    launches.push_back(std::move(launch));
  }
  return launches;
}

LaunchCost pooling_cost(int channels, int frequency, int time, MapFormat format, int speakers,
                        int mask_frames, int items) {
  const double values = static_cast<double>(channels) * frequency * time * items;
  LaunchCost cost;
  // Per mask: a weighted sum, then a weighted sum of squared differences.
  cost.flops = values * speakers * 5;
  cost.bytes = values * bytes_per_value(format) + 4.0 * speakers * mask_frames * items +
               8.0 * speakers * channels * frequency * items;
  return cost;
}

LaunchCost head_cost(int inputs, int outputs, int rows) {
  LaunchCost cost;
  cost.flops = 2.0 * inputs * outputs * rows;
  cost.bytes = 4.0 * (static_cast<double>(inputs) * outputs + outputs +
                      static_cast<double>(rows) * (inputs + outputs));
  return cost;
}

LayerProfile profile_row(const std::string& layers, const std::string& kernel,
                         const LaunchCost& cost, double milliseconds, double flops_per_second,
                         double bytes_per_second) {
  LayerProfile row;
  row.layers = layers;
  row.kernel = kernel;
  row.milliseconds = milliseconds;
  row.flops = cost.flops;
  row.bytes = cost.bytes;
  const double arithmetic =
      flops_per_second > 0 ? cost.flops * cost.products / flops_per_second * 1e3 : 0;
  const double memory = bytes_per_second > 0 ? cost.bytes / bytes_per_second * 1e3 : 0;
  row.floor_ms = std::max(arithmetic, memory);
  row.memory_bound = memory > arithmetic;
  return row;
}

double peak_flops(const DevicePeaks& peaks, KernelId kernel, Mode mode) {
  if (kernel == KernelId::kConvFfma || kernel == KernelId::kStemFfma) return peaks.float_flops;
  if (kernel == KernelId::kLibrary && mode == Mode::kTf32) return peaks.tf32_flops;
  if (kernel == KernelId::kLibrary && mode == Mode::kExact) return peaks.float_flops;
  return peaks.half_flops;
}

std::vector<LayerProfile> profile_rows(std::span<const ConvLayer> layers, const TrunkChoice& choice,
                                       Mode mode, int items, std::span<const double> milliseconds,
                                       const DevicePeaks& peaks) {
  const std::vector<ChosenLaunch> launches = launches_of(layers, choice, mode, items);
  if (launches.size() != milliseconds.size())
    base::fail(ErrorCode::kInternal, "profile: {} times for {} launches", milliseconds.size(),
               launches.size());
  std::vector<LayerProfile> rows;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    std::string names;
    for (const int index : launches[i].layers)
      names += (names.empty() ? "" : " + ") + layers[static_cast<std::size_t>(index)].name;
    const LayerChoice& leader = choice.layers[static_cast<std::size_t>(launches[i].leader)];
    rows.push_back(profile_row(names, leader.name, launches[i].cost, milliseconds[i],
                               peak_flops(peaks, leader.kernel, mode), peaks.bytes));
  }
  return rows;
}

DevicePeaks known_peaks(const DeviceFacts& device) {
  for (const KnownPeaks& row : kKnownPeaks) {
    const std::size_t at = device.name.find(row.name);
    if (at == std::string::npos) continue;
    const std::size_t end = at + std::string(row.name).size();
    if (end < device.name.size() && device.name[end] != ' ' && device.name[end] != '-') continue;
    return {row.half * 1e12, row.single * 1e12, row.tf32 * 1e12, row.gigabytes * 1e9};
  }
  return {};
}

}  // namespace diarist::backend::cuda
