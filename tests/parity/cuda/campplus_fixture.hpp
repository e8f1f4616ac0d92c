#pragma once
// What the GPU tests of CAM++ share: weights, items of many lengths, a backend of this program
// only.

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../backends/graph_runner.hpp"
#include "backend/cuda/campplus/campplus_program.hpp"
#include "backend/reference/reference_backend.hpp"
#include "gpu_needed.hpp"
#include "model/networks.hpp"
#include "program_backend.hpp"
#include "support/synthetic_weights.hpp"

namespace diarist::test {

/// Products of split halves lose nothing that matters, but tensor cores cut off the last bits of
/// their sums instead of rounding them: relative to the largest number of a value.
inline constexpr double kExactDifference = 3e-5;

inline const model::Weights& campplus_weights() {
  static const model::Weights made = synthetic_weights("campplus");
  return made;
}

/// Compiles nothing but CAM++.
class CampplusBackend final : public ProgramBackend {
 public:
  explicit CampplusBackend(Precision precision,
                           backend::cuda::campplus::MakeProgram without_halves = nullptr)
      : ProgramBackend("CAM++"),
        precision_(precision),
        without_halves_(std::move(without_halves)) {}
  std::unique_ptr<backend::Program> compile(const model::Graph& graph,
                                            const backend::CompileOptions& options) override {
    return make(graph, options);
  }
  std::unique_ptr<backend::cuda::campplus::CampplusProgram> make(const model::Graph& graph,
                                                                 backend::CompileOptions options) {
    options.precision = precision_;
    return std::make_unique<backend::cuda::campplus::CampplusProgram>(0, graph, options,
                                                                      without_halves_);
  }

 private:
  Precision precision_;
  backend::cuda::campplus::MakeProgram without_halves_;
};

/// Items that gather rows out of 1500, neighbours for the most part, as masks make them.
inline GraphCase gathered_case(model::Graph graph, const std::vector<int>& lengths) {
  constexpr std::int64_t kRows = 1500;
  GraphCase test;
  test.name = graph.name;
  test.graph = std::move(graph);
  Random random(5);
  Numbers features = random.numbers(kRows * 80, 4.0);
  for (std::size_t i = 0; i < features.size(); ++i)
    features[i] += 0.1F * static_cast<float>(i % 80) - 9.0F;
  test.shared = {features, {}};
  for (const int length : lengths) {
    Numbers indices;
    std::int64_t row = random.below(400);
    for (int i = 0; i < length; ++i) {
      indices.push_back(static_cast<float>(row % kRows));
      row += random.below(10) == 0 ? 2 : 1;
    }
    test.items.push_back({{{}, indices}, length});
  }
  return test;
}

inline double cosine(const Numbers& a, const Numbers& b) {
  double dot = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    dot += double{a[i]} * double{b[i]};
    aa += double{a[i]} * double{a[i]};
    bb += double{b[i]} * double{b[i]};
  }
  return dot / std::sqrt(aa * bb);
}

}  // namespace diarist::test
