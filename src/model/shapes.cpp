#include "model/shapes.hpp"

#include "base/error.hpp"

namespace diarist::model {
namespace {

constexpr std::int64_t kFrame = 400;  // samples of a log-mel frame
constexpr std::int64_t kHop = 160;    // samples between log-mel frames
constexpr std::int64_t kBands = 80;
constexpr std::int64_t kClasses = 7;

/// Positions of a kernel of `reach` steps with a stride.
std::int64_t positions(std::int64_t length, std::int64_t reach, std::int64_t stride) {
  return length < reach ? 0 : 1 + (length - reach) / stride;
}

std::int64_t map_padding(const Conv2d& block) { return block.weight.dim(2) / 2; }

struct TimeLength {
  std::int64_t n;
  std::int64_t operator()(const LogMel&) const { return positions(n, kFrame, kHop); }
  std::int64_t operator()(const SincConvolution& b) const {
    return positions(n, b.filters.dim(1), b.stride);
  }
  std::int64_t operator()(const SincPool&) const { return n / 3; }
  std::int64_t operator()(const Conv1d& b) const {
    const std::int64_t reach = b.dilation * (b.weight.dim(2) - 1) + 1;
    const std::int64_t out = n == 0 ? 0 : positions(n + 2 * b.padding, reach, b.stride);
    return b.pool3 ? out / 3 : out;
  }
  std::int64_t operator()(const Stem&) const { return n; }
  std::int64_t operator()(const Conv2d& b) const {
    return n == 0 ? 0 : positions(n + 2 * map_padding(b), b.weight.dim(3), b.stride_time);
  }
  std::int64_t operator()(const MapToRows&) const { return n; }
  std::int64_t operator()(const BiLstm&) const { return n; }
  std::int64_t operator()(const Dense&) const { return n; }
  std::int64_t operator()(const LogSoftmax&) const { return n; }
  std::int64_t operator()(const PowersetDecision&) const { return n; }
  std::int64_t operator()(const EmbeddingMasks&) const { return n; }
  std::int64_t operator()(const DenseTdnnBlock&) const { return n; }
  std::int64_t operator()(const GatherRows&) const { return n; }
  std::int64_t operator()(const MaskedStatsHead&) const { return 0; }
  std::int64_t operator()(const StatsHead&) const { return 0; }
};

struct Infer {
  const Block& block;
  std::span<const Value> in;

  [[noreturn]] void refuse(const char* what) const {
    base::fail(ErrorCode::kInternal, "block {} does not fit its inputs: {}", block_name(block),
               what);
  }
  void need(bool ok, const char* what) const {
    if (!ok) refuse(what);
  }
  std::int64_t dim(std::size_t input, std::size_t axis) const { return in[input].shape[axis]; }
  std::int64_t time(std::int64_t length) const {
    return length < 0 ? -1 : time_length(block, length);
  }
  void ranks(std::initializer_list<std::size_t> wanted) const {
    need(in.size() == wanted.size(), "number of inputs");
    std::size_t i = 0;
    for (const std::size_t rank : wanted) need(in[i++].shape.size() == rank, "number of axes");
  }
  static Value rows(std::int64_t length, std::int64_t columns) {
    return {"", ElementType::kF32, {length, columns}, false};
  }

  Value operator()(const LogMel&) const {
    ranks({1});
    return rows(time(dim(0, 0)), kBands);
  }
  Value operator()(const SincConvolution& b) const {
    ranks({1});
    return rows(time(dim(0, 0)), b.filters.dim(0));
  }
  Value operator()(const SincPool& b) const {
    ranks({1, 2});
    need(dim(1, 1) == b.filters.dim(0), "filters");
    return rows(time(dim(1, 0)), dim(1, 1));
  }
  Value operator()(const Conv1d& b) const {
    ranks({2});
    need(dim(0, 1) == b.weight.dim(1), "columns");
    return rows(time(dim(0, 0)), b.weight.dim(0));
  }
  Value operator()(const Stem& b) const {
    ranks({2});
    return {"", ElementType::kF32, {b.weight.dim(0), dim(0, 1), time(dim(0, 0))}, false};
  }
  Value operator()(const Conv2d& b) const {
    need(in.size() == 1 || in.size() == 2, "number of inputs");
    need(in[0].shape.size() == 3 && dim(0, 0) == b.weight.dim(1), "channels");
    const std::int64_t frequency =
        positions(dim(0, 1) + 2 * map_padding(b), b.weight.dim(2), b.stride_frequency);
    Value out{"", ElementType::kF32, {b.weight.dim(0), frequency, time(dim(0, 2))}, false};
    need(in.size() == 1 || in[1].shape == out.shape, "residual");
    return out;
  }
  Value operator()(const MapToRows&) const {
    ranks({3});
    return rows(time(dim(0, 2)), dim(0, 0) * dim(0, 1));
  }
  Value operator()(const BiLstm& b) const {
    ranks({2});
    need(dim(0, 1) == b.input_weight[0].dim(1), "columns");
    return rows(time(dim(0, 0)), 2 * b.recurrent_weight[0].dim(1));
  }
  Value operator()(const Dense& b) const {
    ranks({2});
    need(dim(0, 1) == b.weight.dim(1), "columns");
    return rows(time(dim(0, 0)), b.weight.dim(0));
  }
  Value operator()(const LogSoftmax&) const {
    ranks({2});
    return rows(time(dim(0, 0)), dim(0, 1));
  }
  Value operator()(const PowersetDecision&) const {
    ranks({2});
    need(dim(0, 1) == kClasses, "classes");
    return {"", ElementType::kU8, {time(dim(0, 0))}, false};
  }
  Value operator()(const EmbeddingMasks&) const {
    ranks({1});
    need(in[0].type == ElementType::kU8, "classes");
    return rows(3, time(dim(0, 0)));
  }
  Value operator()(const DenseTdnnBlock& b) const {
    ranks({2});
    std::int64_t columns = dim(0, 1);
    for (const DenseTdnnLayer& layer : b.layers) {
      need(layer.reduce_weight.dim(1) == columns, "columns");
      columns += layer.local_weight.dim(0);
    }
    return rows(time(dim(0, 0)), columns);
  }
  Value operator()(const GatherRows&) const {
    ranks({2, 1});
    need(in[0].shared && in[1].type == ElementType::kI32, "shared rows and i32 indices");
    return rows(time(dim(1, 0)), dim(0, 1));
  }
  Value operator()(const MaskedStatsHead& b) const {
    ranks({3, 2});
    const std::int64_t statistics = 2 * dim(0, 0) * dim(0, 1);
    need(b.weight.empty() || statistics == b.weight.dim(1), "statistics");
    need(dim(1, 0) == b.speakers, "speakers");
    return rows(b.speakers, b.weight.empty() ? statistics : b.weight.dim(0));
  }
  Value operator()(const StatsHead& b) const {
    ranks({2});
    need(2 * dim(0, 1) == b.weight.dim(1), "statistics");
    return {"", ElementType::kF32, {b.weight.dim(0)}, false};
  }
};

}  // namespace

std::int64_t time_length(const Block& block, std::int64_t length) {
  return std::visit(TimeLength{length}, block);
}

Value infer_value(const Block& block, std::span<const Value> inputs) {
  return std::visit(Infer{block, inputs}, block);
}

}  // namespace diarist::model
