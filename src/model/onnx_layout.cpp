#include "model/onnx_layout.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "base/error.hpp"

namespace diarist::model {
namespace {

using base::Shape;
using base::TensorF;

constexpr std::int64_t kHidden = 128;
constexpr std::int64_t kGates = 4 * kHidden;
constexpr std::size_t kLayers = 4;

struct Generated {
  long number = 0;
  std::string name;
  const TensorF* tensor = nullptr;
};

/// Tensors named <prefix><number>, in the order of their numbers (which differ between exports).
std::vector<Generated> generated(const Checkpoint& checkpoint, const std::string& prefix) {
  std::vector<Generated> list;
  for (const auto& [name, tensor] : checkpoint) {
    if (name.rfind(prefix, 0) != 0) continue;
    Generated each{0, name, &tensor};
    const char* end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data() + prefix.size(), end, each.number);
    if (parsed.ec == std::errc() && parsed.ptr == end) list.push_back(each);
  }
  std::ranges::sort(list, {}, &Generated::number);
  return list;
}

/// One direction of an ONNX gate array with rows in blocks input, output, forget, cell, as blocks
/// input, forget, cell, output.
TensorF reordered(std::span<const float> rows, std::int64_t columns, Shape shape) {
  constexpr int kFrom[] = {0, 2, 3, 1};
  std::vector<float> out;
  out.reserve(rows.size());
  const std::size_t block = static_cast<std::size_t>(kHidden * columns);
  for (const int from : kFrom) {
    const std::span<const float> part = rows.subspan(from * block, block);
    out.insert(out.end(), part.begin(), part.end());
  }
  return {std::move(shape), std::move(out)};
}

TensorF transposed(const TensorF& tensor) {
  const std::int64_t rows = tensor.dim(0);
  const std::int64_t columns = tensor.dim(1);
  std::vector<float> out(tensor.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      out[c * rows + r] = tensor.values()[r * columns + c];
    }
  }
  return {{columns, rows}, std::move(out)};
}

/// The one member of a layer's triple with this shape.
const TensorF& member(std::span<const Generated> triple, const Shape& shape,
                      const std::string& source) {
  const TensorF* found = nullptr;
  for (const Generated& each : triple) {
    if (each.tensor->shape() == shape && each.tensor->size() == base::element_count(shape)) {
      found = each.tensor;
    }
  }
  if (found == nullptr) {
    base::fail(ErrorCode::kBadModel,
               "{}: none of {}, {}, {} has the shape [{}] of an LSTM layer; use a complete export",
               source, triple[0].name, triple[1].name, triple[2].name, fmt::join(shape, ", "));
  }
  return *found;
}

void convert_lstm(std::span<const Generated> triple, std::size_t layer, const std::string& source,
                  Checkpoint& out) {
  const std::int64_t in = layer == 0 ? 60 : 2 * kHidden;
  const std::span<const float> bias = member(triple, {2, 2 * kGates}, source).values();
  const std::span<const float> input = member(triple, {2, kGates, in}, source).values();
  const std::span<const float> recurrent = member(triple, {2, kGates, kHidden}, source).values();
  for (std::size_t direction = 0; direction < 2; ++direction) {
    const std::string end = "_l" + std::to_string(layer) + (direction == 0 ? "" : "_reverse");
    const auto part = [&](std::span<const float> all, std::size_t index, std::int64_t columns) {
      const std::size_t size = static_cast<std::size_t>(kGates * columns);
      return all.subspan(index * size, size);
    };
    out["lstm.weight_ih" + end] = reordered(part(input, direction, in), in, {kGates, in});
    out["lstm.weight_hh" + end] =
        reordered(part(recurrent, direction, kHidden), kHidden, {kGates, kHidden});
    out["lstm.bias_ih" + end] = reordered(part(bias, 2 * direction, 1), 1, {kGates});
    out["lstm.bias_hh" + end] = reordered(part(bias, 2 * direction + 1, 1), 1, {kGates});
  }
}

[[noreturn]] void refuse_count(const std::string& source, const char* what, std::size_t wanted,
                               std::size_t got) {
  base::fail(ErrorCode::kBadModel,
             "{}: {} tensors named {}<number>, expected {}; use a complete export", source, got,
             what, wanted);
}

}  // namespace

Checkpoint from_onnx_layout(const Checkpoint& checkpoint, const std::string& source) {
  Checkpoint out = checkpoint;
  if (checkpoint.count("lstm.weight_ih_l0") == 0) {
    const std::vector<Generated> lstm = generated(checkpoint, "onnx::LSTM_");
    if (!lstm.empty()) {
      if (lstm.size() != 3 * kLayers) refuse_count(source, "onnx::LSTM_", 3 * kLayers, lstm.size());
      for (std::size_t layer = 0; layer < kLayers; ++layer) {
        convert_lstm(std::span(lstm).subspan(3 * layer, 3), layer, source, out);
      }
    }
  }
  if (checkpoint.count("linear.0.weight") == 0) {
    const std::vector<Generated> matrices = generated(checkpoint, "onnx::MatMul_");
    if (!matrices.empty()) {
      constexpr const char* kNames[] = {"linear.0.weight", "linear.1.weight", "classifier.weight"};
      if (matrices.size() != 3) refuse_count(source, "onnx::MatMul_", 3, matrices.size());
      for (std::size_t i = 0; i < 3; ++i) {
        const TensorF& tensor = *matrices[i].tensor;
        if (tensor.shape().size() != 2 || tensor.size() != base::element_count(tensor.shape())) {
          base::fail(ErrorCode::kBadModel, "{}: tensor {} is not a matrix; use a complete export",
                     source, matrices[i].name);
        }
        out[kNames[i]] = transposed(tensor);
      }
    }
  }
  if (checkpoint.count("sincnet.conv1d.0.filterbank.low_hz_") == 0 &&
      checkpoint.count("sincnet.conv1d.0.filters") == 0) {
    for (const auto& [name, tensor] : checkpoint) {  // a folded constant under any name
      if (tensor.shape() != Shape{80, 1, 251} || tensor.size() != 80 * 251) continue;
      out["sincnet.conv1d.0.filters"] =
          TensorF({80, 251}, {tensor.values().begin(), tensor.values().end()});
    }
  }
  return out;
}

}  // namespace diarist::model
