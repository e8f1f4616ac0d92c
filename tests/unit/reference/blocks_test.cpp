// Blocks of the reference backend against formulas written out another way, on small odd shapes.

#include <gtest/gtest.h>

#include <cmath>

#include "block_graph.hpp"
#include "support/synthetic_weights.hpp"

namespace diarist::test {
namespace {

using base::Shape;
using base::TensorF;

Numbers noise(const std::string& name, const Shape& shape) {
  const TensorF tensor = synthetic_tensor(name + ".bias", shape, 1);  // within 0.2 of zero
  Numbers numbers(tensor.values().begin(), tensor.values().end());
  for (float& x : numbers) x *= 5;
  return numbers;
}

TensorF weight(const std::string& name, const Shape& shape) { return {shape, noise(name, shape)}; }

/// The rows as if they went on with zeros on both sides.
float padded(const Operand& rows, std::int64_t t, std::int64_t c) {
  if (t < 0 || t >= rows.shape[0]) return 0;
  return rows.numbers[t * rows.shape[1] + c];
}

float padded(const Operand& map, std::int64_t c, std::int64_t f, std::int64_t t) {
  if (f < 0 || f >= map.shape[1] || t < 0 || t >= map.shape[2]) return 0;
  return map.numbers[(c * map.shape[1] + f) * map.shape[2] + t];
}

TEST(ReferenceBlocks, Conv2dWithEveryStrideAndEdge) {
  for (const std::int64_t kernel : {1, 3}) {
    for (const auto& [stride_f, stride_t] : {std::pair{1, 1}, {2, 1}, {2, 2}}) {
      for (const auto& [bands, frames] : {std::pair{5, 7}, {4, 1}, {1, 2}, {6, 8}}) {
        const Operand map{{2, bands, frames}, noise("map", {2, bands, frames})};
        model::Conv2d block;
        block.weight = weight("w", {3, 2, kernel, kernel});
        block.bias = weight("b", {3});
        block.stride_frequency = stride_f;
        block.stride_time = stride_t;
        block.relu = false;
        const Operand out = run_block(block, {map});
        ASSERT_EQ(out.shape, (Shape{3, (bands - 1) / stride_f + 1, (frames - 1) / stride_t + 1}));
        std::size_t at = 0;
        for (std::int64_t o = 0; o < 3; ++o) {
          for (std::int64_t f = 0; f < out.shape[1]; ++f) {
            for (std::int64_t t = 0; t < out.shape[2]; ++t) {
              double sum = block.bias.values()[o];
              std::size_t w = o * 2 * kernel * kernel;
              for (std::int64_t i = 0; i < 2; ++i) {
                for (std::int64_t a = -(kernel / 2); a <= kernel / 2; ++a) {
                  for (std::int64_t b = -(kernel / 2); b <= kernel / 2; ++b) {
                    sum += static_cast<double>(block.weight.values()[w++]) *
                           padded(map, i, f * stride_f + a, t * stride_t + b);
                  }
                }
              }
              EXPECT_NEAR(out.numbers[at++], sum, 1e-6);
            }
          }
        }
      }
    }
  }
}

TEST(ReferenceBlocks, Conv2dAddsTheResidualBeforeTheRelu) {
  model::Conv2d block;
  block.weight = {{1, 1, 1, 1}, {2.0F}};
  block.bias = {{1}, {0.5F}};
  const Operand out = run_block(block, {{{1, 1, 3}, {1, -1, 2}}, {{1, 1, 3}, {-5, 4, 0.25F}}});
  EXPECT_EQ(out.numbers, (Numbers{0, 2.5F, 4.75F}));
}

TEST(ReferenceBlocks, Conv1dStrideDilationPadding) {
  for (const auto& [taps, stride, dilation, padding] :
       {std::tuple{5, 2, 1, 2}, {3, 1, 2, 2}, {5, 1, 1, 0}, {1, 1, 1, 0}, {3, 3, 1, 1}}) {
    const Operand rows{{11, 4}, noise("rows", {11, 4})};
    model::Conv1d block;
    block.weight = weight("w", {3, 4, taps});
    block.bias = weight("b", {3});
    block.stride = stride;
    block.dilation = dilation;
    block.padding = padding;
    const Operand out = run_block(block, {rows});
    ASSERT_EQ(out.shape[0], (11 + 2 * padding - dilation * (taps - 1) - 1) / stride + 1);
    for (std::int64_t t = 0; t < out.shape[0]; ++t) {
      for (std::int64_t o = 0; o < 3; ++o) {
        double sum = block.bias.values()[o];
        for (std::int64_t i = 0; i < 4; ++i) {
          for (std::int64_t k = 0; k < taps; ++k) {
            sum += static_cast<double>(block.weight.values()[(o * 4 + i) * taps + k]) *
                   padded(rows, t * stride - padding + k * dilation, i);
          }
        }
        EXPECT_NEAR(out.numbers[t * 3 + o], sum, 1e-6);
      }
    }
  }
}

TEST(ReferenceBlocks, PoolThenNormThenLeakyRelu) {
  model::Conv1d block;
  block.weight = {{1, 1, 1}, {1.0F}};
  block.bias = {{1}, {0.0F}};
  block.pool3 = true;
  block.norm = model::InstanceNorm{{{1}, {2.0F}}, {{1}, {0.5F}}};
  block.activation = model::Activation::kLeakyRelu;
  // Pools to 3, 1, 5; mean 3, biased variance 8/3. The last two rows have no third one.
  const Operand out = run_block(block, {{{11, 1}, {1, 3, 2, -1, 0, 1, 5, 4, 4, 9, 9}}});
  ASSERT_EQ(out.shape, (Shape{3, 1}));
  const double root = std::sqrt(8.0 / 3.0 + 1e-5);
  EXPECT_NEAR(out.numbers[0], 0.5, 1e-6);
  EXPECT_NEAR(out.numbers[1], 0.01 * (-2 / root * 2 + 0.5), 1e-6);
  EXPECT_NEAR(out.numbers[2], 2 / root * 2 + 0.5, 1e-6);
}

TEST(ReferenceBlocks, LstmOfOneUnit) {
  model::BiLstm block;
  for (int d = 0; d < 2; ++d) {  // rows: input, forget, cell, output
    block.input_weight[d] = {{4, 1}, {0.5F, -1.0F, 1.5F, 0.25F}};
    block.recurrent_weight[d] = {{4, 1}, {0.1F, 0.2F, -0.3F, 0.4F}};
    block.bias[d] = {{4}, {0.0F, 1.0F, -0.5F, 0.125F}};
  }
  const Numbers x = {1.0F, -2.0F, 0.5F};
  const Operand out = run_block(block, {{{3, 1}, x}});
  ASSERT_EQ(out.shape, (Shape{3, 2}));
  const auto squash = [](double v) { return 0.5 * (1 + std::tanh(v / 2)); };  // the logistic curve
  for (const bool backward : {false, true}) {
    double h = 0;
    double c = 0;
    for (int step = 0; step < 3; ++step) {
      const int t = backward ? 2 - step : step;
      c = squash(-1.0 * x[t] + 0.2F * h + 1.0) * c +
          squash(0.5 * x[t] + 0.1F * h) * std::tanh(1.5 * x[t] - 0.3F * h - 0.5);
      h = squash(0.25 * x[t] + 0.4F * h + 0.125) * std::tanh(c);
      EXPECT_NEAR(out.numbers[2 * t + (backward ? 1 : 0)], h, 1e-6);
    }
  }
}

TEST(ReferenceBlocks, StemRemovesTheMeanOfEveryBand) {
  model::Stem block;
  block.weight = {{1, 1, 3, 3}, {0, 0, 0, 0, 1, 0, 0, 0, 0}};  // the middle tap
  block.bias = {{1}, {10.0F}};
  const Operand out = run_block(block, {{{3, 2}, {1, 100, 2, 200, 6, 600}}});
  ASSERT_EQ(out.shape, (Shape{1, 2, 3}));
  EXPECT_EQ(out.numbers, (Numbers{8, 9, 13, 0, 0, 310}));
}

TEST(ReferenceBlocks, MapToRowsAndDense) {
  EXPECT_EQ(
      run_block(model::MapToRows{}, {{{2, 2, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}}).numbers,
      (Numbers{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11}));
  model::Dense dense;
  dense.weight = {{2, 2}, {1, 2, 3, 4}};
  dense.bias = {{2}, {-1, -100}};
  dense.pre_scale = {{2}, {2, -1}};
  dense.pre_offset = {{2}, {1, 1}};
  dense.activation = model::Activation::kRelu;
  // relu(2*1+1), relu(-5+1) = 3, 0
  EXPECT_EQ(run_block(dense, {{{1, 2}, {1, 5}}}).numbers, (Numbers{2, 0}));
}

TEST(ReferenceBlocks, LogSoftmaxOfLargeScores) {
  const Operand out = run_block(model::LogSoftmax{}, {{{1, 3}, {1000, 1001, 999}}});
  const double rest = std::log(1 + std::exp(-1.0) + std::exp(-2.0));
  EXPECT_NEAR(out.numbers[0], -1 - rest, 1e-6);
  EXPECT_NEAR(out.numbers[1], -rest, 1e-6);
  EXPECT_NEAR(out.numbers[2], -2 - rest, 1e-6);
}

/// One layer, 230 frames: the context is the mean of everything plus the mean of 100 frames.
TEST(ReferenceBlocks, DenseTdnnContext) {
  constexpr std::int64_t kFrames = 230;
  model::DenseTdnnLayer layer;
  layer.pre_scale = {{1}, {1.0F}};
  layer.pre_offset = {{1}, {0.0F}};
  layer.reduce_weight = {{1, 1}, {1.0F}};
  layer.reduce_bias = {{1}, {0.0F}};
  layer.local_weight = {{1, 1, 3}, {0.5F, 1.0F, 0.25F}};
  layer.gate1_weight = {{1, 1}, {1.0F}};
  layer.gate1_bias = {{1}, {-0.25F}};
  layer.gate2_weight = {{1, 1}, {2.0F}};
  layer.gate2_bias = {{1}, {0.125F}};
  const model::DenseTdnnBlock block{{layer}, 2};
  Operand rows{{kFrames, 1}, noise("rows", {kFrames, 1})};
  for (float& x : rows.numbers) x = std::abs(x);  // the ReLUs in front change nothing
  const Operand out = run_block(block, {rows});
  ASSERT_EQ(out.shape, (Shape{kFrames, 2}));
  const auto mean = [&](std::int64_t begin, std::int64_t end) {
    double sum = 0;
    for (std::int64_t t = begin; t < end; ++t) sum += rows.numbers[t];
    return sum / static_cast<double>(end - begin);
  };
  for (std::int64_t t = 0; t < kFrames; ++t) {
    const std::int64_t begin = t / 100 * 100;
    const double context = mean(0, kFrames) + mean(begin, std::min(begin + 100, kFrames));
    const double gate = 1 / (1 + std::exp(-(2 * std::max(0.0, context - 0.25) + 0.125)));
    const double local =
        0.5 * padded(rows, t - 2, 0) + padded(rows, t, 0) + 0.25 * padded(rows, t + 2, 0);
    EXPECT_EQ(out.numbers[2 * t], rows.numbers[t]);
    EXPECT_NEAR(out.numbers[2 * t + 1], local * gate, 1e-6) << t;
  }
}

TEST(ReferenceBlocks, StatisticsOfFewFrames) {
  model::StatsHead head{{{2, 2}, {1, 0, 0, 1}}, {{2}, {0, 0}}};
  EXPECT_EQ(run_block(head, {{{3, 1}, {1, 2, 6}}}).numbers,
            (Numbers{3, static_cast<float>(std::sqrt(7.0))}));
  EXPECT_EQ(run_block(head, {{{1, 1}, {4}}}).numbers, (Numbers{4, 0.01F}));
}

TEST(ReferenceBlocks, MaskedStatistics) {
  model::MaskedStatsHead head;
  head.weight = {{2, 2}, {1, 0, 0, 1}};
  head.bias = {{2}, {10, 20}};
  head.speakers = 4;
  Numbers masks(4 * 589, 0.0F);
  // Four frames look at mask frames 0, 147, 294, 441 (floor(j*589/4)).
  for (const int f : {0, 147, 441}) masks[f] = 1;                 // frames 0, 1, 3
  masks[589 + 294] = 1;                                           // frame 2 alone
  for (const int f : {1, 146, 148, 588}) masks[2 * 589 + f] = 1;  // nothing that is looked at
  masks[3 * 589 + 0] = 0.5F;                                      // weights 0.5 and 1
  masks[3 * 589 + 147] = 1;
  const Operand out = run_block(head, {{{1, 1, 4}, {1, 2, 100, 6}}, {{4, 589}, masks}});
  ASSERT_EQ(out.shape, (Shape{4, 2}));
  EXPECT_NEAR(out.numbers[0], 13, 1e-6);
  EXPECT_NEAR(out.numbers[1], 20 + std::sqrt(7.0), 1e-5);
  EXPECT_EQ(out.numbers[2], 110.0F);
  EXPECT_EQ(out.numbers[3], 20.0F);  // exactly zero deviation
  EXPECT_EQ(out.numbers[4], 10.0F);  // exactly the bias
  EXPECT_EQ(out.numbers[5], 20.0F);
  const double mean = 2.5 / 1.5;
  const double variance =
      (0.5 * std::pow(1 - mean, 2) + std::pow(2 - mean, 2)) / (1.5 - 1.25 / 1.5);
  EXPECT_NEAR(out.numbers[6], 10 + mean, 1e-6);
  EXPECT_NEAR(out.numbers[7], 20 + std::sqrt(variance), 1e-5);
}

}  // namespace
}  // namespace diarist::test
