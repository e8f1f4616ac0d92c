#pragma once
// Signals that are hard on front ends, and a backend that knows nothing but the front ends.

#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "../backends/graph_runner.hpp"
#include "backend/cuda/front/log_mel_front_end.hpp"
#include "backend/cuda/front/sinc_front_end.hpp"
#include "gpu_needed.hpp"
#include "model/networks.hpp"
#include "program_backend.hpp"
#include "support/synthetic_weights.hpp"

namespace diarist::test {

inline const model::Weights& pyannet_weights() {
  static const model::Weights made = synthetic_weights("pyannet");
  return made;
}

/// Voiced bursts of a wandering pitch, hiss, and pauses in which hardly anything is left.
inline Numbers speech_like(std::int64_t count, std::uint64_t seed) {
  Random random(seed);
  Numbers samples(static_cast<std::size_t>(count));
  double phase = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double t = static_cast<double>(i) / 16000.0 + static_cast<double>(seed % 7);
    phase += 2 * std::numbers::pi * (140 + 40 * std::sin(1.3 * t)) / 16000.0;
    const double voiced = std::sin(5 * t) > 0 ? 1.0 : 0.02;
    double x = 0.02 * random.next() * (1 + std::sin(3 * t));
    for (int k = 1; k <= 12; ++k) x += 0.12 / k * voiced * std::sin(k * phase + k * k);
    samples[i] = static_cast<float>(std::fmod(t, 2.0) < 1.6 ? x : 0.001 * x);
  }
  return samples;
}

inline Numbers mapped(Numbers samples, double gain, double offset) {
  for (float& x : samples) x = static_cast<float>(gain * static_cast<double>(x) + offset);
  return samples;
}

/// Runs a test with the kernels made for the device, and with those that any device has.
class FrontKernelsTest : public testing::TestWithParam<backend::cuda::FrontKernels> {};
inline auto both_kernels() {
  return testing::Values(backend::cuda::FrontKernels::kBest,
                         backend::cuda::FrontKernels::kPortable);
}
inline std::string kernels_name(const testing::TestParamInfo<backend::cuda::FrontKernels>& info) {
  return info.param == backend::cuda::FrontKernels::kBest ? "Best" : "Portable";
}

struct Signal {
  std::string name;
  Numbers samples;
};

inline std::vector<Signal> signals(std::int64_t count) {
  const auto n = static_cast<std::size_t>(count);
  Random random(5);
  std::vector<Signal> made;
  made.push_back({"speech", speech_like(count, 1)});
  made.push_back({"silence", Numbers(n, 0.0F)});
  made.push_back({"constant", Numbers(n, 0.25F)});
  made.push_back({"quiet with an offset", mapped(random.numbers(count), 1e-4, 0.1)});
  made.push_back({"loud", mapped(speech_like(count, 2), 60, 0)});
  made.push_back({"range of 16-bit integers", mapped(speech_like(count, 3), 32768, 0)});
  made.push_back({"noise", random.numbers(count, 0.05)});
  Numbers late(n, 0.0F);
  for (std::size_t i = n / 2; i < n; ++i) late[i] = static_cast<float>(1e-3 * random.next());
  made.push_back({"half silent", std::move(late)});
  return made;
}

/// Compiles the graphs of the front ends.
class FrontBackend final : public ProgramBackend {
 public:
  explicit FrontBackend(backend::cuda::FrontKernels kernels = backend::cuda::FrontKernels::kBest)
      : ProgramBackend("front ends"), kernels_(kernels) {}
  std::unique_ptr<backend::Program> compile(const model::Graph& graph,
                                            const backend::CompileOptions& options) override {
    if (backend::cuda::SincFrontEnd::serves(graph))
      return std::make_unique<backend::cuda::SincFrontEnd>(0, graph, options, kernels_);
    return std::make_unique<backend::cuda::LogMelFrontEnd>(0, graph, options);
  }

 private:
  backend::cuda::FrontKernels kernels_;
};

/// Largest difference and root mean square of all.
struct Errors {
  double largest = 0, rms = 0;
};
inline Errors errors_of(const Numbers& got, const Numbers& wanted) {
  Errors errors;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double d = std::abs(static_cast<double>(got[i]) - static_cast<double>(wanted[i]));
    errors.largest = d > errors.largest || std::isnan(d) ? d : errors.largest;
    errors.rms += d * d / static_cast<double>(wanted.size());
  }
  errors.rms = std::sqrt(errors.rms);
  return errors;
}

}  // namespace diarist::test
