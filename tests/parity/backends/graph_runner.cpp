#include "graph_runner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace diarist::test {
namespace {

using model::ElementType;

constexpr std::int64_t kGuard = 48;  // elements
constexpr unsigned char kPattern = 0xA5;

std::int64_t element_bytes(ElementType type) { return type == ElementType::kU8 ? 1 : 4; }

bool is_ragged(const model::Value& value) {
  return !value.shared && std::ranges::find(value.shape, -1) != value.shape.end();
}

std::vector<std::byte> encode(const Numbers& numbers, ElementType type) {
  std::vector<std::byte> bytes(numbers.size() * static_cast<std::size_t>(element_bytes(type)));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (type == ElementType::kU8) {
      bytes[i] = static_cast<std::byte>(numbers[i]);
    } else if (type == ElementType::kI32) {
      const auto integer = static_cast<std::int32_t>(numbers[i]);
      std::memcpy(&bytes[4 * i], &integer, 4);
    } else {
      std::memcpy(&bytes[4 * i], &numbers[i], 4);
    }
  }
  return bytes;
}

Numbers decode(const std::byte* from, std::int64_t count, ElementType type) {
  Numbers numbers(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (type == ElementType::kU8) {
      numbers[i] = static_cast<float>(static_cast<unsigned char>(from[i]));
    } else {
      std::memcpy(&numbers[i], from + 4 * i, 4);
    }
  }
  return numbers;
}

std::int64_t count_of(const model::Value& value, std::int64_t length) {
  std::int64_t count = 1;
  for (const std::int64_t dim : value.shape) count *= dim < 0 ? length : dim;
  return count;
}

/// One output of all items: guards before, behind, and (fixed shapes) between the items.
struct OutputArea {
  std::unique_ptr<backend::Buffer> buffer;
  backend::View view;
  std::vector<std::int64_t> start, count;  // elements, by item
};

void expect_guards(const OutputArea& area, const std::vector<std::byte>& bytes, ElementType type,
                   const std::string& name) {
  std::vector<bool> written(area.buffer->bytes(), false);
  for (std::size_t i = 0; i < area.start.size(); ++i) {
    std::fill_n(written.begin() + area.start[i] * element_bytes(type),
                area.count[i] * element_bytes(type), true);
  }
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (!written[i] && bytes[i] != std::byte{kPattern}) {
      ADD_FAILURE() << name << ": byte " << i << " outside of every item was written";
      return;
    }
  }
}

}  // namespace

Outputs run_graph(backend::Backend& backend, const GraphCase& test, const std::vector<int>& order,
                  Precision precision) {
  const model::Graph& graph = test.graph;
  backend::CompileOptions options;
  options.max_items = static_cast<int>(order.size());
  for (const Item& item : test.items)
    options.max_length = std::max(options.max_length, item.length);
  options.precision = precision;
  const auto program = backend.compile(graph, options);
  const auto queue = backend.make_queue();

  std::vector<std::int32_t> lengths;
  std::vector<std::vector<std::int64_t>> value_lengths;
  for (const int i : order) {
    lengths.push_back(static_cast<std::int32_t>(test.items[static_cast<std::size_t>(i)].length));
    value_lengths.push_back(model::ragged_lengths(graph, lengths.back()));
  }
  backend::Run run;
  run.items = static_cast<int>(order.size());
  run.lengths = lengths;

  std::vector<std::unique_ptr<backend::Buffer>> inputs;
  for (std::size_t v = 0; v < graph.inputs.size(); ++v) {
    const model::Value& value = graph.values[static_cast<std::size_t>(graph.inputs[v])];
    Numbers all;
    backend::View view;
    if (value.shared) {
      all = test.shared[v];
      view.rows = static_cast<std::int64_t>(all.size()) / value.shape[1];
    } else {
      for (const int i : order) {
        const Numbers& part = test.items[static_cast<std::size_t>(i)].inputs[v];
        all.insert(all.end(), part.begin(), part.end());
      }
      view.item_stride = is_ragged(value) ? 0 : count_of(value, 0);
    }
    const std::vector<std::byte> bytes = encode(all, value.type);
    inputs.push_back(backend.allocate(bytes.size()));
    queue->upload(*inputs.back(), 0, bytes);
    view.buffer = inputs.back().get();
    run.inputs.push_back(view);
  }

  std::vector<OutputArea> areas;
  for (const model::ValueId id : graph.outputs) {
    const model::Value& value = graph.values[static_cast<std::size_t>(id)];
    OutputArea area;
    area.view.offset = kGuard;
    std::int64_t next = kGuard;
    for (const std::vector<std::int64_t>& of_item : value_lengths) {
      area.start.push_back(next);
      area.count.push_back(count_of(value, of_item[static_cast<std::size_t>(id)]));
      next += area.count.back() + (is_ragged(value) ? 0 : kGuard);
    }
    area.view.item_stride = is_ragged(value) ? 0 : count_of(value, 0) + kGuard;
    const auto bytes = static_cast<std::size_t>((next + kGuard) * element_bytes(value.type));
    area.buffer = backend.allocate(bytes);
    queue->upload(*area.buffer, 0, std::vector<std::byte>(bytes, std::byte{kPattern}));
    area.view.buffer = area.buffer.get();
    run.outputs.push_back(area.view);
    areas.push_back(std::move(area));
  }

  program->run(*queue, run);

  Outputs outputs(order.size());
  for (std::size_t o = 0; o < areas.size(); ++o) {
    const auto id = static_cast<std::size_t>(graph.outputs[o]);
    const model::Value& value = graph.values[id];
    std::vector<std::byte> bytes(areas[o].buffer->bytes());
    queue->download(*areas[o].buffer, 0, bytes);
    queue->wait();
    expect_guards(areas[o], bytes, value.type, test.name + " " + value.name);
    for (std::size_t i = 0; i < order.size(); ++i) {
      outputs[i].push_back(decode(bytes.data() + areas[o].start[i] * element_bytes(value.type),
                                  areas[o].count[i], value.type));
    }
  }
  return outputs;
}

Outputs run_graph(backend::Backend& backend, const GraphCase& test, Precision precision) {
  std::vector<int> order(test.items.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  return run_graph(backend, test, order, precision);
}

double Random::next() {
  state_ += 0x9E3779B97F4A7C15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-52 - 1.0;
}

std::int64_t Random::below(std::int64_t limit) {
  const auto x = static_cast<std::int64_t>((next() + 1.0) / 2 * static_cast<double>(limit));
  return std::min(x, limit - 1);
}

Numbers Random::numbers(std::int64_t count, double scale) {
  Numbers numbers(static_cast<std::size_t>(count));
  for (float& x : numbers) x = static_cast<float>(scale * next());
  return numbers;
}

base::TensorF Random::weight(const base::Shape& shape, double gain) {
  std::int64_t fan_in = 1;
  for (std::size_t i = 1; i < shape.size(); ++i) fan_in *= shape[i];
  return {shape,
          numbers(base::element_count(shape), gain / std::sqrt(static_cast<double>(fan_in)))};
}

base::TensorF Random::around(const base::Shape& shape, double centre, double spread) {
  Numbers values = numbers(base::element_count(shape), spread);
  for (float& x : values) x += static_cast<float>(centre);
  return {shape, std::move(values)};
}

double relative_difference(const Numbers& got, const Numbers& wanted) {
  if (got.size() != wanted.size()) return std::numeric_limits<double>::infinity();
  double largest = 1e-30;
  double difference = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(got[i]) || std::isnan(wanted[i])) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, std::abs(static_cast<double>(wanted[i])));
    difference = std::max(difference, std::abs(static_cast<double>(got[i]) - wanted[i]));
  }
  return difference / largest;
}

}  // namespace diarist::test
