#include "block_cases.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "model/graph_builder.hpp"

namespace diarist::test {
namespace {

using base::TensorF;
using model::Activation;
using model::GraphBuilder;
using model::ValueId;

struct Input {
  base::Shape shape;
  model::ElementType type = model::ElementType::kF32;
  bool shared = false;
};

model::Graph one_block(const model::Block& block, const std::vector<Input>& inputs) {
  GraphBuilder graph("one block");
  std::vector<ValueId> ids;
  for (const Input& input : inputs) {
    ids.push_back(
        graph.input("in" + std::to_string(ids.size()), input.shape, input.type, input.shared));
  }
  return graph.finish({graph.add("block", block, ids, "out")});
}

/// Items of random numbers; -1 in a shape is the item's length.
void fill_items(GraphCase& test, const std::vector<std::int64_t>& lengths, Random& random,
                double scale = 1.0) {
  for (const std::int64_t length : lengths) {
    Item item;
    item.length = length;
    for (const ValueId id : test.graph.inputs) {
      std::int64_t count = 1;
      for (const std::int64_t dim : test.graph.values[static_cast<std::size_t>(id)].shape) {
        count *= dim < 0 ? length : dim;
      }
      item.inputs.push_back(random.numbers(count, scale));
    }
    test.items.push_back(std::move(item));
  }
}

GraphCase make_case(const std::string& name, const model::Block& block,
                    const std::vector<Input>& inputs, const std::vector<std::int64_t>& lengths,
                    Random& random, double scale = 1.0) {
  GraphCase test;
  test.name = name;
  test.graph = one_block(block, inputs);
  fill_items(test, lengths, random, scale);
  return test;
}

model::InstanceNorm norm(std::int64_t channels, Random& random) {
  return {random.around({channels}, 1, 0.5), random.around({channels}, 0, 0.3)};
}

GraphCase lstm_case(std::int64_t in, std::int64_t units, std::int64_t time, int items,
                    Random& random) {
  model::BiLstm block;
  for (int d = 0; d < 2; ++d) {
    block.input_weight[d] = random.weight({4 * units, in}, 3.0);
    block.recurrent_weight[d] = random.weight({4 * units, units}, 2.0);
    block.bias[d] = random.around({4 * units}, 0, 0.4);
  }
  return make_case(fmt::format("BiLstm {}x{}x{}, {} windows", time, in, units, items), block,
                   {{{time, in}}}, std::vector<std::int64_t>(static_cast<std::size_t>(items), 0),
                   random, 2.0);
}

GraphCase tdnn_case(int layers, std::int64_t in, int dilation, Random& random) {
  model::DenseTdnnBlock block;
  block.dilation = dilation;
  std::int64_t columns = in;
  for (int i = 0; i < layers; ++i) {
    model::DenseTdnnLayer layer;
    layer.pre_scale = random.around({columns}, 1, 0.4);
    layer.pre_offset = random.around({columns}, 0.2, 0.4);
    layer.reduce_weight = random.weight({128, columns});
    layer.reduce_bias = random.around({128}, 0, 0.2);
    layer.local_weight = random.weight({32, 128, 3});
    layer.gate1_weight = random.weight({64, 128});
    layer.gate1_bias = random.around({64}, 0, 0.2);
    layer.gate2_weight = random.weight({32, 64}, 4.0);
    layer.gate2_bias = random.around({32}, 0, 0.2);
    block.layers.push_back(layer);
    columns += 32;
  }
  return make_case(fmt::format("DenseTdnnBlock {} layers, dilation {}", layers, dilation), block,
                   {{{-1, in}}}, {1, 2, 99, 100, 101, 237, 7}, random);
}

/// Filters that read the same from both ends, then ones whose ends differ by their sign.
TensorF mirrored_filters(std::int64_t even, std::int64_t odd, std::int64_t taps, Random& random) {
  const TensorF any = random.weight({even + odd, taps}, 2.0);
  std::vector<float> numbers(any.values().begin(), any.values().end());
  for (std::int64_t c = 0; c < even + odd; ++c) {
    float* filter = numbers.data() + c * taps;
    for (std::int64_t k = 0; k < taps / 2; ++k) {
      filter[taps - 1 - k] = c < even ? filter[k] : -filter[k];
    }
    if (c >= even && taps % 2 == 1) filter[taps / 2] = 0;
  }
  return {any.shape(), std::move(numbers)};
}

}  // namespace

std::vector<GraphCase> mirrored_sinc_cases() {
  Random random(7);
  std::vector<GraphCase> cases;
  const auto add = [&](const char* name, std::int64_t even, std::int64_t odd, std::int64_t taps,
                       int stride, const std::vector<std::int64_t>& lengths) {
    const model::SincConvolution block{mirrored_filters(even, odd, taps, random), stride};
    cases.push_back(make_case(fmt::format("SincConvolution, mirrored, {}", name), block, {{{-1}}},
                              lengths, random, 0.5));
  };
  add("40 and 40", 40, 40, 251, 10, {251, 260, 261, 3000, 1777});
  add("8 and 5", 8, 5, 31, 3, {31, 64, 500});
  add("an even number of taps", 3, 20, 24, 2, {24, 25, 77});
  add("few taps", 17, 2, 5, 1, {5, 50});
  add("even only", 33, 0, 63, 7, {63, 200});
  add("odd only", 0, 9, 63, 7, {63, 200});
  return cases;
}

std::vector<GraphCase> signal_cases() {
  Random random(1);
  std::vector<GraphCase> cases;
  for (const auto window : {model::LogMel::Window::kHamming, model::LogMel::Window::kPovey}) {
    const bool hamming = window == model::LogMel::Window::kHamming;
    model::LogMel block{window, hamming ? 32768.0F : 1.0F};
    GraphCase test = make_case(hamming ? "LogMel hamming" : "LogMel povey", block, {{{-1}}},
                               {400, 559, 560, 4000, 401}, random, 0.3);
    Item silence = test.items[3];
    for (float& x : silence.inputs[0]) x = 0.0F;
    for (std::size_t i = 1000; i < 2000; ++i) {
      silence.inputs[0][i] = static_cast<float>(1e-3 * std::sin(0.05 * static_cast<double>(i)));
    }
    test.items.push_back(silence);
    test.tolerance = 2e-5;
    cases.push_back(std::move(test));
  }
  const TensorF filters = random.weight({80, 251}, 2.0);
  cases.push_back(make_case("SincConvolution", model::SincConvolution{filters, 10}, {{{-1}}},
                            {251, 260, 261, 3000, 1777}, random, 0.5));
  cases.push_back(make_case("SincConvolution, odd filters",
                            model::SincConvolution{random.weight({13, 31}), 3}, {{{-1}}},
                            {31, 64, 500}, random, 0.5));
  for (GraphCase& test : mirrored_sinc_cases()) cases.push_back(std::move(test));
  for (const double mean : {0.0, 0.3}) {
    model::SincPool block{filters, norm(1, random), norm(80, random)};
    GraphCase test = make_case(fmt::format("SincPool, mean {}", mean), block,
                               {{{4000}}, {{375, 80}}}, {0, 0, 0}, random, 0.2);
    for (Item& item : test.items) {
      for (float& x : item.inputs[0]) x += static_cast<float>(mean);
    }
    std::ranges::fill(test.items[1].inputs[0], static_cast<float>(mean));  // no variance
    cases.push_back(std::move(test));
  }
  return cases;
}

std::vector<GraphCase> row_cases() {
  Random random(2);
  std::vector<GraphCase> cases;
  const auto conv1d = [&](const std::string& name, std::int64_t out, std::int64_t in,
                          std::int64_t size) {
    model::Conv1d block;
    block.weight = random.weight({out, in, size});
    block.bias = random.around({out}, 0, 0.2);
    return std::pair(name, block);
  };
  auto [name, block] = conv1d("Conv1d of SincNet", 60, 80, 5);
  block.pool3 = true;
  block.norm = norm(60, random);
  block.activation = Activation::kLeakyRelu;
  cases.push_back(make_case(name, block, {{{-1, 80}}}, {7, 100, 239, 8}, random));
  std::tie(name, block) = conv1d("Conv1d of the stem of CAM++", 128, 320, 5);
  block.stride = 2;
  block.padding = 2;
  block.activation = Activation::kRelu;
  cases.push_back(make_case(name, block, {{{-1, 320}}}, {1, 2, 37, 90}, random));
  std::tie(name, block) = conv1d("Conv1d, dilation, pool without norm", 9, 7, 3);
  block.dilation = 4;
  block.padding = 4;
  block.pool3 = true;
  block.activation = Activation::kRelu;
  cases.push_back(make_case(name, block, {{{-1, 7}}}, {3, 50, 31}, random));
  std::tie(name, block) = conv1d("Conv1d, norm without pool, fixed", 33, 3, 4);
  block.norm = norm(33, random);
  block.stride = 3;
  cases.push_back(make_case(name, block, {{{41, 3}}}, {0, 0}, random));

  const auto dense = [&](std::int64_t out, std::int64_t in, bool pre, Activation activation) {
    model::Dense dense_block;
    dense_block.weight = random.weight({out, in});
    dense_block.bias = random.around({out}, 0, 0.2);
    if (pre) dense_block.pre_scale = random.around({in}, 1, 0.5);
    if (pre) dense_block.pre_offset = random.around({in}, 0, 0.5);
    dense_block.activation = activation;
    cases.push_back(make_case(fmt::format("Dense {}x{}{}", out, in, pre ? ", norm first" : ""),
                              dense_block, {{{-1, in}}}, {1, 13, 14, 15, 200, 6}, random));
  };
  dense(128, 256, false, Activation::kLeakyRelu);
  dense(7, 128, false, Activation::kNone);
  dense(256, 512, true, Activation::kNone);
  dense(45, 129, true, Activation::kRelu);
  dense(1, 1, false, Activation::kNone);
  dense(17, 3, true, Activation::kLeakyRelu);

  GraphCase softmax = make_case("LogSoftmax", model::LogSoftmax{}, {{{-1, 7}}}, {1, 50}, random, 9);
  softmax.items[1].inputs[0][3] = 300.0F;
  cases.push_back(std::move(softmax));
  GraphCase decision =
      make_case("PowersetDecision", model::PowersetDecision{}, {{{-1, 7}}}, {1, 60}, random, 3);
  for (std::size_t i = 70; i < 140; ++i) {  // ties: the first maximum counts
    decision.items[1].inputs[0][i] = std::round(decision.items[1].inputs[0][i]);
  }
  decision.tolerance = 0;
  cases.push_back(std::move(decision));

  GraphCase masks = make_case("EmbeddingMasks", model::EmbeddingMasks{},
                              {{{-1}, model::ElementType::kU8}}, {1, 40, 589, 589}, random);
  for (std::size_t i = 0; i < masks.items.size(); ++i) {
    for (float& x : masks.items[i].inputs[0]) {
      x = static_cast<float>(i == 3 ? 4 + random.below(3) : random.below(7));
    }
  }
  // Two clean frames are too few for a speaker, three are enough.
  for (std::size_t t : {7, 100}) masks.items[3].inputs[0][t] = 1;
  for (std::size_t t : {8, 101, 300}) masks.items[3].inputs[0][t] = 2;
  masks.tolerance = 0;
  cases.push_back(std::move(masks));

  GraphCase gather =
      make_case("GatherRows", model::GatherRows{},
                {{{-1, 80}, model::ElementType::kF32, true}, {{-1}, model::ElementType::kI32}},
                {1, 9, 30}, random);
  gather.shared = {random.numbers(50 * 80), {}};
  for (Item& item : gather.items) {
    item.inputs[0].clear();
    for (float& index : item.inputs[1]) index = static_cast<float>(random.below(50));
  }
  gather.tolerance = 0;
  cases.push_back(std::move(gather));
  return cases;
}

std::vector<GraphCase> sequence_cases() {
  Random random(3);
  std::vector<GraphCase> cases;
  cases.push_back(lstm_case(60, 128, 40, 5, random));
  cases.push_back(lstm_case(256, 128, 33, 14, random));
  cases.push_back(lstm_case(3, 5, 17, 3, random));
  cases.push_back(lstm_case(16, 16, 1, 1, random));
  cases.push_back(tdnn_case(3, 128, 1, random));
  cases.push_back(tdnn_case(2, 256, 2, random));
  return cases;
}

std::vector<GraphCase> map_cases() {
  Random random(4);
  std::vector<GraphCase> cases;
  for (const std::int64_t channels : {32, 5}) {
    const model::Stem stem{random.weight({channels, 1, 3, 3}), random.around({channels}, 0, 0.2)};
    cases.push_back(make_case(fmt::format("Stem {}", channels), stem, {{{-1, 80}}}, {1, 2, 31, 60},
                              random, 5.0));
  }
  const model::Stem centred{random.weight({32, 1, 3, 3}), random.around({32}, 0, 0.2), false};
  cases.push_back(
      make_case("Stem on centred rows", centred, {{{-1, 80}}}, {1, 2, 31, 60}, random, 5.0));
  struct Shape {
    std::int64_t out, in, size, frequency;
    int stride_f, stride_t;
    bool residual, relu;
  };
  for (const Shape& s : std::initializer_list<Shape>{{32, 32, 3, 6, 1, 1, false, true},
                                                     {32, 32, 3, 7, 1, 1, true, true},
                                                     {64, 32, 3, 8, 2, 2, false, true},
                                                     {64, 32, 1, 8, 2, 2, false, false},
                                                     {32, 32, 3, 5, 2, 1, false, true},
                                                     {32, 32, 1, 5, 2, 1, false, false},
                                                     {128, 128, 3, 3, 1, 1, true, true},
                                                     {256, 128, 3, 4, 2, 2, false, true},
                                                     {64, 64, 3, 9, 1, 1, true, true},
                                                     {64, 32, 3, 1, 1, 1, false, false},
                                                     {48, 80, 3, 5, 1, 1, true, true},
                                                     {256, 256, 3, 10, 1, 1, true, true},
                                                     {40, 36, 3, 6, 1, 1, true, true},
                                                     {7, 5, 3, 4, 1, 1, true, false},
                                                     {19, 3, 3, 1, 1, 2, false, true},
                                                     {33, 17, 1, 2, 1, 1, true, true}}) {
    model::Conv2d block;
    block.weight = random.weight({s.out, s.in, s.size, s.size});
    block.bias = random.around({s.out}, 0, 0.2);
    block.stride_frequency = s.stride_f;
    block.stride_time = s.stride_t;
    block.relu = s.relu;
    std::vector<Input> inputs{{{s.in, s.frequency, -1}}};
    if (s.residual) inputs.push_back({{s.out, s.frequency, -1}});
    cases.push_back(make_case(
        fmt::format("Conv2d {}x{}, {}x{}, stride {},{}{}{}", s.out, s.in, s.size, s.size,
                    s.stride_f, s.stride_t, s.residual ? ", residual" : "", s.relu ? ", relu" : ""),
        block, inputs, {1, 2, 13, 14, 15, 29, 50}, random));
  }
  cases.push_back(make_case("MapToRows", model::MapToRows{}, {{{6, 5, -1}}}, {1, 3, 20}, random));
  return cases;
}

std::vector<GraphCase> statistics_cases() {
  Random random(5);
  std::vector<GraphCase> cases;
  for (const std::int64_t columns : {512, 9}) {
    const model::StatsHead block{random.weight({192, 2 * columns}), random.around({192}, 0, 0.2)};
    cases.push_back(make_case(fmt::format("StatsHead {}", columns), block, {{{-1, columns}}},
                              {1, 2, 3, 150}, random));
  }
  struct Shape {
    std::int64_t channels, frequency, time;
    int speakers;
    bool head;
  };
  for (const Shape& s : std::initializer_list<Shape>{
           {256, 10, 125, 3, true}, {5, 3, 17, 2, true}, {5, 3, 17, 2, false}}) {
    const std::int64_t statistics = 2 * s.channels * s.frequency;
    model::MaskedStatsHead block{{}, {}, s.speakers};
    if (s.head) {
      block.weight = random.weight({256, statistics});
      block.bias = random.around({256}, 0, 0.2);
    }
    GraphCase test = make_case(fmt::format("MaskedStats{} {}x{}x{}", s.head ? "Head" : "",
                                           s.channels, s.frequency, s.time),
                               block, {{{s.channels, s.frequency, s.time}}, {{s.speakers, 589}}},
                               {0, 0, 0, 0}, random);
    for (std::size_t i = 0; i < test.items.size(); ++i) {
      Numbers& masks = test.items[i].inputs[1];
      for (std::size_t j = 0; j < masks.size(); ++j) {
        const std::size_t frame = j % 589;
        const std::size_t speaker = j / 589;
        const bool on = i == 0   ? random.next() > 0
                        : i == 1 ? frame == (s.time == 125 ? 42U : 69U)  // one pooled frame
                        : i == 2 ? speaker == 1                          // others are empty
                                 : frame >= 100 && frame < 300;
        masks[j] = on ? 1.0F : 0.0F;
      }
    }
    cases.push_back(std::move(test));
  }
  return cases;
}

std::vector<GraphCase> block_cases() {
  std::vector<GraphCase> all;
  for (auto* part : {&signal_cases, &row_cases, &sequence_cases, &map_cases, &statistics_cases}) {
    for (GraphCase& test : part()) all.push_back(std::move(test));
  }
  return all;
}

}  // namespace diarist::test
