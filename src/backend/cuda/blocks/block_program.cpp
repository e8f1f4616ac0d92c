#include "backend/cuda/blocks/block_program.hpp"

#include <algorithm>

#include "backend/cuda/blocks/small_layers.hpp"
#include "backend/cuda/check.hpp"
#include "backend/cuda/cuda_queue.hpp"
#include "base/run_control.hpp"
#include "model/shapes.hpp"

namespace diarist::backend::cuda {
namespace {

using blocks::Argument;
using blocks::ArrayPlan;
using blocks::element_bytes;
using blocks::fixed_time;
using blocks::Home;
using blocks::is_ragged;
using blocks::NodePlan;
using blocks::Place;
using model::ValueId;

constexpr unsigned long long kNoFault = ~0ULL;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

void free_pinned(unsigned long long* word) { cudaFreeHost(word); }
void destroy_event(cudaEvent_t event) { cudaEventDestroy(event); }

unsigned long long* pinned_word(int device) {
  const DeviceGuard guard(device);
  void* word = nullptr;
  check(cudaMallocHost(&word, sizeof(unsigned long long)), "page-locked host memory");
  *static_cast<unsigned long long*>(word) = kNoFault;
  return static_cast<unsigned long long*>(word);
}

cudaEvent_t make_event(int device) {
  const DeviceGuard guard(device);
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "event");
  return event;
}

std::byte* data_of(const View& view) { return static_cast<CudaBuffer&>(*view.buffer).data(); }

}  // namespace

BlockProgram::BlockProgram(int device, const model::Graph& graph, const CompileOptions& options,
                           std::size_t budget)
    : device_(device),
      graph_(graph),
      options_(options),
      staging_(device),
      fault_copy_(pinned_word(device), free_pinned),
      done_(make_event(device), destroy_event) {
  for (const ValueId id : graph_.inputs) ragged_ = ragged_ || is_ragged(value(id));
  if (options.max_items < 1 || (ragged_ && options.max_length < 1))
    base::fail(ErrorCode::kInvalidArgument,
               "graph {} compiled for {} items of length {}; both must be at least 1", graph.name,
               options.max_items, options.max_length);
  const DeviceGuard guard(device);
  plan_ = blocks::make_plan(graph_, model::ragged_lengths(graph_, ragged_ ? options.max_length : 0),
                            options.max_items, budget, blocks::device_traits(device));
  workspace_ = DeviceMemory(device, plan_.bytes, "workspace");
  const std::size_t table_bytes =
      (plan_.arrays.size() + plan_.copies.size()) * at(options.max_items) * sizeof(Place);
  table_ = DeviceMemory(device, table_bytes, "places of items");
  fault_ = DeviceMemory(device, sizeof(kNoFault), "fault word");
  check(cudaMemcpy(fault_.data(), &kNoFault, sizeof(kNoFault), cudaMemcpyHostToDevice),
        "fault word");
  // For the host to be two runs ahead without asking for more.
  std::vector<PinnedPool::Block*> spare;
  for (int i = 0; i < 3; ++i) {
    spare.push_back(&staging_.take(table_bytes));
    spare.back()->held = true;
  }
  for (PinnedPool::Block* block : spare) block->held = false;
  std::size_t most_inputs = 0, most_hidden = 0;
  for (const NodePlan& planned : plan_.nodes) {
    const model::Node& node = graph_.nodes[at(planned.node)];
    choices_.push_back({node.name, planned.step->kernel(), planned.step->reason()});
    most_inputs = std::max(most_inputs, node.inputs.size());
    most_hidden = std::max(most_hidden, planned.hidden.size());
    gathers_ = gathers_ || std::holds_alternative<model::GatherRows>(node.block);
  }
  inputs_.resize(most_inputs);
  hidden_.resize(most_hidden);
  lengths_.assign(graph_.values.size(), 0);
  next_.resize(graph_.inputs.size() + graph_.outputs.size());
}

BlockProgram::~BlockProgram() {
  // Queued kernels use what is about to be freed.
  cudaEventSynchronize(done_.get());
}

std::size_t BlockProgram::workspace_bytes() const noexcept {
  return workspace_.bytes() + table_.bytes() + fault_.bytes();
}

const model::Value& BlockProgram::value(ValueId id) const { return graph_.values[at(id)]; }

std::int64_t BlockProgram::time_of(ValueId id) const {
  return is_ragged(value(id)) ? lengths_[at(id)] : fixed_time(value(id));
}

void BlockProgram::check_run(const Run& run) const {
  const auto require = [&](bool ok, const char* what) {
    if (!ok) base::fail(ErrorCode::kInternal, "run of graph {}: {}", graph_.name, what);
  };
  require(run.items >= 1 && run.items <= options_.max_items, "number of items");
  require(run.inputs.size() == graph_.inputs.size(), "number of inputs");
  require(run.outputs.size() == graph_.outputs.size(), "number of outputs");
  if (ragged_) {
    require(run.lengths.size() >= at(run.items), "one length per item");
    for (int i = 0; i < run.items; ++i)
      require(run.lengths[at(i)] >= 1 && run.lengths[at(i)] <= options_.max_length,
              "length of an item");
  }
  const auto check_views = [&](const std::vector<ValueId>& ids, const std::vector<View>& views) {
    for (std::size_t v = 0; v < ids.size(); ++v) {
      const View& view = views[v];
      const model::Value& it = value(ids[v]);
      if (view.buffer == nullptr || view.buffer->host() != nullptr)
        base::fail(ErrorCode::kInternal, "value {} has no buffer on the GPU", it.name);
      if (!view.positions.empty() && (is_ragged(it) || view.positions.size() < at(run.items)))
        base::fail(ErrorCode::kInternal, "value {}: {} positions for {} items", it.name,
                   view.positions.size(), run.items);
      if (!it.shared) continue;
      const std::int64_t row = blocks::elements(it, 1) * element_bytes(it.type);
      const auto room = static_cast<std::int64_t>(view.buffer->bytes());
      const std::int64_t start = view.offset * element_bytes(it.type);
      if (view.rows < 0 || start < 0 || start > room ||
          (row > 0 && view.rows > (room - start) / row))
        base::fail(ErrorCode::kInternal, "value {}: {} shared rows exceed a buffer of {} bytes",
                   it.name, view.rows, room);
    }
  };
  check_views(graph_.inputs, run.inputs);
  check_views(graph_.outputs, run.outputs);
}

void BlockProgram::fill_lengths(const Run& run, int item) {
  for (const ValueId id : graph_.inputs)
    if (is_ragged(value(id))) lengths_[at(id)] = run.lengths[at(item)];
  for (const NodePlan& planned : plan_.nodes) {
    const model::Node& node = graph_.nodes[at(planned.node)];
    for (const ValueId id : node.inputs) {
      if (!is_ragged(value(id))) continue;
      lengths_[at(node.output)] = model::time_length(node.block, lengths_[at(id)]);
      break;
    }
    if (std::holds_alternative<model::StatsHead>(node.block) && time_of(node.inputs[0]) < 1)
      base::fail(ErrorCode::kInternal, "{}: item {} has no frames to pool", node.name, item);
  }
}

std::int64_t BlockProgram::start_in(const View& view, ValueId id, int item,
                                    std::int64_t& next) const {
  const model::Value& it = value(id);
  const std::int64_t count = blocks::elements(it, time_of(id));
  const auto room = static_cast<std::int64_t>(view.buffer->bytes()) / element_bytes(it.type);
  std::int64_t start = view.offset + item * view.item_stride;
  if (!view.positions.empty())
    start = view.offset + view.positions[at(item)] * view.item_stride;
  else if (is_ragged(it) && view.item_stride == 0)
    start = next;
  next = start + count;
  if (start < 0 || start > room || count > room - start)
    base::fail(ErrorCode::kInternal, "value {}: elements {} to {} are outside of a buffer of {}",
               it.name, start, start + count, room);
  return start;
}

/// A row per array in the order of the plan, then one per copied output.
void BlockProgram::fill_places(const Run& run, Place* table) {
  for (std::size_t v = 0; v < graph_.inputs.size(); ++v) next_[v] = run.inputs[v].offset;
  for (std::size_t v = 0; v < graph_.outputs.size(); ++v)
    next_[graph_.inputs.size() + v] = run.outputs[v].offset;
  for (int item = 0; item < run.items; ++item) {
    if (ragged_ || item == 0) fill_lengths(run, item);
    const auto set = [&](std::size_t row, std::int64_t start, std::int64_t length) {
      table[row * at(run.items) + at(item)] = {start, static_cast<std::int32_t>(length), 0};
    };
    const auto set_output = [&](std::size_t row, std::size_t view) {
      const ValueId id = graph_.outputs[view];
      set(row, start_in(run.outputs[view], id, item, next_[graph_.inputs.size() + view]),
          time_of(id));
    };
    for (std::size_t id = 0; id < graph_.values.size(); ++id) {
      const ArrayPlan& array = plan_.arrays[id];
      const auto of_value = static_cast<ValueId>(id);
      if (array.home == Home::kInput)
        set(id, start_in(run.inputs[at(array.view)], of_value, item, next_[at(array.view)]),
            time_of(of_value));
      else if (array.home == Home::kOutput)
        set_output(id, at(array.view));
      else if (array.home == Home::kWorkspace)
        set(id, item % plan_.items * array.stride, time_of(of_value));
    }
    for (const NodePlan& planned : plan_.nodes) {
      const model::Node& node = graph_.nodes[at(planned.node)];
      for (std::size_t i = 0; i < planned.hidden.size(); ++i) {
        const std::size_t row = planned.first_hidden + i;
        set(row, item % plan_.items * plan_.arrays[row].stride,
            planned.hidden[i].rows(time_of(node.inputs[0]), time_of(node.output)));
      }
    }
    for (std::size_t c = 0; c < plan_.copies.size(); ++c)
      set_output(plan_.arrays.size() + c, plan_.copies[c].to);
  }
}

Argument BlockProgram::placed(std::size_t row, void* base, const Run& run, const Place* table,
                              int first, int items) const {
  const std::size_t index = row * at(run.items) + at(first);
  Argument argument;
  argument.base = base;
  argument.places = table_.as<Place>() + index;
  for (std::size_t i = 0; i < at(items); ++i)
    argument.longest = std::max(argument.longest, table[index + i].length);
  return argument;
}

Argument BlockProgram::argument(ValueId id, const Run& run, const Place* table, int first,
                                int items) const {
  const ArrayPlan& array = plan_.arrays[at(id)];
  switch (array.home) {
    case Home::kShared: {
      const View& view = run.inputs[at(array.view)];
      Argument shared;
      shared.base = data_of(view) + view.offset * element_bytes(value(id).type);
      shared.rows = view.rows;
      return shared;
    }
    case Home::kInput:
      return placed(at(id), data_of(run.inputs[at(array.view)]), run, table, first, items);
    case Home::kOutput:
      return placed(at(id), data_of(run.outputs[at(array.view)]), run, table, first, items);
    case Home::kWorkspace:
      return placed(at(id), workspace_.as<std::byte>() + array.offset, run, table, first, items);
    case Home::kNone:
      break;
  }
  base::fail(ErrorCode::kInternal, "value {} has no place", value(id).name);
}

void BlockProgram::run(Queue& queue, const Run& run) {
  base::check_stop(run.stop);
  check_run(run);
  const DeviceGuard guard(device_);
  const cudaStream_t stream = static_cast<CudaQueue&>(queue).stream();
  const std::size_t bytes =
      (plan_.arrays.size() + plan_.copies.size()) * at(run.items) * sizeof(Place);
  PinnedPool::Block& staging = staging_.take(bytes);
  auto* const table = reinterpret_cast<Place*>(staging.data);
  fill_places(run, table);
  check(cudaStreamWaitEvent(stream, done_.get(), 0), "event");
  try {
    check(cudaMemcpyAsync(table_.data(), table, bytes, cudaMemcpyHostToDevice, stream),
          "places of items");
    check(cudaEventRecord(staging.released, stream), "event");
    for (int first = 0; first < run.items; first += plan_.items) {
      const int items = std::min(plan_.items, run.items - first);
      run_items(run, table, first, items, stream);
      run_copies(run, table, first, items, stream);
    }
    if (gathers_)
      check(cudaMemcpyAsync(fault_copy_.get(), fault_.data(), sizeof(kNoFault),
                            cudaMemcpyDeviceToHost, stream),
            "fault word");
    check(cudaEventRecord(done_.get(), stream), "event");
  } catch (...) {
    // What is queued already uses memory that the caller may free now.
    cudaStreamSynchronize(stream);
    cudaGetLastError();
    throw;
  }
}

void BlockProgram::run_items(const Run& run, const Place* table, int first, int items,
                             cudaStream_t stream) {
  for (const NodePlan& planned : plan_.nodes) {
    base::check_stop(run.stop);
    const model::Node& node = graph_.nodes[at(planned.node)];
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      inputs_[i] = argument(node.inputs[i], run, table, first, items);
    for (std::size_t i = 0; i < planned.hidden.size(); ++i) {
      const std::size_t row = planned.first_hidden + i;
      hidden_[i] = placed(row, workspace_.as<std::byte>() + plan_.arrays[row].offset, run, table,
                          first, items);
    }
    blocks::StepCall call;
    call.items = items;
    call.first_item = first;
    call.inputs = {inputs_.data(), node.inputs.size()};
    call.output = argument(node.output, run, table, first, items);
    call.hidden = {hidden_.data(), planned.hidden.size()};
    call.fault = fault_.as<unsigned long long>();
    call.stream = stream;
    check(planned.step->run(call), node.name.c_str());
  }
}

void BlockProgram::run_copies(const Run& run, const Place* table, int first, int items,
                              cudaStream_t stream) const {
  for (std::size_t c = 0; c < plan_.copies.size(); ++c) {
    const blocks::OutputCopy& copy = plan_.copies[c];
    const ValueId id = graph_.outputs[copy.to];
    const model::Value& it = value(id);
    const Argument to =
        placed(plan_.arrays.size() + c, data_of(run.outputs[copy.to]), run, table, first, items);
    blocks::CopyArgs args;
    args.input = argument(id, run, table, first, items).as<const std::byte>();
    args.output = to.as<std::byte>();
    args.element_bytes = static_cast<int>(element_bytes(it.type));
    args.width = args.input_pitch = args.output_pitch = blocks::elements(it, 1);
    if (!is_ragged(it)) args.rows = 1;
    check(blocks::launch_copy(args, items, to.longest, stream), it.name.c_str());
  }
}

bool BlockProgram::settle(Queue& queue, const Run& /*run*/) {
  queue.wait();
  const unsigned long long fault = *fault_copy_;
  if (fault == kNoFault) return false;
  *fault_copy_ = kNoFault;
  const DeviceGuard guard(device_);
  check(cudaMemsetAsync(fault_.data(), 0xFF, sizeof(kNoFault),
                        static_cast<CudaQueue&>(queue).stream()),
        "fault word");
  queue.wait();
  base::fail(ErrorCode::kInvalidArgument,
             "item {} of the batch: the row index at {} is outside of the shared rows", fault >> 32,
             fault & 0xFFFFFFFFU);
}

}  // namespace diarist::backend::cuda
