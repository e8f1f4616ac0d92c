#include "golden_runner.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iostream>
#include <span>

#include "backend/registry.hpp"
#include "base/npy.hpp"
#include "support/support.hpp"

namespace diarist::test {
namespace {

using model::ElementType;
using model::Value;

std::size_t element_bytes(ElementType type) { return type == ElementType::kU8 ? 1 : 4; }

bool is_ragged(const Value& value) {
  return !value.shared && std::ranges::find(value.shape, -1) != value.shape.end();
}

std::int64_t count_of(const Value& value, std::int64_t length) {
  std::int64_t count = 1;
  for (const std::int64_t dim : value.shape) count *= dim < 0 ? length : dim;
  return count;
}

std::vector<std::byte> encode(const Numbers& numbers, ElementType type) {
  std::vector<std::byte> bytes(numbers.size() * element_bytes(type));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto index = static_cast<std::int32_t>(type == ElementType::kI32 ? numbers[i] : 0.0F);
    const void* from = type == ElementType::kI32 ? static_cast<const void*>(&index) : &numbers[i];
    std::memcpy(bytes.data() + 4 * i, from, 4);
  }
  return bytes;
}

Numbers decode(std::span<const std::byte> bytes, ElementType type) {
  Numbers numbers(bytes.size() / element_bytes(type));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (type == ElementType::kU8) {
      numbers[i] = static_cast<float>(bytes[i]);
    } else {
      std::memcpy(&numbers[i], bytes.data() + 4 * i, 4);
    }
  }
  return numbers;
}

}  // namespace

Outputs run_batch(backend::Backend& backend, const model::Graph& graph, const Input& input) {
  backend::CompileOptions options;
  options.max_items = static_cast<int>(input.items.size());
  for (const std::int32_t length : input.lengths) {
    options.max_length = std::max<std::int64_t>(options.max_length, length);
  }
  const auto program = backend.compile(graph, options);
  const auto queue = backend.make_queue();
  std::vector<std::unique_ptr<backend::Buffer>> buffers;
  backend::Run run;
  run.items = options.max_items;
  run.lengths = input.lengths;

  for (std::size_t v = 0; v < graph.inputs.size(); ++v) {
    const Value& value = graph.values[graph.inputs[v]];
    Numbers all;
    for (const auto& item : input.items) all.insert(all.end(), item[v].begin(), item[v].end());
    backend::View view;
    view.item_stride = is_ragged(value) || value.shared ? 0 : count_of(value, 0);
    if (value.shared) {
      all = input.shared;
      view.rows = static_cast<std::int64_t>(all.size()) / value.shape[1];
    }
    const std::vector<std::byte> bytes = encode(all, value.type);
    buffers.push_back(backend.allocate(bytes.size()));
    queue->upload(*buffers.back(), 0, bytes);
    view.buffer = buffers.back().get();
    run.inputs.push_back(view);
  }

  std::vector<std::vector<std::int64_t>> counts(graph.outputs.size());
  for (std::size_t o = 0; o < graph.outputs.size(); ++o) {
    const model::ValueId id = graph.outputs[o];
    const Value& value = graph.values[id];
    std::int64_t total = 0;
    for (int i = 0; i < run.items; ++i) {
      const std::int64_t length = input.lengths.empty() ? 0 : input.lengths[i];
      counts[o].push_back(count_of(value, model::ragged_lengths(graph, length)[id]));
      total += counts[o].back();
    }
    buffers.push_back(
        backend.allocate(static_cast<std::size_t>(total) * element_bytes(value.type)));
    run.outputs.push_back({buffers.back().get(), 0, is_ragged(value) ? 0 : counts[o][0], 0});
  }
  program->run(*queue, run);

  Outputs outputs(input.items.size());
  for (std::size_t o = 0; o < graph.outputs.size(); ++o) {
    const ElementType type = graph.values[graph.outputs[o]].type;
    std::size_t at = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      std::vector<std::byte> bytes(static_cast<std::size_t>(counts[o][i]) * element_bytes(type));
      queue->download(*run.outputs[o].buffer, at, bytes);
      queue->wait();
      at += bytes.size();
      outputs[i].push_back(decode(bytes, type));
    }
  }
  return outputs;
}

Numbers golden(const std::string& file) {
  const std::filesystem::path path = shared_folder() / "spec" / "golden" / file;
  return base::read_npy(path).as<float>(path.string());
}

Numbers some_rows(const Numbers& rows, std::int64_t columns, std::int64_t first,
                  std::int64_t count) {
  return {rows.begin() + first * columns, rows.begin() + (first + count) * columns};
}

Numbers columns_over_time(const Numbers& rows, std::int64_t columns, std::int64_t step) {
  Numbers out;
  for (std::int64_t c = 0; c < columns; c += step) {
    for (std::size_t i = static_cast<std::size_t>(c); i < rows.size();
         i += static_cast<std::size_t>(columns)) {
      out.push_back(rows[i]);
    }
  }
  return out;
}

Numbers centred(const Numbers& rows, std::int64_t columns) {
  const auto width = static_cast<std::size_t>(columns);
  Numbers out = rows;
  for (std::size_t c = 0; c < width; ++c) {
    double mean = 0;
    for (std::size_t i = c; i < rows.size(); i += width) mean += rows[i];
    mean /= static_cast<double>(rows.size() / width);
    for (std::size_t i = c; i < rows.size(); i += width) {
      out[i] = static_cast<float>(rows[i] - mean);
    }
  }
  return out;
}

double largest(const Numbers& numbers) {
  double top = 0;
  for (const float x : numbers) top = std::max(top, std::abs(static_cast<double>(x)));
  return top;
}

void expect_close(const std::string& name, const Numbers& got, const Numbers& wanted,
                  double bound) {
  ASSERT_EQ(got.size(), wanted.size()) << name;
  double worst = 0;
  std::size_t where = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double difference = std::abs(static_cast<double>(got[i]) - wanted[i]);
    if (!(difference <= worst)) {  // a NaN must not pass
      worst = difference;
      where = i;
    }
  }
  std::cout << "  " << name << ": largest difference " << worst << " of " << largest(wanted)
            << " (bound " << bound << ")\n";
  testing::Test::RecordProperty(name, std::to_string(worst));
  EXPECT_LE(worst, bound) << name << " at " << where << ": " << got[where] << " instead of "
                          << wanted[where];
}

void expect_close(const std::string& name, const Numbers& got, const Numbers& wanted) {
  expect_close(name, got, wanted, 1e-5 * largest(wanted));
}

backend::Backend& GoldenTest::device() {
  if (!device_) {
    backend::BackendOptions options;
    options.device = GetParam();
    device_ = backend::make_backend(options);
  }
  return *device_;
}

// GPUs run the speaker embedding only, so far: embedder_parity_test and the CUDA tests look at it.
std::vector<std::string> golden_devices() {
  std::vector<std::string> names = backend::device_names();
  std::erase_if(names, [](const std::string& name) { return name.rfind("cuda", 0) == 0; });
  return names;
}

std::string device_test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace(name, ':', '_');
  return name;
}

}  // namespace diarist::test
