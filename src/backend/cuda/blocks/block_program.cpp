#include "backend/cuda/blocks/block_program.hpp"

#include <algorithm>

#include "backend/cuda/blocks/small_layers.hpp"
#include "backend/cuda/check.hpp"
#include "backend/cuda/cuda_queue.hpp"
#include "base/run_control.hpp"

namespace diarist::backend::cuda {
namespace {

using blocks::Argument;
using blocks::ArrayPlan;
using blocks::element_bytes;
using blocks::Home;
using blocks::is_ragged;
using blocks::NodePlan;
using blocks::Place;
using model::ValueId;

constexpr unsigned long long kNoFault = ~0ULL;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

void destroy_event(cudaEvent_t event) { cudaEventDestroy(event); }

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
      fault_copy_(make_pinned_words(device, 1, kNoFault)),
      done_(make_event(device), destroy_event) {
  const bool ragged =
      std::ranges::any_of(graph_.inputs, [&](ValueId id) { return is_ragged(value(id)); });
  if (options.max_items < 1 || (ragged && options.max_length < 1))
    base::fail(ErrorCode::kInvalidArgument,
               "graph {} compiled for {} items of length {}; both must be at least 1", graph.name,
               options.max_items, options.max_length);
  const DeviceGuard guard(device);
  plan_ = blocks::make_plan(graph_, model::ragged_lengths(graph_, ragged ? options.max_length : 0),
                            options.max_items, budget, blocks::device_traits(device));
  workspace_ = DeviceMemory(device, plan_.bytes, "workspace");
  places_ =
      std::make_unique<blocks::ItemPlaces>(graph_, plan_, options.max_items, options.max_length);
  const std::size_t table_bytes = places_->rows() * at(options.max_items) * sizeof(Place);
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
}

BlockProgram::~BlockProgram() {
  // Queued kernels use what is about to be freed.
  cudaEventSynchronize(done_.get());
}

std::size_t BlockProgram::workspace_bytes() const noexcept {
  return workspace_.bytes() + table_.bytes() + fault_.bytes();
}

const model::Value& BlockProgram::value(ValueId id) const { return graph_.values[at(id)]; }

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
  places_->check(run);
  const DeviceGuard guard(device_);
  const cudaStream_t stream = static_cast<CudaQueue&>(queue).stream();
  const std::size_t bytes = places_->rows() * at(run.items) * sizeof(Place);
  PinnedPool::Block& staging = staging_.take(bytes);
  auto* const table = reinterpret_cast<Place*>(staging.data);
  places_->fill(run, table);
  check(cudaStreamWaitEvent(stream, done_.get(), 0), "event");
  try {
    check(cudaMemcpyAsync(table_.data(), table, bytes, cudaMemcpyHostToDevice, stream),
          "places of items");
    check(cudaEventRecord(staging.released, stream), "event");
    const std::span<const int> parts = places_->parts();
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      run_items(run, table, parts[i], parts[i + 1] - parts[i], stream);
      run_copies(run, table, parts[i], parts[i + 1] - parts[i], stream);
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
  const unsigned long long fault = fault_copy_[0];
  if (fault == kNoFault) return false;
  fault_copy_[0] = kNoFault;
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
