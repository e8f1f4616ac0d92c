// Stretches on the tape must give the same feature rows as one pass over the whole recording.

#include "pipeline/tape.hpp"

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

class TapeTest : public testing::TestWithParam<std::string> {};

TEST_P(TapeTest, RowsDoNotDependOnHowTheRecordingIsCut) {
  const auto backend = backend::make_backend({.device = GetParam(), .threads = 2});
  const auto queue = backend->make_queue();
  const std::int64_t seconds = 17;
  const std::vector<float> samples = tones(seconds * kSecond);
  const model::Graph raw = model::sinc_front_end(sinc_weights());
  const model::Graph mel = model::wespeaker_features();
  const std::vector<float> mel_rows = whole(*backend, mel, samples, seconds * 100 - 2);
  const std::vector<float> raw_rows = whole(*backend, raw, samples, seconds * 1600 - 25);

  // Two stretches that overlap in the recording, with another second of samples between them.
  Tape tape(*backend, *queue, raw, mel, 26, 2);
  const std::int64_t firsts[] = {5, 2};
  const auto stretch = [&](std::int64_t first, std::int64_t count) {
    return std::span<const float>(samples).subspan(static_cast<std::size_t>(first * kSecond),
                                                   static_cast<std::size_t>(count * kSecond));
  };
  tape.write(0, stretch(firsts[0], 12));
  tape.write_zeros(12 * kSecond, kSecond);
  tape.write(13 * kSecond, stretch(firsts[1], 12));
  tape.compute(25, 1, {});
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::int64_t window = 0; window < 3; ++window) {
      const std::int64_t at = 13 * static_cast<std::int64_t>(i) + window;
      std::vector<float> got(static_cast<std::size_t>(998 * kBands));
      tape.read_log_mel(1, at * kMelPerSecond, got);
      queue->wait();
      EXPECT_TRUE(std::equal(
          got.begin(), got.end(),
          mel_rows.begin() + static_cast<std::ptrdiff_t>((firsts[i] + window) * 100 * kBands)))
          << "log-mel of the window at second " << at;
      const backend::View view = tape.raw({});
      got.resize(static_cast<std::size_t>(15975 * kBands));
      queue->download(*view.buffer,
                      static_cast<std::size_t>(view.offset + at * view.item_stride) * sizeof(float),
                      std::as_writable_bytes(std::span(got)));
      queue->wait();
      EXPECT_TRUE(std::equal(
          got.begin(), got.end(),
          raw_rows.begin() + static_cast<std::ptrdiff_t>((firsts[i] + window) * 1600 * kBands)))
          << "sinc convolution of the window at second " << at;
    }
  }
  EXPECT_EQ(tape.all_log_mel(1).rows, 2498);
}

TEST_P(TapeTest, SixteenBitsAndPadding) {
  const auto backend = backend::make_backend({.device = GetParam(), .threads = 1});
  const auto queue = backend->make_queue();
  Tape tape(*backend, *queue, model::sinc_front_end(sinc_weights()), model::wespeaker_features(),
            10, 1);
  std::vector<std::int16_t> pcm16(100);
  for (std::size_t i = 0; i < pcm16.size(); ++i)
    pcm16[i] = static_cast<std::int16_t>(i % 2 == 0 ? 32767 - 5 * i : i * 7 - 32768);
  tape.write(0, pcm16);
  tape.write_zeros(100, 10 * kSecond - 100);
  tape.compute(10, 0, {});
  std::vector<float> row(static_cast<std::size_t>(kBands)), samples(101);
  tape.read_log_mel(0, 500, row);
  queue->download(*tape.samples({}).buffer, 0, std::as_writable_bytes(std::span(samples)));
  queue->wait();
  for (const float value : row) EXPECT_NEAR(value, -15.942385, 1e-5);
  for (std::size_t i = 0; i < pcm16.size(); ++i)
    EXPECT_EQ(samples[i], static_cast<float>(pcm16[i]) / 32768.0F);
  EXPECT_EQ(samples[100], 0.0F);
}

INSTANTIATE_TEST_SUITE_P(Devices, TapeTest, testing::Values("cpu", "reference"));

}  // namespace
}  // namespace diarist::pipeline
