// Layers on rows [time, columns].

#include <algorithm>
#include <cmath>

#include "backend/reference/layers.hpp"
#include "base/error.hpp"

namespace diarist::backend::reference {
namespace {

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// y[o] += sum over i of x[i] * by_input[i][o].
void add_product(const double* x, std::int64_t in, const double* by_input, std::int64_t out,
                 double* y) {
  for (std::int64_t i = 0; i < in; ++i) {
    const double xi = x[i];
    const double* w = by_input + i * out;
    for (std::int64_t o = 0; o < out; ++o) y[o] += xi * w[o];
  }
}

}  // namespace

std::vector<double> transposed(const model::TensorF& matrix, std::int64_t rows,
                               std::int64_t columns) {
  std::vector<double> result(static_cast<std::size_t>(rows * columns));
  const float* w = matrix.data();
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) result[c * rows + r] = w[r * columns + c];
  }
  return result;
}

void activate(model::Activation activation, std::vector<double>& values) {
  if (activation == model::Activation::kNone) return;
  // !(x < 0) keeps a NaN, as max(x, 0) would not.
  const double slope = activation == model::Activation::kLeakyRelu ? 0.01 : 0.0;
  for (double& x : values) x = x < 0 ? slope * x : x;
}

void normalize_columns(const model::InstanceNorm& norm, Array& rows) {
  const std::int64_t frames = rows.dim(0);
  const std::int64_t columns = rows.dim(1);
  for (std::int64_t c = 0; c < columns; ++c) {
    double mean = 0;
    for (std::int64_t t = 0; t < frames; ++t) mean += *rows.at(t * columns + c);
    mean /= static_cast<double>(frames);
    double variance = 0;
    for (std::int64_t t = 0; t < frames; ++t) {
      const double d = *rows.at(t * columns + c) - mean;
      variance += d * d;
    }
    variance /= static_cast<double>(frames);
    const double gain = norm.weight.values()[c] / std::sqrt(variance + 1e-5);
    const double bias = norm.bias.values()[c];
    for (std::int64_t t = 0; t < frames; ++t) {
      double& x = *rows.at(t * columns + c);
      x = (x - mean) * gain + bias;
    }
  }
}

void pool_three_rows(const Array& rows, Array& out) {
  const std::int64_t columns = rows.dim(1);
  for (std::int64_t t = 0; t < out.dim(0); ++t) {
    for (std::int64_t c = 0; c < columns; ++c) {
      double best = *rows.at(3 * t * columns + c);
      for (std::int64_t k = 1; k < 3; ++k) {
        const double x = *rows.at((3 * t + k) * columns + c);
        if (!(x <= best)) best = x;  // a NaN wins and stays visible
      }
      *out.at(t * columns + c) = best;
    }
  }
}

void run_conv1d(const model::Conv1d& block, const Array& rows, Array& out) {
  const std::int64_t outs = block.weight.dim(0);
  const std::int64_t ins = block.weight.dim(1);
  const std::int64_t taps = block.weight.dim(2);
  // [Cout, Cin * K] -> [Cin * K, Cout]
  const std::vector<double> by_input = transposed(block.weight, outs, ins * taps);
  Array whole;
  Array* target = &out;
  if (block.pool3) {
    const std::int64_t reach = block.dilation * (taps - 1) + 1;
    const std::int64_t room = rows.dim(0) + 2 * block.padding - reach;
    whole.reset({room < 0 ? 0 : room / block.stride + 1, outs});
    target = &whole;
  }
  for (std::int64_t t = 0; t < target->dim(0); ++t) {
    double* y = target->at(t * outs);
    for (std::int64_t o = 0; o < outs; ++o) y[o] = block.bias.values()[o];
    for (std::int64_t k = 0; k < taps; ++k) {
      const std::int64_t from = t * block.stride + k * block.dilation - block.padding;
      if (from < 0 || from >= rows.dim(0)) continue;
      for (std::int64_t i = 0; i < ins; ++i) {
        const double x = *rows.at(from * ins + i);
        const double* w = by_input.data() + (i * taps + k) * outs;
        for (std::int64_t o = 0; o < outs; ++o) y[o] += w[o] * x;
      }
    }
  }
  if (block.pool3) pool_three_rows(whole, out);
  if (block.norm) normalize_columns(*block.norm, out);
  activate(block.activation, out.values);
}

void run_bi_lstm(const model::BiLstm& block, const Array& rows, Array& out) {
  const std::int64_t frames = rows.dim(0);
  const std::int64_t ins = rows.dim(1);
  const std::int64_t hidden = block.recurrent_weight[0].dim(1);
  const std::int64_t gates = 4 * hidden;
  std::vector<double> gate(gates), cell(hidden), state(hidden);
  for (int direction = 0; direction < 2; ++direction) {
    const std::vector<double> input = transposed(block.input_weight[direction], gates, ins);
    const std::vector<double> recurrent =
        transposed(block.recurrent_weight[direction], gates, hidden);
    std::ranges::fill(cell, 0.0);
    std::ranges::fill(state, 0.0);
    for (std::int64_t step = 0; step < frames; ++step) {
      const std::int64_t t = direction == 0 ? step : frames - 1 - step;
      std::ranges::copy(block.bias[direction].values(), gate.begin());
      add_product(rows.at(t * ins), ins, input.data(), gates, gate.data());
      add_product(state.data(), hidden, recurrent.data(), gates, gate.data());
      for (std::int64_t h = 0; h < hidden; ++h) {
        const double in = sigmoid(gate[h]);
        const double forget = sigmoid(gate[hidden + h]);
        const double candidate = std::tanh(gate[2 * hidden + h]);
        const double output = sigmoid(gate[3 * hidden + h]);
        cell[h] = forget * cell[h] + in * candidate;
        state[h] = output * std::tanh(cell[h]);
      }
      std::ranges::copy(state, out.at(t * 2 * hidden + direction * hidden));
    }
  }
}

void run_dense(const model::Dense& block, const Array& rows, Array& out) {
  const std::int64_t outs = block.weight.dim(0);
  const std::int64_t ins = block.weight.dim(1);
  const std::vector<double> by_input = transposed(block.weight, outs, ins);
  std::vector<double> x(ins);
  for (std::int64_t t = 0; t < rows.dim(0); ++t) {
    std::copy_n(rows.at(t * ins), ins, x.begin());
    if (!block.pre_scale.empty()) {
      for (std::int64_t i = 0; i < ins; ++i) {
        x[i] = x[i] * block.pre_scale.values()[i] + block.pre_offset.values()[i];
      }
      activate(model::Activation::kRelu, x);
    }
    double* y = out.at(t * outs);
    for (std::int64_t o = 0; o < outs; ++o) y[o] = block.bias.values()[o];
    add_product(x.data(), ins, by_input.data(), outs, y);
  }
  activate(block.activation, out.values);
}

void run_log_softmax(const Array& rows, Array& out) {
  const std::int64_t columns = rows.dim(1);
  for (std::int64_t t = 0; t < rows.dim(0); ++t) {
    const double* x = rows.at(t * columns);
    const double top = *std::max_element(x, x + columns);
    double sum = 0;
    for (std::int64_t c = 0; c < columns; ++c) sum += std::exp(x[c] - top);
    for (std::int64_t c = 0; c < columns; ++c) {
      *out.at(t * columns + c) = x[c] - top - std::log(sum);
    }
  }
}

void run_powerset_decision(const Array& rows, Array& out) {
  const std::int64_t columns = rows.dim(1);
  for (std::int64_t t = 0; t < rows.dim(0); ++t) {
    const double* x = rows.at(t * columns);
    // Nothing is greater than a NaN, and a NaN is not greater than anything: all NaN is class 0.
    std::int64_t best = 0;
    for (std::int64_t c = 1; c < columns; ++c) {
      if (x[c] > x[best]) best = c;
    }
    *out.at(t) = static_cast<double>(best);
  }
}

void run_embedding_masks(const Array& classes, Array& out) {
  // Speakers of the seven classes: none, one, one, one, then the pairs.
  constexpr bool kSpeaks[3][7] = {{false, true, false, false, true, true, false},
                                  {false, false, true, false, true, false, true},
                                  {false, false, false, true, false, true, true}};
  constexpr std::int64_t kLeastClean = 2;
  const std::int64_t frames = classes.dim(0);
  for (std::int64_t s = 0; s < 3; ++s) {
    const auto alone = [&](std::int64_t t) { return *classes.at(t) == static_cast<double>(s + 1); };
    std::int64_t clean = 0;
    for (std::int64_t t = 0; t < frames; ++t) clean += alone(t) ? 1 : 0;
    for (std::int64_t t = 0; t < frames; ++t) {
      const bool speaks = kSpeaks[s][static_cast<std::size_t>(*classes.at(t))];
      *out.at(s * frames + t) = (clean > kLeastClean ? alone(t) : speaks) ? 1.0 : 0.0;
    }
  }
}

void run_gather_rows(const SharedRows& shared, const Array& indices, Array& out) {
  for (std::int64_t t = 0; t < indices.dim(0); ++t) {
    const auto row = static_cast<std::int64_t>(*indices.at(t));
    if (row < 0 || row >= shared.rows) {
      base::fail(ErrorCode::kInvalidArgument, "row index {} at {} is outside of the {} shared rows",
                 row, t, shared.rows);
    }
    std::copy_n(shared.data + row * shared.columns, shared.columns, out.at(t * shared.columns));
  }
}

}  // namespace diarist::backend::reference
