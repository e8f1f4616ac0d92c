#include "jobs.hpp"

#include <algorithm>

#include "backend/cpu/cpu_backend.hpp"
#include "model/graph_builder.hpp"
#include "model/networks.hpp"
#include "support/synthetic_weights.hpp"

namespace diarist::bench {

using model::ElementType;
using model::Graph;
using model::ValueId;

Job::Job(const std::string& target, const Graph& graph, int items, std::int64_t length,
         Precision precision)
    : backend_(backend::cpu::make_cpu_backend(1, target)),
      queue_(backend_->make_queue()),
      program_(backend_->compile(
          graph, {.max_items = items, .max_length = length, .precision = precision})),
      lengths_(static_cast<std::size_t>(items), static_cast<std::int32_t>(length)) {
  run_.items = items;
  run_.lengths = lengths_;
  const std::vector<std::int64_t> longest = model::ragged_lengths(graph, length);
  for (const ValueId id : graph.inputs) run_.inputs.push_back(view(graph, id, longest, items));
  for (const ValueId id : graph.outputs) run_.outputs.push_back(view(graph, id, longest, items));
}

backend::View Job::view(const Graph& graph, ValueId id, const std::vector<std::int64_t>& longest,
                        int items) {
  const model::Value& value = graph.values[static_cast<std::size_t>(id)];
  std::int64_t count = 1;
  for (const std::int64_t dim : value.shape) {
    count *= dim < 0 ? std::max<std::int64_t>(longest[static_cast<std::size_t>(id)], 1) : dim;
  }
  if (value.shared) count = 1000 * value.shape[1];
  buffers_.push_back(backend_->allocate(static_cast<std::size_t>(4 * count * items)));
  if (value.type == ElementType::kF32) {
    auto* numbers = static_cast<float*>(buffers_.back()->host());
    std::uint32_t state = 1;
    for (std::int64_t i = 0; i < count * items; ++i) {
      state = state * 1664525 + 1013904223;
      numbers[i] = static_cast<float>(state >> 8) * 0x1p-23F - 1.0F;
    }
  }
  return {buffers_.back().get(), 0, count, 1000};
}

namespace {

base::TensorF constant(const base::Shape& shape, float value) {
  return {shape, std::vector<float>(static_cast<std::size_t>(base::element_count(shape)), value)};
}

constexpr int kConvolutions = 11;

Graph convolution(std::int64_t channels, std::int64_t frequency, std::int64_t time) {
  model::GraphBuilder graph("conv2d");
  const ValueId in = graph.input("in", {channels, frequency, time});
  model::Conv2d block{constant({channels, channels, 3, 3}, 1e-4F), constant({channels}, 0.1F)};
  // Many in a row: the change of layout at the ends weighs less.
  ValueId x = graph.add("0", block, {in}, "0");
  for (int i = 1; i < kConvolutions; i += 2) {
    const ValueId hidden = graph.add(std::to_string(i), block, {x}, std::to_string(i));
    x = graph.add(std::to_string(i + 1), block, {hidden, x}, std::to_string(i + 1));
  }
  return graph.finish({x});
}

Graph lstm() {
  model::GraphBuilder graph("lstm");
  model::BiLstm block;
  for (int d = 0; d < 2; ++d) {
    block.input_weight[d] = constant({512, 256}, 0.01F);
    block.recurrent_weight[d] = constant({512, 128}, 0.01F);
    block.bias[d] = constant({512}, 0.1F);
  }
  return graph.finish({graph.add("lstm", block, {graph.input("in", {589, 256})}, "out")});
}

Graph dense() {
  model::GraphBuilder graph("dense");
  const model::Dense block{
      constant({128, 256}, 0.01F), constant({128}, 0.1F), {}, {}, model::Activation::kLeakyRelu};
  return graph.finish({graph.add("dense", block, {graph.input("in", {589, 256})}, "out")});
}

}  // namespace

std::vector<Named> jobs() {
  using test::synthetic_weights;
  const auto pyannet = [] { return synthetic_weights("pyannet"); };
  const auto campplus = [] { return synthetic_weights("campplus"); };
  return {
      {"Conv2d_32x80x998", [] { return convolution(32, 80, 998); }, 1, 0, kConvolutions * 1.4716},
      {"Conv2d_64x40x499", [] { return convolution(64, 40, 499); }, 1, 0, kConvolutions * 1.4716},
      {"Conv2d_128x20x250", [] { return convolution(128, 20, 250); }, 1, 0, kConvolutions * 1.4746},
      {"Conv2d_256x10x125", [] { return convolution(256, 10, 125); }, 1, 0, kConvolutions * 1.4746},
      {"BiLstm_12_windows", lstm, 12, 0, 0.4632},
      {"Dense_256_to_128", dense, 1, 0, 0.0386},
      {"log_mel_10s", [] { return model::campplus_features(); }, 1, 160000, 0},
      {"sinc_10s", [=] { return model::sinc_front_end(pyannet()); }, 1, 160000, 0.6416},
      {"segmentation_12_windows", [=] { return model::segmentation_network(pyannet()); }, 12, 0,
       1.994},
      {"segmentation_1_window", [=] { return model::segmentation_network(pyannet()); }, 1, 0,
       1.994},
      {"resnet34", [] { return model::resnet34_network(synthetic_weights("wespeaker-resnet34")); },
       1, 0, 45.23},
      {"campplus_998", [=] { return model::campplus_network(campplus()); }, 1, 998, 10.71},
      {"campplus_400", [=] { return model::campplus_network(campplus()); }, 1, 400, 4.29},
      {"campplus_100", [=] { return model::campplus_network(campplus()); }, 1, 100, 1.073},
  };
}

}  // namespace diarist::bench
