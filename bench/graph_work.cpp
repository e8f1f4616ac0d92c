#include "graph_work.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cpu/cpu_backend.hpp"
#include "fixed_inputs.hpp"
#include "model/shapes.hpp"

namespace diarist::bench {
namespace {

using model::Graph;
using model::ValueId;

class GraphRun {
 public:
  GraphRun(const std::string& target, const Graph& graph, int items, std::int64_t length)
      : backend_(backend::cpu::make_cpu_backend(1, target)),
        queue_(backend_->make_queue()),
        program_(backend_->compile(graph, {.max_items = items, .max_length = length})),
        lengths_(static_cast<std::size_t>(items), static_cast<std::int32_t>(length)) {
    run_.items = items;
    run_.lengths = lengths_;
    const std::vector<std::int64_t> longest = model::ragged_lengths(graph, length);
    for (const ValueId id : graph.inputs) run_.inputs.push_back(view(graph, id, longest, items));
    for (const ValueId id : graph.outputs) run_.outputs.push_back(view(graph, id, longest, items));
  }

  void operator()() { program_->run(*queue_, run_); }

 private:
  backend::View view(const Graph& graph, ValueId id, const std::vector<std::int64_t>& longest,
                     int items) {
    const model::Value& value = graph.values[static_cast<std::size_t>(id)];
    std::int64_t count = 1;
    for (const std::int64_t dim : value.shape)
      count *= dim < 0 ? longest[static_cast<std::size_t>(id)] : dim;
    buffers_.push_back(backend_->allocate(static_cast<std::size_t>(4 * count * items)));
    if (value.type == model::ElementType::kF32) {
      const std::vector<float> numbers = Draws(11).numbers(count * items, 0.5);
      std::memcpy(buffers_.back()->host(), numbers.data(), 4 * numbers.size());
    }
    return {buffers_.back().get(), 0, count};
  }

  std::unique_ptr<backend::Backend> backend_;
  std::unique_ptr<backend::Queue> queue_;
  std::unique_ptr<backend::Program> program_;
  std::vector<std::unique_ptr<backend::Buffer>> buffers_;
  std::vector<std::int32_t> lengths_;
  backend::Run run_;
};

}  // namespace

std::function<void()> graph_run(const std::string& target, const Graph& graph, int items,
                                std::int64_t length) {
  return [run = std::make_shared<GraphRun>(target, graph, items, length)] { (*run)(); };
}

}  // namespace diarist::bench
