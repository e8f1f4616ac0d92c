#include "backend/cpu/program.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/run_control.hpp"
#include "model/shapes.hpp"

namespace diarist::backend::cpu {
namespace {

using model::ElementType;
using model::ValueId;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

std::int64_t element_bytes(ElementType type) { return type == ElementType::kU8 ? 1 : 4; }

/// Time axis of a value's shape: the last of a map or a vector, the first of rows. Fixed values
/// without time have a harmless number there.
std::int64_t fixed_time(const model::Value& value) {
  if (value.shape.empty()) return 1;
  return is_map(value) ? value.shape[2] : value.shape[0];
}

void* address(const View& view, ElementType type, std::int64_t start) {
  return static_cast<std::byte*>(view.buffer->host()) + start * element_bytes(type);
}

}  // namespace

CpuProgram::CpuProgram(const model::Graph& graph, const CompileOptions& options,
                       base::TaskPool& pool, std::int64_t target, const Bf16Kernels* bf16)
    : graph_(graph), options_(options), pool_(pool) {
  for (const ValueId id : graph_.inputs) ragged_ = ragged_ || is_ragged(value(id));
  if (options.max_items < 1 || (ragged_ && options.max_length < 1)) {
    base::fail(ErrorCode::kInvalidArgument,
               "graph {} compiled for {} items of length {}; both must be at least 1", graph.name,
               options.max_items, options.max_length);
  }
  const std::vector<std::int64_t> longest =
      model::ragged_lengths(graph_, ragged_ ? options.max_length : 0);
  plan_ = make_plan(graph_, longest);
  make_operations(target, bf16);
  find_copies();
  reserve(longest);
}

const model::Value& CpuProgram::value(ValueId id) const { return graph_.values[at(id)]; }

void CpuProgram::make_operations(std::int64_t target, const Bf16Kernels* bf16) {
  operations_.resize(graph_.nodes.size());
  // What is lost in front of dense TDNN blocks reaches every layer of them: with plain bf16 maps an
  // embedding of CAM++ comes out with a cosine of 0.9993 only.
  const bool split = std::ranges::any_of(graph_.nodes, [](const model::Node& node) {
    return std::holds_alternative<model::DenseTdnnBlock>(node.block);
  });
  for (const Phase& phase : plan_.phases) {
    for (const int n : phase.nodes) {
      const model::Node& node = graph_.nodes[at(n)];
      std::vector<model::Value> inputs;
      for (const ValueId id : node.inputs) inputs.push_back(value(id));
      const NodeShapes shapes{inputs, value(node.output), target, bf16, split};
      Operation& operation = operations_[at(n)];
      operation.inputs = node.inputs;
      operation.output = node.output;
      if (phase.tiles) {
        operation.tile = make_tile_step(node.block, shapes);
        choices_.push_back({node.name, operation.tile->kernel(), operation.tile->reason()});
      } else {
        operation.step = make_step(node.block, shapes);
        choices_.push_back({node.name, operation.step->kernel(), operation.step->reason()});
      }
    }
  }
}

void CpuProgram::find_copies() {
  for (std::size_t v = 0; v < graph_.outputs.size(); ++v) {
    const ValueId id = graph_.outputs[v];
    const auto input = std::ranges::find(graph_.inputs, id);
    if (input != graph_.inputs.end()) {
      copies_.push_back({true, at(input - graph_.inputs.begin()), v});
      continue;
    }
    const auto first = at(std::ranges::find(graph_.outputs, id) - graph_.outputs.begin());
    if (first != v) copies_.push_back({false, first, v});
  }
}

void CpuProgram::reserve(const std::vector<std::int64_t>& longest) {
  std::int64_t scratch = 0;
  std::size_t most_arguments = 1;
  for (const Operation& operation : operations_) {
    if (operation.output < 0) continue;
    std::int64_t time = 1;
    std::vector<ValueId> ids = operation.inputs;
    ids.push_back(operation.output);
    for (const ValueId id : ids) {
      if (value(id).shared) continue;
      time = std::max(time, is_ragged(value(id)) ? longest[at(id)] : fixed_time(value(id)));
    }
    const Step* step = operation.step.get();
    scratch = std::max(scratch, step != nullptr ? step->scratch_floats(time)
                                                : operation.tile->scratch_floats(time));
    const auto tile = operation.tile ? at(operation.tile->max_tile()) : std::size_t{1};
    most_arguments = std::max({most_arguments, operation.inputs.size(), 2 * tile});
  }
  const int workers = pool_.threads();
  scratch_offset_ = plan_.worker_floats;
  worker_stride_ = (plan_.worker_floats + scratch + 63) / 64 * 64;
  workers_ = allocate_floats(workers * worker_stride_);
  items_ = allocate_floats(options_.max_items * plan_.item_floats);
  workspace_bytes_ = at(4 * (workers * worker_stride_ + options_.max_items * plan_.item_floats));
  arguments_.assign(at(workers), std::vector<Argument>(most_arguments));
  lengths_.assign(at(options_.max_items) * graph_.values.size(), 0);
  input_starts_.assign(graph_.inputs.size(), std::vector<std::int64_t>(at(options_.max_items)));
  output_starts_.assign(graph_.outputs.size(), std::vector<std::int64_t>(at(options_.max_items)));
}

std::int64_t CpuProgram::time_of(ValueId id, std::int64_t item) const {
  return is_ragged(value(id)) ? lengths_[at(item) * graph_.values.size() + at(id)]
                              : fixed_time(value(id));
}

std::int64_t CpuProgram::elements(ValueId id, std::int64_t item) const {
  std::int64_t count = 1;
  for (const std::int64_t dim : value(id).shape) count *= dim < 0 ? time_of(id, item) : dim;
  return count;
}

void CpuProgram::check(const Run& run) const {
  const auto require = [&](bool ok, const char* what) {
    if (!ok) base::fail(ErrorCode::kInternal, "run of graph {}: {}", graph_.name, what);
  };
  require(run.items >= 1 && run.items <= options_.max_items, "number of items");
  require(run.inputs.size() == graph_.inputs.size(), "number of inputs");
  require(run.outputs.size() == graph_.outputs.size(), "number of outputs");
  if (ragged_) {
    require(run.lengths.size() >= at(run.items), "one length per item");
    for (int i = 0; i < run.items; ++i) {
      require(run.lengths[at(i)] >= 1 && run.lengths[at(i)] <= options_.max_length,
              "length of an item");
    }
  }
}

/// Lengths of all values and places of all items, checked against the buffers.
void CpuProgram::prepare(const Run& run) {
  const std::size_t values = graph_.values.size();
  for (std::int64_t item = 0; ragged_ && item < run.items; ++item) {
    std::int64_t* of_item = lengths_.data() + at(item) * values;
    for (const ValueId id : graph_.inputs) {
      if (is_ragged(value(id))) of_item[id] = run.lengths[at(item)];
    }
    for (const model::Node& node : graph_.nodes) {
      if (!is_ragged(value(node.output))) continue;
      const auto input =
          std::ranges::find_if(node.inputs, [&](ValueId id) { return is_ragged(value(id)); });
      of_item[node.output] = model::time_length(node.block, of_item[*input]);
    }
  }
  const auto place = [&](const std::vector<ValueId>& ids, const std::vector<View>& views,
                         std::vector<std::vector<std::int64_t>>& starts) {
    for (std::size_t v = 0; v < ids.size(); ++v) {
      const View& view = views[v];
      const model::Value& it = value(ids[v]);
      if (view.buffer == nullptr || view.buffer->host() == nullptr) {
        base::fail(ErrorCode::kInternal, "value {} has no buffer in host memory", it.name);
      }
      const auto room = static_cast<std::int64_t>(view.buffer->bytes()) / element_bytes(it.type);
      const auto inside = [&](std::int64_t start, std::int64_t count) {
        if (start < 0 || count < 0 || start > room || count > room - start) {
          base::fail(ErrorCode::kInternal,
                     "value {}: elements {} to {} are outside of a buffer of {}", it.name, start,
                     start + count, room);
        }
      };
      if (it.shared) {
        std::int64_t row = 1;
        for (std::size_t d = 1; d < it.shape.size(); ++d) row *= it.shape[d];
        if (view.rows < 0 || (row > 0 && view.rows > room / row)) {
          base::fail(ErrorCode::kInternal, "value {}: {} shared rows exceed a buffer of {}",
                     it.name, view.rows, room);
        }
        inside(view.offset, view.rows * row);
        continue;
      }
      const bool back_to_back = is_ragged(it) && view.item_stride == 0;
      if (!view.positions.empty() && (is_ragged(it) || view.positions.size() < at(run.items))) {
        base::fail(ErrorCode::kInternal, "value {}: {} positions for {} items", it.name,
                   view.positions.size(), run.items);
      }
      std::int64_t next = view.offset;
      for (std::int64_t item = 0; item < run.items; ++item) {
        const std::int64_t count = elements(ids[v], item);
        if (!view.positions.empty())
          next = view.offset + view.positions[at(item)] * view.item_stride;
        inside(next, count);
        starts[v][at(item)] = next;
        next += back_to_back ? count : view.item_stride;
      }
    }
  };
  place(graph_.inputs, run.inputs, input_starts_);
  place(graph_.outputs, run.outputs, output_starts_);
}

void CpuProgram::run(Queue& queue, const Run& run) {
  queue.wait();
  check(run);
  prepare(run);
  for (const Phase& phase : plan_.phases) run_phase(phase, run);
  run_copies(run);
}

void CpuProgram::run_phase(const Phase& phase, const Run& run) {
  if (!phase.tiles) {
    const auto body = [&](std::int64_t item, int worker) { run_item(phase, run, item, worker); };
    pool_.parallel_for(run.items, std::ref(body));
    return;
  }
  // Tiles as large as the kernel likes, but enough of them for every thread. Items of different
  // lengths have tiles of their own.
  const int node = phase.nodes[0];
  const TileStep& step = *operations_[at(node)].tile;
  const std::int64_t parts = step.parts();
  const std::int64_t per_thread = (run.items * parts + pool_.threads() - 1) / pool_.threads();
  const std::int64_t size = ragged_ ? 1 : std::clamp<std::int64_t>(per_thread, 1, step.max_tile());
  const std::int64_t tiles = (run.items + size - 1) / size;
  const auto body = [&](std::int64_t task, int worker) {
    const std::int64_t first = task / parts * size;
    run_tile(node, run, first, std::min<std::int64_t>(size, run.items - first),
             static_cast<int>(task % parts), worker);
  };
  pool_.parallel_for(tiles * parts, std::ref(body));
}

void* CpuProgram::input_data(std::size_t view, const Run& run, std::int64_t item) const {
  return address(run.inputs[view], value(graph_.inputs[view]).type, input_starts_[view][at(item)]);
}

void* CpuProgram::output_data(std::size_t view, const Run& run, std::int64_t item) const {
  return address(run.outputs[view], value(graph_.outputs[view]).type,
                 output_starts_[view][at(item)]);
}

Argument CpuProgram::argument(ValueId id, const Run& run, std::int64_t item, int worker) const {
  const Place& place = plan_.places[at(id)];
  switch (place.home) {
    case Home::kNone:
      break;
    case Home::kShared: {
      const View& view = run.inputs[at(place.view)];
      return {address(view, value(id).type, view.offset), view.rows};
    }
    case Home::kInput:
      return {input_data(at(place.view), run, item), time_of(id, item)};
    case Home::kOutput:
      return {output_data(at(place.view), run, item), time_of(id, item)};
    case Home::kWorker:
      return {workers_.get() + worker * worker_stride_ + place.offset, time_of(id, item)};
    case Home::kItem:
      return {items_.get() + item * plan_.item_floats + place.offset, time_of(id, item)};
  }
  base::fail(ErrorCode::kInternal, "value {} has no place", value(id).name);
}

void CpuProgram::run_item(const Phase& phase, const Run& run, std::int64_t item, int worker) {
  base::check_stop(run.stop);
  if (&phase == plan_.phases.data()) import_maps(run, item, worker);
  std::vector<Argument>& inputs = arguments_[at(worker)];
  for (const int n : phase.nodes) {
    base::check_stop(run.stop);
    const Operation& operation = operations_[at(n)];
    for (std::size_t i = 0; i < operation.inputs.size(); ++i) {
      inputs[i] = argument(operation.inputs[i], run, item, worker);
    }
    StepCall call;
    call.inputs = {inputs.data(), operation.inputs.size()};
    call.output = argument(operation.output, run, item, worker);
    call.scratch = workers_.get() + worker * worker_stride_ + scratch_offset_;
    call.stop = &run.stop;
    operation.step->run(call);
    export_maps(operation.output, run, item, worker);
  }
}

void CpuProgram::run_tile(int node, const Run& run, std::int64_t first, std::int64_t count,
                          int part, int worker) {
  base::check_stop(run.stop);
  const Operation& operation = operations_[at(node)];
  std::vector<Argument>& all = arguments_[at(worker)];
  for (std::int64_t i = 0; i < count; ++i) {
    all[at(i)] = argument(operation.inputs[0], run, first + i, worker);
    all[at(count + i)] = argument(operation.output, run, first + i, worker);
  }
  operation.tile->run(part, {all.data(), at(count)}, {all.data() + count, at(count)},
                      workers_.get() + worker * worker_stride_ + scratch_offset_, run.stop);
}

void CpuProgram::import_maps(const Run& run, std::int64_t item, int worker) {
  for (std::size_t v = 0; v < graph_.inputs.size(); ++v) {
    const ValueId id = graph_.inputs[v];
    if (!is_map(value(id)) || plan_.places[at(id)].home == Home::kNone) continue;
    const Argument to = argument(id, run, item, worker);
    import_map(static_cast<const float*>(input_data(v, run, item)), value(id).shape[0],
               value(id).shape[1], to.time, to.floats());
  }
}

void CpuProgram::export_maps(ValueId id, const Run& run, std::int64_t item, int worker) {
  if (!is_map(value(id))) return;
  const auto output = std::ranges::find(graph_.outputs, id);
  if (output == graph_.outputs.end()) return;
  const Argument from = argument(id, run, item, worker);
  export_map(from.floats(), value(id).shape[0], value(id).shape[1], from.time,
             static_cast<float*>(output_data(at(output - graph_.outputs.begin()), run, item)));
}

void CpuProgram::run_copies(const Run& run) const {
  for (const Copy& copy : copies_) {
    const ValueId id = graph_.outputs[copy.to];
    for (std::int64_t item = 0; item < run.items; ++item) {
      const void* from =
          copy.from_input ? input_data(copy.from, run, item) : output_data(copy.from, run, item);
      std::memcpy(output_data(copy.to, run, item), from,
                  at(elements(id, item) * element_bytes(value(id).type)));
    }
  }
}

}  // namespace diarist::backend::cpu
