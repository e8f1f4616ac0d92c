#pragma once
// A backend that knows nothing but the segmentation network, and recordings whose windows overlap.

#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "../backends/graph_runner.hpp"
#include "backend/cuda/segmentation/segmentation_program.hpp"
#include "gpu_needed.hpp"
#include "model/networks.hpp"
#include "program_backend.hpp"
#include "support/synthetic_weights.hpp"

namespace diarist::test {

inline const model::Graph& segmentation_graph() {
  static const model::Graph made = model::segmentation_network(synthetic_weights("pyannet"));
  return made;
}

class SegmentationBackend final : public ProgramBackend {
 public:
  SegmentationBackend() : ProgramBackend("segmentation") {}
  std::unique_ptr<backend::Program> compile(const model::Graph& graph,
                                            const backend::CompileOptions& options) override {
    return std::make_unique<backend::cuda::SegmentationProgram>(0, graph, options);
  }
};

/// Bursts of tones over noise, with pauses.
inline Numbers voices(std::int64_t count, std::uint64_t seed) {
  Random random(seed);
  Numbers samples(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double t = static_cast<double>(i) / 16000.0 + static_cast<double>(seed);
    double x = 0.01 * random.next();
    for (int voice = 0; voice < 3; ++voice) {
      if (std::sin(t * (1.1 + 0.7 * voice) + voice) < 0.3) continue;
      const double pitch = 2 * std::numbers::pi * (110 + 60 * voice);
      for (int k = 1; k <= 8; ++k) x += 0.1 / k * std::sin(k * pitch * t + 0.3 * std::sin(7 * t));
    }
    samples[i] = static_cast<float>(x);
  }
  return samples;
}

/// A recording on the device: samples, and made-up raw rows for each of its windows.
class Recording {
 public:
  static constexpr std::int64_t kSamples = 160000, kRaw = std::int64_t{15975} * 80;
  static constexpr std::int64_t kStep = 16000, kRawStep = std::int64_t{1600} * 80;

  explicit Recording(int windows)
      : samples_(0, static_cast<std::size_t>(kSamples + (windows - 1) * kStep) * 4),
        raw_(0, static_cast<std::size_t>(kRaw + (windows - 1) * kRawStep) * 4) {
    backend::cuda::CudaQueue queue(0);
    const Numbers samples = voices(kSamples + (windows - 1) * kStep, 3);
    queue.upload(samples_, 0, std::as_bytes(std::span(samples)));
    Numbers raw = Random(4).numbers(kRaw + (windows - 1) * kRawStep, 0.3);
    // Loud and quiet seconds, so that windows differ.
    for (std::size_t i = 0; i < raw.size(); ++i)
      raw[i] *= 0.05F + static_cast<float>(static_cast<std::int64_t>(i) / kRawStep * 7 % 11);
    queue.upload(raw_, 0, std::as_bytes(std::span(raw)));
    queue.wait();
  }
  /// Inputs for windows that lie one after the other from `first` on, or at `positions`.
  std::vector<backend::View> inputs(int first, std::span<const std::int32_t> positions = {}) {
    backend::View samples{&samples_, first * kStep, kStep, 0},
        raw{&raw_, first * kRawStep, kRawStep, 0};
    samples.positions = raw.positions = positions;
    return {samples, raw};
  }

 private:
  backend::cuda::CudaBuffer samples_, raw_;
};

}  // namespace diarist::test
