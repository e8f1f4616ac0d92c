// The strip must give the same feature rows as one pass over the whole recording.

#include "pipeline/strip.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "backend/registry.hpp"
#include "model/networks.hpp"

namespace diarist::pipeline {
namespace {

std::vector<float> tones(std::int64_t samples) {
  std::vector<float> result(static_cast<std::size_t>(samples));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double t = static_cast<double>(i) / 16000.0;
    result[i] =
        static_cast<float>(0.3 * std::sin(700 * t * (1 + 0.1 * t)) + 0.1 * std::sin(9000 * t));
  }
  return result;
}

model::Weights sinc_weights() {
  std::vector<float> low(40), band(40);
  for (std::size_t k = 0; k < 40; ++k) {
    low[k] = 45.0F * static_cast<float>(k);
    band[k] = 60.0F + 9.0F * static_cast<float>(k);
  }
  return {{"sincnet.conv1d.0.filterbank.low_hz_", {{40, 1}, low}},
          {"sincnet.conv1d.0.filterbank.band_hz_", {{40, 1}, band}}};
}

std::vector<float> whole(backend::Backend& backend, const model::Graph& graph,
                         std::span<const float> samples, std::int64_t rows) {
  const auto queue = backend.make_queue();
  const auto input = backend.allocate(samples.size_bytes());
  const auto output = backend.allocate(static_cast<std::size_t>(rows * kBands) * sizeof(float));
  queue->upload(*input, 0, std::as_bytes(samples));
  const auto program = backend.compile(
      graph, {.max_items = 1, .max_length = static_cast<std::int64_t>(samples.size())});
  const std::int32_t length = static_cast<std::int32_t>(samples.size());
  backend::Run run;
  run.items = 1;
  run.inputs = {{input.get(), 0, 0, 0}};
  run.outputs = {{output.get(), 0, 0, 0}};
  run.lengths = std::span(&length, 1);
  program->run(*queue, run);
  std::vector<float> result(static_cast<std::size_t>(rows * kBands));
  queue->download(*output, 0, std::as_writable_bytes(std::span(result)));
  queue->wait();
  return result;
}

class StripTest : public testing::TestWithParam<std::string> {};

TEST_P(StripTest, RowsDoNotDependOnHowTheRecordingIsCut) {
  const auto backend = backend::make_backend({.device = GetParam(), .threads = 2});
  const auto queue = backend->make_queue();
  const std::int64_t seconds = 17;
  const std::vector<float> samples = tones(seconds * kSecond);
  const model::Graph raw = model::sinc_front_end(sinc_weights());
  const model::Graph mel = model::wespeaker_features();
  const std::vector<float> mel_rows = whole(*backend, mel, samples, seconds * 100 - 2);
  const std::vector<float> raw_rows = whole(*backend, raw, samples, seconds * 1600 - 25);

  Strip strip(*backend, *queue, raw, mel, 12);
  std::int64_t given = 0;
  for (const std::int64_t first : {std::int64_t{0}, std::int64_t{2}, std::int64_t{5}}) {
    strip.drop_before(first * kSecond);
    const std::int64_t end = std::min((first + 12) * kSecond, seconds * kSecond);
    strip.append(std::span<const float>(samples).subspan(static_cast<std::size_t>(given),
                                                         static_cast<std::size_t>(end - given)));
    given = end;
    strip.compute({});
    EXPECT_EQ(strip.log_mel_rows(), (end / kSecond - first) * 100 - 2);
    std::vector<float> got(static_cast<std::size_t>(998 * kBands));
    strip.read_log_mel(first * 100, got);
    EXPECT_TRUE(std::equal(got.begin(), got.end(),
                           mel_rows.begin() + static_cast<std::ptrdiff_t>(first * 100 * kBands)))
        << "log-mel of the window at second " << first;
    const backend::View view = strip.raw(first * kSecond, kSecond);
    got.resize(static_cast<std::size_t>(15975 * kBands));
    queue->download(*view.buffer, static_cast<std::size_t>(view.offset) * sizeof(float),
                    std::as_writable_bytes(std::span(got)));
    queue->wait();
    EXPECT_TRUE(std::equal(got.begin(), got.end(),
                           raw_rows.begin() + static_cast<std::ptrdiff_t>(first * 1600 * kBands)))
        << "sinc convolution of the window at second " << first;
  }
}

TEST_P(StripTest, PaddingIsZeros) {
  const auto backend = backend::make_backend({.device = GetParam(), .threads = 1});
  const auto queue = backend->make_queue();
  Strip strip(*backend, *queue, model::sinc_front_end(sinc_weights()), model::wespeaker_features(),
              10);
  strip.append(tones(100));
  strip.pad_to(10 * kSecond);
  EXPECT_EQ(strip.room(), 0);
  strip.compute({});
  std::vector<float> row(static_cast<std::size_t>(kBands));
  strip.read_log_mel(500, row);
  for (const float value : row) EXPECT_NEAR(value, -15.942385, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Devices, StripTest, testing::Values("cpu", "reference"));

}  // namespace
}  // namespace diarist::pipeline
