// The measurements behind `diarist bench embed`, on the CPU: what they report and what they refuse.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "backend/registry.hpp"
#include "diarist/error.hpp"
#include "diarist/tuning.hpp"
#include "pipeline/bench_batch.hpp"
#include "pipeline/random_resnet.hpp"
#include "support/support.hpp"

namespace diarist {
namespace {

void expect_error(ErrorCode code, const std::string& words, const BenchOptions& options,
                  void (*call)(const BenchOptions&)) {
  try {
    call(options);
    ADD_FAILURE() << "nothing was thrown, expected: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

void call_bench(const BenchOptions& options) { bench_embed(options); }
void call_profile(const BenchOptions& options) { profile_embed(options); }
void call_algorithms(const BenchOptions& options) { embed_algorithms(options); }
void call_fusion(const BenchOptions& options) { embed_fusion(options); }
void call_tune(const BenchOptions& options) { tune_embed(options, "never-written.tune"); }
void call_check(const BenchOptions& options) { check_tune_file(options, "none.tune"); }

TEST(EmbedBench, ReportsTheCpu) {
  BenchOptions options;
  options.batches = {2};
  options.seconds = 0;
  options.check = false;
  const BenchReport report = bench_embed(options);
  EXPECT_EQ(report.device, "cpu");
  EXPECT_EQ(report.weights, "random (He)");
  ASSERT_EQ(report.rows.size(), 1U);
  const BenchRow& row = report.rows[0];
  EXPECT_EQ(row.batch, 2);
  EXPECT_EQ(row.precision, Precision::kExact);
  EXPECT_FALSE(row.records);
  EXPECT_GT(row.compute.median_ms, 1);
  EXPECT_LE(row.compute.min_ms, row.compute.median_ms);
  EXPECT_GT(row.chunks_per_second, 0);
  EXPECT_NEAR(row.chunks_per_second * row.seconds, 2, 1e-6);  // one run of two chunks
  EXPECT_EQ(row.buffer_bytes, std::size_t{2} * 4 * (998 * 80 + 3 * 589 + 3 * 256));
  EXPECT_GT(row.workspace_bytes, 0U);
  EXPECT_GT(row.plans, 0);
  EXPECT_FALSE(row.checked);
}

TEST(EmbedBench, WishesThatCannotBeMetAreErrors) {
  BenchOptions options;
  options.check = false;
  options.batches = {0};
  expect_error(ErrorCode::kInvalidArgument, "batch 0", options, call_bench);
  options.batches = {1};
  options.seconds = -1;
  expect_error(ErrorCode::kInvalidArgument, "-1 seconds", options, call_bench);
  options.seconds = std::numeric_limits<double>::quiet_NaN();
  expect_error(ErrorCode::kInvalidArgument, "seconds", options, call_bench);
  options.seconds = 0;
  options.family = KernelFamily::kPortable;
  expect_error(ErrorCode::kUnsupported, "no kernel family portable", options, call_bench);
  options.family = KernelFamily::kAny;
  options.tune_file = "some.tune";
  expect_error(ErrorCode::kInvalidArgument, "some.tune", options, call_bench);
  options.tune_file.clear();
  options.precisions = {Precision::kTf32};
  expect_error(ErrorCode::kUnsupported, "TF32", options, call_bench);
  options.weights = "/nowhere/weights.safetensors";
  expect_error(ErrorCode::kBadModel, "weights.safetensors", options, call_bench);
}

TEST(EmbedBench, TheCpuHasNoProfileAndNothingToTune) {
  const BenchOptions options{.batches = {1}, .seconds = 0};
  expect_error(ErrorCode::kUnsupported, "profile", options, call_profile);
  expect_error(ErrorCode::kUnsupported, "algorithms", options, call_algorithms);
  expect_error(ErrorCode::kUnsupported, "fused", options, call_fusion);
  expect_error(ErrorCode::kUnsupported, "tuning", options, call_tune);
  expect_error(ErrorCode::kUnsupported, "tune files", options, call_check);
  EXPECT_FALSE(std::filesystem::exists("never-written.tune"));
}

TEST(EmbedBench, StopsOnRequest) {
  std::stop_source stop;
  stop.request_stop();
  RunControl control;
  control.stop = stop.get_token();
  try {
    bench_embed({.batches = {1}, .seconds = 0, .check = false}, control);
    ADD_FAILURE() << "ran to the end";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled);
  }
}

// Random weights must neither die out nor leave the range of a half, in any of the maps.
TEST(EmbedBench, RandomWeightsKeepTheMapsInRange) {
  const model::Graph graph = model::resnet34_taps(pipeline::random_resnet34());
  const auto backend = backend::make_backend({.device = "cpu"});
  const auto program = backend->compile(graph, {.max_items = 1});
  const auto queue = backend->make_queue();
  const std::vector<float> features = pipeline::random_features(0);
  const std::vector<float> masks = pipeline::example_masks(0);
  const auto buffer_of = [&](std::span<const float> values) {
    auto buffer = backend->allocate(values.size_bytes());
    queue->upload(*buffer, 0, std::as_bytes(values));
    return buffer;
  };
  const auto rows = buffer_of(features), weights = buffer_of(masks);
  backend::Run run;
  run.items = 1;
  run.inputs = {{rows.get(), 0, 998 * 80, 0}, {weights.get(), 0, 3 * 589, 0}};
  std::vector<std::unique_ptr<backend::Buffer>> outputs;
  std::vector<std::int64_t> sizes;
  for (const model::ValueId id : graph.outputs) {
    const model::Value& value = graph.values[static_cast<std::size_t>(id)];
    sizes.push_back(base::element_count(value.shape));
    outputs.push_back(backend->allocate(static_cast<std::size_t>(sizes.back()) * sizeof(float)));
    run.outputs.push_back({outputs.back().get(), 0, sizes.back(), 0});
  }
  program->run(*queue, run);
  queue->wait();
  ASSERT_EQ(outputs.size(), 38U);
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const auto* values = static_cast<const float*>(outputs[o]->host());
    double largest = 0, squares = 0;
    for (std::int64_t i = 0; i < sizes[o]; ++i) {
      ASSERT_TRUE(std::isfinite(values[i]));
      largest = std::max(largest, std::abs(static_cast<double>(values[i])));
      squares += static_cast<double>(values[i]) * values[i];
    }
    const double root = std::sqrt(squares / static_cast<double>(sizes[o]));
    EXPECT_LT(largest, 65504.0 / 16) << "output " << o;
    EXPECT_GT(root, 0.05) << "output " << o;
  }
}

TEST(EmbedBench, RandomNumbersAreAlwaysTheSame) {
  const model::Weights once = pipeline::random_resnet34(), again = pipeline::random_resnet34();
  EXPECT_EQ(once.size(), 36U * 2 + 2);
  for (const auto& [name, tensor] : once) {
    const auto other = again.at(name).values();
    EXPECT_TRUE(std::equal(tensor.values().begin(), tensor.values().end(), other.begin())) << name;
  }
  EXPECT_EQ(pipeline::random_features(1), pipeline::random_features(1));
  EXPECT_NE(pipeline::random_features(0), pipeline::random_features(1));
  EXPECT_NE(pipeline::example_masks(0), pipeline::example_masks(1));
}

TEST(EmbedBench, WorstCosineSeesOneBadRow) {
  std::vector<float> a(512), b(512);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = b[i] = static_cast<float>(i % 7) - 2.5F;
  EXPECT_NEAR(pipeline::worst_cosine(a, b), 1, 1e-12);
  for (std::size_t i = 256; i < 512; ++i) b[i] = -a[i];
  EXPECT_NEAR(pipeline::worst_cosine(a, b), -1, 1e-12);
  b[30] = std::numeric_limits<float>::quiet_NaN();  // a good row behind it doesn't hide it
  EXPECT_TRUE(std::isnan(pipeline::worst_cosine(a, b)));
  EXPECT_TRUE(std::isnan(pipeline::worse(std::nan(""), 1)));
  EXPECT_EQ(pipeline::worse(0.5, 1), 0.5);
}

TEST(EmbedBench, ProfileSumsAndRates) {
  LayerProfile row;
  row.milliseconds = 2;
  row.flops = 4e12;
  row.bytes = 1e9;
  row.floor_ms = 1;
  ProfileReport report;
  report.rows = {row, row};
  EXPECT_DOUBLE_EQ(report.total_ms(), 4);
  EXPECT_DOUBLE_EQ(report.floor_ms(), 2);
  EXPECT_DOUBLE_EQ(row.share(report.total_ms()), 0.5);
  EXPECT_DOUBLE_EQ(row.teraflops(), 2000);
  EXPECT_DOUBLE_EQ(row.gigabytes_per_second(), 500);
  EXPECT_DOUBLE_EQ(row.times_floor(), 2);
}

}  // namespace
}  // namespace diarist
