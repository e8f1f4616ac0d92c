// Statistics over time and the last layer behind them.

#include <algorithm>
#include <cmath>

#include "backend/reference/layers.hpp"

namespace diarist::backend::reference {
namespace {

/// weight [D, S] times statistics [S], plus bias.
void apply_head(const model::TensorF& weight, const model::TensorF& bias,
                const std::vector<double>& statistics, double* out) {
  const std::int64_t size = weight.dim(1);
  for (std::int64_t d = 0; d < weight.dim(0); ++d) {
    const float* w = weight.data() + d * size;
    double sum = 0;
    for (std::int64_t i = 0; i < size; ++i) sum += w[i] * statistics[i];
    out[d] = sum + bias.values()[d];
  }
}

}  // namespace

void run_masked_stats_head(const model::MaskedStatsHead& block, const Array& map,
                           const Array& masks, Array& out) {
  const std::int64_t sequences = map.dim(0) * map.dim(1);
  const std::int64_t frames = map.dim(2);
  const std::int64_t mask_frames = masks.dim(1);
  std::vector<double> weights(frames);
  std::vector<double> statistics(2 * sequences);
  for (std::int64_t s = 0; s < masks.dim(0); ++s) {
    // The denominators are part of the model's definition in f32: there the 1e-8 vanishes behind
    // any set frame, which is what makes the deviation of a single frame exactly zero.
    float sum = 0;
    float squares = 0;
    for (std::int64_t j = 0; j < frames; ++j) {
      weights[j] = *masks.at(s * mask_frames + j * mask_frames / frames);
      const float w = static_cast<float>(weights[j]);
      sum += w;
      squares += w * w;
    }
    const float v1 = sum + 1e-8F;
    const float v2 = (v1 - squares / v1) + 1e-8F;
    for (std::int64_t r = 0; r < sequences; ++r) {
      const double* x = map.at(r * frames);
      double mean = 0;
      for (std::int64_t j = 0; j < frames; ++j) mean += weights[j] * x[j];
      mean /= v1;
      double variance = 0;
      for (std::int64_t j = 0; j < frames; ++j) {
        variance += weights[j] * (x[j] - mean) * (x[j] - mean);
      }
      statistics[r] = mean;
      statistics[sequences + r] = std::sqrt(variance / v2);
    }
    if (block.weight.empty()) {
      std::copy(statistics.begin(), statistics.end(), out.at(s * 2 * sequences));
    } else {
      apply_head(block.weight, block.bias, statistics, out.at(s * block.weight.dim(0)));
    }
  }
}

void run_stats_head(const model::StatsHead& block, const Array& rows, Array& out) {
  const std::int64_t frames = rows.dim(0);
  const std::int64_t columns = rows.dim(1);
  std::vector<double> statistics(2 * columns);
  for (std::int64_t c = 0; c < columns; ++c) {
    double mean = 0;
    for (std::int64_t t = 0; t < frames; ++t) mean += *rows.at(t * columns + c);
    mean /= static_cast<double>(frames);
    double sum = 0;
    for (std::int64_t t = 0; t < frames; ++t) {
      const double d = *rows.at(t * columns + c) - mean;
      sum += d * d;
    }
    statistics[c] = mean;
    statistics[columns + c] = frames == 1 ? 0.01 : std::sqrt(sum / static_cast<double>(frames - 1));
  }
  apply_head(block.weight, block.bias, statistics, out.at(0));
}

}  // namespace diarist::backend::reference
