// PyanNet as ONNX exports carry it must fold to the weights of the checkpoint.

#include "model/fold.hpp"
#include "model_errors.hpp"
#include "support/synthetic_weights.hpp"

namespace diarist::test {
namespace {

using base::TensorF;
using model::Checkpoint;

/// Appends a gate array with its blocks (input, forget, cell, output) as ONNX orders them.
void append_onnx_gates(std::vector<float>& out, const TensorF& gates) {
  const std::int64_t block = gates.size() / 4;
  const std::int64_t input = 0, forget = 1, cell = 2, output = 3;
  for (const std::int64_t which : {input, output, forget, cell}) {
    const float* from = gates.data() + which * block;
    out.insert(out.end(), from, from + block);
  }
}

TensorF flipped(const TensorF& matrix) {
  std::vector<float> out;
  for (std::int64_t c = 0; c < matrix.dim(1); ++c) {
    for (std::int64_t r = 0; r < matrix.dim(0); ++r) {
      out.push_back(matrix.values()[r * matrix.dim(1) + c]);
    }
  }
  return {{matrix.dim(1), matrix.dim(0)}, out};
}

/// \param first number of the first generated tensor; 94 makes 100 follow 99, which sorts
/// differently as text.
Checkpoint exported(const Checkpoint& plain, int first, int step) {
  Checkpoint onnx = plain;
  int number = first;
  for (const char* name : {"linear.0.weight", "linear.1.weight", "classifier.weight"}) {
    onnx["onnx::MatMul_" + std::to_string(number)] = flipped(plain.at(name));
    onnx.erase(name);
    number += step;
  }
  for (int layer = 0; layer < 4; ++layer) {
    std::vector<float> bias, input, recurrent;
    for (const char* direction : {"", "_reverse"}) {
      const std::string end = "_l" + std::to_string(layer) + direction;
      append_onnx_gates(bias, plain.at("lstm.bias_ih" + end));
      append_onnx_gates(bias, plain.at("lstm.bias_hh" + end));
      append_onnx_gates(input, plain.at("lstm.weight_ih" + end));
      append_onnx_gates(recurrent, plain.at("lstm.weight_hh" + end));
      for (const char* part : {"weight_ih", "weight_hh", "bias_ih", "bias_hh"}) {
        onnx.erase(std::string("lstm.") + part + end);
      }
    }
    const std::int64_t columns = layer == 0 ? 60 : 256;
    onnx["onnx::LSTM_" + std::to_string(number)] = {{2, 1024}, bias};
    onnx["onnx::LSTM_" + std::to_string(number + 1)] = {{2, 512, columns}, input};
    onnx["onnx::LSTM_" + std::to_string(number + 2)] = {{2, 512, 128}, recurrent};
    number += 3 * step;
  }
  return onnx;
}

void expect_same(const model::Weights& got, const model::Weights& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (const auto& [name, tensor] : wanted) {
    ASSERT_EQ(got.count(name), 1U) << name;
    EXPECT_EQ(got.at(name).shape(), tensor.shape()) << name;
    EXPECT_TRUE(std::ranges::equal(got.at(name).values(), tensor.values())) << name;
  }
}

TEST(OnnxLayout, FoldsToTheCheckpoint) {
  const Checkpoint plain = synthetic_checkpoint("pyannet");
  for (const auto& [first, step] : {std::pair{783, 1}, {91, 1}, {5, 43}}) {
    const Checkpoint onnx = exported(plain, first, step);
    EXPECT_EQ(model::recognize(onnx), "pyannet");
    expect_same(model::fold("pyannet", onnx, "m.onnx"), model::fold("pyannet", plain, "m"));
  }
}

TEST(OnnxLayout, ReadyFiltersUnderAnyName) {
  const Checkpoint plain = synthetic_checkpoint("pyannet");
  const TensorF filters = model::sinc_filters(model::fold("pyannet", plain, "m"));
  Checkpoint onnx = exported(plain, 783, 1);
  onnx.erase("sincnet.conv1d.0.filterbank.low_hz_");
  onnx.erase("sincnet.conv1d.0.filterbank.band_hz_");
  onnx["/sincnet/conv1d.0/Concat_2_output_0"] = {
      {80, 1, 251}, {filters.values().begin(), filters.values().end()}};
  const model::Weights weights = model::fold("pyannet", onnx, "m.onnx");
  EXPECT_TRUE(std::ranges::equal(model::sinc_filters(weights).values(), filters.values()));
  expect_same(model::fold("pyannet", weights, "again"), weights);
}

TEST(OnnxLayout, IncompleteExportsAreRefused) {
  const Checkpoint onnx = exported(synthetic_checkpoint("pyannet"), 783, 1);
  Checkpoint less = onnx;
  less.erase("onnx::LSTM_791");
  expect_refused([&] { model::fold("pyannet", less, "m.onnx"); }, ErrorCode::kBadModel,
                 {"m.onnx", "onnx::LSTM_", "12"});
  less = onnx;
  less["onnx::LSTM_786"] = {{2, 1000}, std::vector<float>(2000)};
  expect_refused([&] { model::fold("pyannet", less, "m.onnx"); }, ErrorCode::kBadModel,
                 {"m.onnx", "onnx::LSTM_786", "[2, 1024]"});
  less = onnx;
  less.erase("onnx::MatMul_784");
  expect_refused([&] { model::fold("pyannet", less, "m.onnx"); }, ErrorCode::kBadModel,
                 {"m.onnx", "onnx::MatMul_"});
}

}  // namespace
}  // namespace diarist::test
