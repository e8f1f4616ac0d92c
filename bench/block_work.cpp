// Shapes have the networks' channels and rows of the networks' bands, but few time steps: counting
// is fifty times slower than running.

#include <memory>
#include <utility>

#include "fixed_inputs.hpp"
#include "jobs.hpp"
#include "model/blocks.hpp"
#include "model/graph_builder.hpp"
#include "work.hpp"

namespace diarist::bench {
namespace {

using model::Activation;
using model::Graph;
using model::GraphBuilder;
using model::ValueId;

Work work(std::string name, Graph graph, int items = 1, std::int64_t length = 0) {
  return {std::move(name), [graph = std::move(graph), items, length](const std::string& target) {
            return [job = std::make_shared<Job>(target, graph, items, length)] { job->run(); };
          }};
}

Graph one_block(model::Block block, const std::vector<base::Shape>& inputs) {
  GraphBuilder graph("block");
  std::vector<ValueId> ids;
  for (const base::Shape& shape : inputs)
    ids.push_back(graph.input("in" + std::to_string(ids.size()), shape));
  return graph.finish({graph.add("block", std::move(block), ids, "out")});
}

model::Conv2d convolution(Draws& draws, std::int64_t in, std::int64_t out, int kernel,
                          int stride = 1) {
  return {draws.weights({out, in, kernel, kernel}), draws.around({out}, 0, 0.2), stride, stride,
          kernel == 3};
}

/// Two convolutions and the residual.
Graph basic_block(std::int64_t channels, std::int64_t frequency, std::int64_t time) {
  Draws draws(1);
  GraphBuilder graph("basic block");
  const ValueId in = graph.input("in", {channels, frequency, time});
  const ValueId hidden = graph.add("1", convolution(draws, channels, channels, 3), {in}, "hidden");
  return graph.finish(
      {graph.add("2", convolution(draws, channels, channels, 3), {hidden, in}, "out")});
}

Graph strided(std::int64_t channels, std::int64_t frequency, std::int64_t time, int kernel) {
  Draws draws(2);
  return one_block(convolution(draws, channels, 2 * channels, kernel, 2),
                   {{channels, frequency, time}});
}

model::InstanceNorm norm(Draws& draws, std::int64_t channels) {
  return {draws.around({channels}, 1, 0.5), draws.around({channels}, 0, 0.3)};
}

Graph lstm(std::int64_t time, std::int64_t columns) {
  Draws draws(3);
  model::BiLstm block;
  for (int d = 0; d < 2; ++d) {
    block.input_weight[d] = draws.weights({512, columns});
    block.recurrent_weight[d] = draws.weights({512, 128});
    block.bias[d] = draws.around({512}, 0, 0.4);
  }
  return one_block(block, {{time, columns}});
}

Graph dense(std::int64_t time, std::int64_t in, std::int64_t out, bool before) {
  Draws draws(4);
  model::Dense block;
  block.weight = draws.weights({out, in});
  block.bias = draws.around({out}, 0, 0.2);
  if (before) {
    block.pre_scale = draws.around({in}, 1, 0.4);
    block.pre_offset = draws.around({in}, 0.2, 0.4);
  } else {
    block.activation = Activation::kLeakyRelu;
  }
  return one_block(std::move(block), {{time, in}});
}

/// Layers of CAM++ that see `columns`, and then 32 more each.
Graph dense_tdnn(std::int64_t columns, int layers, int dilation) {
  Draws draws(5);
  model::DenseTdnnBlock block;
  block.dilation = dilation;
  const std::int64_t first = columns;
  for (int i = 0; i < layers; ++i, columns += 32) {
    block.layers.push_back({.pre_scale = draws.around({columns}, 1, 0.4),
                            .pre_offset = draws.around({columns}, 0.2, 0.4),
                            .reduce_weight = draws.weights({128, columns}),
                            .reduce_bias = draws.around({128}, 0, 0.2),
                            .local_weight = draws.weights({32, 128, 3}),
                            .gate1_weight = draws.weights({64, 128}),
                            .gate1_bias = draws.around({64}, 0, 0.2),
                            .gate2_weight = draws.weights({32, 64}),
                            .gate2_bias = draws.around({32}, 0, 0.2)});
  }
  return one_block(std::move(block), {{-1, first}});
}

Graph sinc_pool() {
  Draws draws(6);
  return one_block(model::SincPool{draws.weights({80, 251}), norm(draws, 1), norm(draws, 80)},
                   {{40250}, {4000, 80}});
}

/// 40 even filters and 40 odd ones.
Graph mirrored_sinc() {
  Draws draws(18);
  const base::TensorF any = draws.weights({80, 251});
  std::vector<float> numbers(any.values().begin(), any.values().end());
  for (std::size_t c = 0; c < 80; ++c) {
    float* filter = numbers.data() + 251 * c;
    for (int k = 0; k < 125; ++k) filter[250 - k] = c < 40 ? filter[k] : -filter[k];
    if (c >= 40) filter[125] = 0;
  }
  return one_block(model::SincConvolution{{{80, 251}, std::move(numbers)}}, {{-1}});
}

Graph sinc_tail() {
  Draws draws(7);
  model::Conv1d block{draws.weights({60, 80, 5}), draws.around({60}, 0, 0.2)};
  block.pool3 = true;
  block.norm = norm(draws, 60);
  block.activation = Activation::kLeakyRelu;
  return one_block(std::move(block), {{304, 80}});
}

Graph time_convolution() {
  Draws draws(8);
  model::Conv1d block{draws.weights({128, 320, 5}), draws.around({128}, 0, 0.2), 2, 1, 2};
  block.activation = Activation::kRelu;
  return one_block(std::move(block), {{-1, 320}});
}

/// Scores of the classes, decisions, masks.
Graph decisions() {
  GraphBuilder graph("decisions");
  const ValueId scores =
      graph.add("softmax", model::LogSoftmax{}, {graph.input("in", {589, 7})}, "scores");
  const ValueId classes = graph.add("decide", model::PowersetDecision{}, {scores}, "classes");
  const ValueId masks = graph.add("masks", model::EmbeddingMasks{}, {classes}, "masks");
  return graph.finish({scores, classes, masks});
}

Graph masked_statistics() {
  Draws draws(9);
  return one_block(model::MaskedStatsHead{draws.weights({256, 5120}), draws.around({256}, 0, 0.2)},
                   {{256, 10, 50}, {3, 589}});
}

Graph statistics() {
  Draws draws(10);
  return one_block(model::StatsHead{draws.weights({192, 1024}), draws.around({192}, 0, 0.2)},
                   {{-1, 512}});
}

Graph stem() {
  Draws draws(12);
  return one_block(model::Stem{draws.weights({32, 1, 3, 3}), draws.around({32}, 0, 0.2)},
                   {{60, 80}});
}

}  // namespace

std::vector<Work> block_work() {
  Draws draws(13);
  return {
      work("log-mel, Hamming", one_block(model::LogMel{}, {{-1}}), 1, 16000),
      work("log-mel, Povey", one_block(model::LogMel{model::LogMel::Window::kPovey, 1.0F}, {{-1}}),
           1, 16000),
      work("sinc", one_block(model::SincConvolution{draws.weights({80, 251})}, {{-1}}), 1, 4000),
      work("sinc, mirrored filters", mirrored_sinc(), 1, 4000),
      work("sinc pool", sinc_pool()),
      work("sinc tail", sinc_tail()),
      work("LSTM 256, 12 windows", lstm(10, 256), 12),
      work("LSTM 256, 1 window", lstm(10, 256)),
      work("LSTM 60, 12 windows", lstm(10, 60), 12),
      work("dense 256 to 128", dense(192, 256, 128, false)),
      work("dense 512 to 256, behind a norm", dense(96, 512, 256, true)),
      work("decisions and masks", decisions()),
      work("stem", stem()),
      work("basic block 32", basic_block(32, 16, 60)),
      work("basic block 64", basic_block(64, 12, 40)),
      work("basic block 128", basic_block(128, 8, 24)),
      work("basic block 256", basic_block(256, 8, 12)),
      work("3x3 stride 2, 64 to 128", strided(64, 12, 40, 3)),
      work("1x1 stride 2, 64 to 128", strided(64, 24, 80, 1)),
      work("masked statistics and head", masked_statistics()),
      work("time convolution 320 to 128, stride 2", time_convolution(), 1, 60),
      work("CAM++ layers 128, dilation 1", dense_tdnn(128, 3, 1), 1, 150),
      work("CAM++ layers 512, dilation 2", dense_tdnn(512, 2, 2), 1, 150),
      work("statistics and head", statistics(), 1, 150),
  };
}

}  // namespace diarist::bench
