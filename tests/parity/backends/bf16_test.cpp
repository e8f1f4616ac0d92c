// `--precision fast` on a processor: bf16 products by every instruction that this machine has,
// against the double reference. Skipped where there is none.

#include <gtest/gtest.h>
#include <sndfile.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iostream>

#include "backend/cpu/bf16_weights.hpp"
#include "backend/cpu/cpu_backend.hpp"
#include "backend/reference/reference_backend.hpp"
#include "block_cases.hpp"
#include "diarist/error.hpp"
#include "model/bundle.hpp"
#include "model/networks.hpp"
#include "support/support.hpp"
#include "support/synthetic_weights.hpp"

namespace diarist::test {
namespace {

using backend::cpu::cpu_bf16_supported;
using backend::cpu::make_cpu_backend;

/// Of the largest output: operands have eight bits, so a sum of n products is off by about
/// sqrt(n) * 2^-9 of one product.
constexpr double kBound = 6e-3;

bool has_bf16_products(const model::Block& block) {
  if (const auto* conv = std::get_if<model::Conv1d>(&block)) return !conv->pool3 && !conv->norm;
  return std::holds_alternative<model::Conv2d>(block) ||
         std::holds_alternative<model::Dense>(block) ||
         std::holds_alternative<model::DenseTdnnBlock>(block);
}

std::vector<GraphCase> product_cases() {
  std::vector<GraphCase> found;
  for (GraphCase& test : block_cases()) {
    if (has_bf16_products(test.graph.nodes[0].block)) found.push_back(std::move(test));
  }
  return found;
}

float rounded(float value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(backend::cpu::to_bf16(value)) << 16);
}

base::TensorF rounded(const base::TensorF& tensor) {
  std::vector<float> values(tensor.values().begin(), tensor.values().end());
  for (float& x : values) x = rounded(x);
  return {tensor.shape(), values};
}

/// Cases whose operands are bf16 numbers already: only sums are rounded, as in FP32.
std::vector<GraphCase> rounded_cases() {
  std::vector<GraphCase> found;
  for (GraphCase& test : product_cases()) {
    model::Block& block = test.graph.nodes[0].block;
    if (auto* conv = std::get_if<model::Conv2d>(&block)) {
      conv->weight = rounded(conv->weight);
    } else if (auto* conv1d = std::get_if<model::Conv1d>(&block)) {
      conv1d->weight = rounded(conv1d->weight);
    } else if (auto* dense = std::get_if<model::Dense>(&block); dense && dense->pre_scale.empty()) {
      dense->weight = rounded(dense->weight);
    } else {
      continue;  // rounds inside
    }
    for (Item& item : test.items) {
      for (float& x : item.inputs[0]) x = rounded(x);
    }
    found.push_back(std::move(test));
  }
  return found;
}

class Bf16 : public testing::TestWithParam<std::string> {
 protected:
  static std::unique_ptr<backend::Backend> make_cpu(int threads) {
    return make_cpu_backend(threads,
                            backend::cpu::cpu_targets_supported().front() + "+" + GetParam());
  }

  static void expect_parity(const std::vector<GraphCase>& cases, double bound) {
    const auto reference = backend::reference::make_reference_backend(1);
    const auto cpu = make_cpu(2);
    for (const GraphCase& test : cases) {
      const Outputs wanted = run_graph(*reference, test);
      const Outputs got = run_graph(*cpu, test, Precision::kFast);
      double worst = 0;
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        worst = std::max(worst, relative_difference(got[i][0], wanted[i][0]));
        EXPECT_LE(worst, bound) << test.name << ", item " << i;
      }
      if (std::getenv("DIARIST_SHOW") != nullptr) {
        std::cout << GetParam() << "  " << test.name << ": " << worst << "\n";
      }
    }
  }
};

TEST_P(Bf16, EqualsTheReferenceOnRoundedOperands) {
  const std::vector<GraphCase> cases = rounded_cases();
  ASSERT_GE(cases.size(), 20U);
  expect_parity(cases, 1e-5);
}

TEST_P(Bf16, StaysNearTheReference) { expect_parity(product_cases(), kBound); }

TEST_P(Bf16, TheForcedInstructionRuns) {
  const auto cpu = make_cpu(1);
  for (const GraphCase& test : product_cases()) {
    backend::CompileOptions options{.max_items = 1, .max_length = 100};
    options.precision = Precision::kFast;
    const auto program = cpu->compile(test.graph, options);
    EXPECT_NE(program->choices()[0].kernel.find("bf16 " + GetParam()), std::string::npos)
        << test.name << ": " << program->choices()[0].kernel;
    options.precision = Precision::kExact;
    const auto exact = cpu->compile(test.graph, options);
    EXPECT_EQ(exact->choices()[0].kernel.find("bf16"), std::string::npos) << test.name;
  }
}

TEST_P(Bf16, BitsDependOnNothingButTheItem) {
  const auto one = make_cpu(1);
  const auto three = make_cpu(3);
  for (const GraphCase& test : product_cases()) {
    const Outputs wanted = run_graph(*one, test, Precision::kFast);
    EXPECT_EQ(run_graph(*three, test, Precision::kFast), wanted) << test.name << ", three threads";
    for (int i = static_cast<int>(test.items.size()) - 1; i >= 0; --i) {
      EXPECT_EQ(run_graph(*three, test, {i}, Precision::kFast)[0],
                wanted[static_cast<std::size_t>(i)])
          << test.name << ", item " << i << " alone";
    }
  }
}

double cosine(const Numbers& a, const Numbers& b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += static_cast<double>(a[i]) * b[i];
    aa += static_cast<double>(a[i]) * a[i];
    bb += static_cast<double>(b[i]) * b[i];
  }
  return ab / std::sqrt(aa * bb);
}

void expect_cosines(const std::string& what, const Outputs& got, const Outputs& wanted,
                    std::size_t dim) {
  double worst = 1;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(wanted[i][0].size() % dim, 0U);
    for (std::size_t at = 0; at < wanted[i][0].size(); at += dim) {
      const auto part = [at, dim](const Numbers& all) {
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(at);
        return Numbers(first, first + static_cast<std::ptrdiff_t>(dim));
      };
      worst = std::min(worst, cosine(part(got[i][0]), part(wanted[i][0])));
    }
  }
  std::printf("[          ] %s: worst cosine 1 - %.1e\n", what.c_str(), 1 - worst);
  EXPECT_GE(worst, 0.9999) << what;  // options.hpp
}

TEST_P(Bf16, EmbeddingsOfResnet34) {
  constexpr int kRows = 200;
  GraphCase test;
  test.graph = model::resnet34_network(synthetic_weights("wespeaker-resnet34"), kRows);
  Random random(7);
  for (int i = 0; i < 3; ++i) {
    Numbers masks(3 * 589);
    for (std::size_t m = 0; m < masks.size(); ++m) {
      masks[m] = m % 589 > 100 * (m / 589) && random.next() > -0.5 ? 1.0F : 0.0F;
    }
    test.items.push_back({{random.numbers(kRows * 80, 4.0), masks}, 0});
  }
  const auto reference = backend::reference::make_reference_backend(0);
  static const Outputs kWanted = run_graph(*reference, test);
  expect_cosines("resnet34, " + GetParam(), run_graph(*make_cpu(2), test, Precision::kFast),
                 kWanted, 256);
}

/// Samples of a recording at 16 kHz; empty where it is missing.
Numbers speech(const std::filesystem::path& file) {
  SF_INFO info{};
  SNDFILE* sound = sf_open(file.string().c_str(), SFM_READ, &info);
  if (sound == nullptr) return {};
  Numbers all(static_cast<std::size_t>(info.frames * info.channels));
  sf_readf_float(sound, all.data(), info.frames);
  sf_close(sound);
  return all;
}

/// The published weights of CAM++ on pieces of three captured recordings, one after the other.
TEST_P(Bf16, EmbeddingsOfCampplusOnSpeech) {
  DIARIST_NEED(models_folder() / "open" / "manifest.json");
  const auto exact = make_cpu(2);
  GraphCase test;
  test.graph =
      model::campplus_network(model::load_bundle(models_folder(), "open", false).embedding);
  test.shared = {{}, {}};
  for (const char* clip : {"02", "04", "05"}) {
    const std::filesystem::path file =
        shared_folder() / "data" / "captures" / clip / "clip_16k.wav";
    DIARIST_NEED(file);
    const Numbers all = speech(file);
    for (const auto& [start, seconds] :
         {std::pair{11, 3.0}, {16, 1.5}, {22, 6.0}, {5, 0.8}, {26, 4.0}}) {
      GraphCase features;
      features.graph = model::campplus_features();
      const auto first = all.begin() + start * 16000;
      const Numbers samples(first, first + static_cast<std::ptrdiff_t>(16000 * seconds));
      features.items.push_back({{samples}, static_cast<std::int64_t>(samples.size())});
      const Numbers rows = run_graph(*exact, features)[0][0];
      Item item;
      item.length = static_cast<std::int64_t>(rows.size() / 80);
      item.inputs = {{}, {}};
      for (std::int64_t t = 0; t < item.length; ++t) {
        item.inputs[1].push_back(static_cast<float>(test.shared[0].size() / 80) +
                                 static_cast<float>(t));
      }
      test.shared[0].insert(test.shared[0].end(), rows.begin(), rows.end());
      test.items.push_back(std::move(item));
    }
  }
  const Outputs wanted = run_graph(*exact, test);
  expect_cosines("campplus, " + GetParam(), run_graph(*make_cpu(2), test, Precision::kFast), wanted,
                 192);
}

/// The convolutions of maps in front of the dense blocks keep nearly FP32's accuracy: split into
/// two parts where that pays, FP32 elsewhere.
TEST_P(Bf16, MapsOfCampplusAreExactToSixteenBits) {
  GraphCase test;
  test.graph =
      model::campplus_network(synthetic_weights("campplus")).with_outputs({"head", "tdnn"});
  Random random(12);
  test.shared = {random.numbers(90 * 80, 4.0), {}};
  Item item;
  item.length = 90;
  item.inputs = {{}, {}};
  for (int t = 0; t < 90; ++t) item.inputs[1].push_back(static_cast<float>(t));
  test.items.push_back(item);
  const auto reference = backend::reference::make_reference_backend(0);
  static const Outputs kWanted = run_graph(*reference, test);
  const Outputs got = run_graph(*make_cpu(2), test, Precision::kFast);
  EXPECT_LE(relative_difference(got[0][0], kWanted[0][0]), 5e-5);
  EXPECT_LE(relative_difference(got[0][1], kWanted[0][1]), 5e-5);
}

/// Random rows and weights, for machines without data.
TEST_P(Bf16, EmbeddingsOfCampplus) {
  GraphCase test;
  test.graph = model::campplus_network(synthetic_weights("campplus"));
  Random random(8);
  test.shared = {random.numbers(300 * 80, 4.0), {}};
  for (const std::int64_t length : {120, 300, 31, 231}) {
    Item item;
    item.length = length;
    item.inputs = {{}, {}};
    for (std::int64_t t = 0; t < length; ++t) {
      item.inputs[1].push_back(static_cast<float>(random.below(300)));
    }
    test.items.push_back(std::move(item));
  }
  const auto reference = backend::reference::make_reference_backend(0);
  static const Outputs kWanted = run_graph(*reference, test);
  expect_cosines("campplus, random, " + GetParam(), run_graph(*make_cpu(2), test, Precision::kFast),
                 kWanted, 192);
}

INSTANTIATE_TEST_SUITE_P(Instructions, Bf16, testing::ValuesIn(cpu_bf16_supported()),
                         [](const auto& each) { return each.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Bf16);

/// What the error of an attempt says.
std::string error_of(const std::string& target, ErrorCode code) {
  try {
    const auto cpu = make_cpu_backend(1, target);
    cpu->compile(product_cases()[0].graph,
                 {.max_items = 1, .max_length = 20, .precision = Precision::kFast});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << target << ": no error";
  return "";
}

TEST(Bf16Targets, WithoutTheInstructionFastIsRefused) {
  const std::vector<std::string> sets = backend::cpu::cpu_targets_supported();
  for (const std::string& set : sets) {
    if (set == sets.front() && !cpu_bf16_supported().empty()) continue;
    const std::string text = error_of(set, ErrorCode::kUnsupported);
    EXPECT_NE(text.find("--precision exact"), std::string::npos) << text;
    if (!cpu_bf16_supported().empty()) {
      EXPECT_NE(text.find(set), std::string::npos) << text;
      EXPECT_NE(text.find(cpu_bf16_supported().front()), std::string::npos) << text;
    }
  }
  EXPECT_NE(error_of(sets.front() + "+BF16", ErrorCode::kInvalidArgument).find("BF16"),
            std::string::npos);
  if (sets.size() > 1) {
    error_of(sets.back() + "+AVX512_BF16", ErrorCode::kUnsupported);
  }
}

TEST(Bf16Weights, AreRoundedToNearestEven) {
  EXPECT_EQ(backend::cpu::to_bf16(1.0F), 0x3F80);
  EXPECT_EQ(backend::cpu::to_bf16(-2.5F), 0xC020);
  EXPECT_EQ(backend::cpu::to_bf16(1.00390625F), 0x3F80);  // half way: even
  EXPECT_EQ(backend::cpu::to_bf16(1.01171875F), 0x3F82);  // half way: even
  EXPECT_EQ(backend::cpu::to_bf16(1.00390637F), 0x3F81);  // above
  EXPECT_EQ(backend::cpu::to_bf16(0.0F), 0x0000);
}

}  // namespace
}  // namespace diarist::test
