#include "backend/reference/program.hpp"

#include <algorithm>

#include "backend/reference/layers.hpp"
#include "base/run_control.hpp"

namespace diarist::backend::reference {
namespace {

using model::ElementType;
using model::ValueId;

std::int64_t element_bytes(ElementType type) { return type == ElementType::kU8 ? 1 : 4; }

bool is_ragged(const model::Value& value) {
  return !value.shared && std::ranges::find(value.shape, -1) != value.shape.end();
}

/// Address of `count` elements in a view's buffer; everything about to be touched is checked here.
std::byte* elements(const View& view, ElementType type, std::int64_t start, std::int64_t count,
                    const std::string& name) {
  if (view.buffer == nullptr || view.buffer->host() == nullptr) {
    base::fail(ErrorCode::kInternal, "value {} has no buffer in host memory", name);
  }
  const std::int64_t room = static_cast<std::int64_t>(view.buffer->bytes()) / element_bytes(type);
  if (start < 0 || count < 0 || start > room || count > room - start) {
    base::fail(ErrorCode::kInternal, "value {}: elements {} to {} are outside of a buffer of {}",
               name, start, start + count, room);
  }
  return static_cast<std::byte*>(view.buffer->host()) + start * element_bytes(type);
}

template <typename T>
void load_as(const std::byte* from, Array& array) {
  std::copy_n(reinterpret_cast<const T*>(from), array.values.size(), array.values.begin());
}

template <typename T>
void store_as(const Array& array, std::byte* to) {
  std::ranges::transform(array.values, reinterpret_cast<T*>(to),
                         [](double x) { return static_cast<T>(x); });
}

}  // namespace

ReferenceProgram::ReferenceProgram(const model::Graph& graph, const CompileOptions& options,
                                   base::TaskPool& pool)
    : graph_(graph), options_(options), pool_(pool) {
  for (const ValueId id : graph_.inputs) ragged_ = ragged_ || is_ragged(graph_.values[id]);
  if (options.max_items < 1 || (ragged_ && options.max_length < 1)) {
    base::fail(ErrorCode::kInvalidArgument,
               "graph {} compiled for {} items of length {}; both must be at least 1", graph.name,
               options.max_items, options.max_length);
  }
  for (const model::Node& node : graph_.nodes) {
    choices_.push_back({node.name, "double loops", "the reference knows nothing else"});
  }
  plan_slots();
  reserve_workspace();
}

void ReferenceProgram::plan_slots() {
  std::vector<std::size_t> last_use(graph_.values.size(), 0);
  for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
    last_use[graph_.nodes[n].output] = n;
    for (const ValueId id : graph_.nodes[n].inputs) last_use[id] = n;
  }
  slot_of_.assign(graph_.values.size(), -1);
  std::vector<int> free;
  const auto take = [&](ValueId id) {
    if (graph_.values[id].shared) return;
    if (free.empty()) free.push_back(slots_++);
    slot_of_[id] = free.back();
    free.pop_back();
  };
  for (const ValueId id : graph_.inputs) take(id);
  for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
    const model::Node& node = graph_.nodes[n];
    take(node.output);
    std::vector<ValueId> ended = node.inputs;
    ended.push_back(node.output);
    std::ranges::sort(ended);
    ended.erase(std::unique(ended.begin(), ended.end()), ended.end());
    for (const ValueId id : ended) {
      if (last_use[id] == n && slot_of_[id] >= 0) free.push_back(slot_of_[id]);
    }
  }
}

base::Shape ReferenceProgram::item_shape(ValueId id,
                                         const std::vector<std::int64_t>& lengths) const {
  base::Shape shape = graph_.values[id].shape;
  std::ranges::replace(shape, std::int64_t{-1}, lengths[id]);
  return shape;
}

void ReferenceProgram::reserve_workspace() {
  const std::vector<std::int64_t> lengths = model::ragged_lengths(graph_, options_.max_length);
  std::vector<std::size_t> size(slots_, 0);
  for (std::size_t id = 0; id < graph_.values.size(); ++id) {
    if (slot_of_[id] < 0) continue;
    const base::Shape shape = item_shape(static_cast<ValueId>(id), lengths);
    std::size_t& needed = size[slot_of_[id]];
    needed = std::max(needed, static_cast<std::size_t>(base::element_count(shape)));
  }
  workers_.resize(pool_.threads());  // any worker may take an item
  for (std::vector<Array>& slots : workers_) {
    slots.resize(slots_);
    for (int s = 0; s < slots_; ++s) {
      slots[s].values.reserve(size[s]);
      workspace_bytes_ += size[s] * sizeof(double);
    }
  }
}

void ReferenceProgram::check(const Run& run) const {
  const auto require = [&](bool ok, const char* what) {
    if (!ok) base::fail(ErrorCode::kInternal, "run of graph {}: {}", graph_.name, what);
  };
  require(run.items >= 1 && run.items <= options_.max_items, "number of items");
  require(run.inputs.size() == graph_.inputs.size(), "number of inputs");
  require(run.outputs.size() == graph_.outputs.size(), "number of outputs");
  for (const View& view : run.inputs) {
    require(view.positions.empty() || view.positions.size() >= static_cast<std::size_t>(run.items),
            "one position per item");
  }
  if (!ragged_) return;
  require(run.lengths.size() >= static_cast<std::size_t>(run.items), "one length per item");
  for (int i = 0; i < run.items; ++i) {
    require(run.lengths[i] >= 1 && run.lengths[i] <= options_.max_length, "length of an item");
  }
}

ReferenceProgram::Starts ReferenceProgram::starts_of(const std::vector<ValueId>& ids,
                                                     const std::vector<View>& views,
                                                     const Lengths& lengths) const {
  Starts starts(ids.size());
  for (std::size_t v = 0; v < ids.size(); ++v) {
    std::int64_t next = views[v].offset;
    const bool back_to_back = is_ragged(graph_.values[ids[v]]) && views[v].item_stride == 0;
    for (const std::vector<std::int64_t>& of_item : lengths) {
      if (!views[v].positions.empty())
        next = views[v].offset + views[v].positions[starts[v].size()] * views[v].item_stride;
      starts[v].push_back(next);
      next +=
          back_to_back ? base::element_count(item_shape(ids[v], of_item)) : views[v].item_stride;
    }
  }
  return starts;
}

void ReferenceProgram::run(Queue& queue, const Run& run) {
  queue.wait();
  check(run);
  Lengths lengths;
  for (int i = 0; i < run.items; ++i) {
    lengths.push_back(model::ragged_lengths(graph_, ragged_ ? run.lengths[i] : 0));
  }
  const Starts from = starts_of(graph_.inputs, run.inputs, lengths);
  const Starts to = starts_of(graph_.outputs, run.outputs, lengths);
  pool_.parallel_for(run.items, [&](std::int64_t item, int worker) {
    run_item(run, lengths, from, to, item, workers_[worker]);
  });
}

void ReferenceProgram::run_item(const Run& run, const Lengths& lengths, const Starts& from,
                                const Starts& to, std::int64_t item,
                                std::vector<Array>& slots) const {
  for (std::size_t v = 0; v < graph_.inputs.size(); ++v) {
    const ValueId id = graph_.inputs[v];
    const model::Value& value = graph_.values[id];
    if (value.shared) continue;
    Array& array = slots[slot_of_[id]];
    array.reset(item_shape(id, lengths[item]));
    const std::byte* source = elements(run.inputs[v], value.type, from[v][item],
                                       static_cast<std::int64_t>(array.values.size()), value.name);
    switch (value.type) {
      case ElementType::kF32:
        load_as<float>(source, array);
        break;
      case ElementType::kU8:
        load_as<std::uint8_t>(source, array);
        break;
      case ElementType::kI32:
        load_as<std::int32_t>(source, array);
        break;
    }
    store(run, to, item, id, array);  // an input may be asked for as an output
  }
  for (const model::Node& node : graph_.nodes) {
    base::check_stop(run.stop);
    Array& out = slots[slot_of_[node.output]];
    out.reset(item_shape(node.output, lengths[item]));
    run_node(node, run, slots);
    store(run, to, item, node.output, out);
  }
}

void ReferenceProgram::store(const Run& run, const Starts& to, std::int64_t item, ValueId id,
                             const Array& array) const {
  for (std::size_t v = 0; v < graph_.outputs.size(); ++v) {
    if (graph_.outputs[v] != id) continue;
    const model::Value& value = graph_.values[id];
    std::byte* target = elements(run.outputs[v], value.type, to[v][item],
                                 static_cast<std::int64_t>(array.values.size()), value.name);
    switch (value.type) {
      case ElementType::kF32:
        store_as<float>(array, target);
        break;
      case ElementType::kU8:
        store_as<std::uint8_t>(array, target);
        break;
      case ElementType::kI32:
        store_as<std::int32_t>(array, target);
        break;
    }
  }
}

SharedRows ReferenceProgram::shared_rows(const Run& run, ValueId id) const {
  for (std::size_t v = 0; v < graph_.inputs.size(); ++v) {
    if (graph_.inputs[v] != id) continue;
    const model::Value& value = graph_.values[id];
    const View& view = run.inputs[v];
    const std::int64_t columns = value.shape[1];
    const std::byte* data =
        elements(view, value.type, view.offset, view.rows * columns, value.name);
    return {reinterpret_cast<const float*>(data), view.rows, columns};
  }
  base::fail(ErrorCode::kInternal, "graph {}: shared value {} is not an input", graph_.name,
             graph_.values[id].name);
}

void ReferenceProgram::run_node(const model::Node& node, const Run& run,
                                std::vector<Array>& slots) const {
  Array& out = slots[slot_of_[node.output]];
  const auto in = [&](std::size_t i) -> const Array& { return slots[slot_of_[node.inputs[i]]]; };
  struct Visitor {
    const decltype(in)& input;
    const ReferenceProgram& program;
    const model::Node& at;
    const Run& current;
    Array& y;
    void operator()(const model::LogMel& b) const { run_log_mel(b, input(0), y); }
    void operator()(const model::SincConvolution& b) const { run_sinc_convolution(b, input(0), y); }
    void operator()(const model::SincPool& b) const { run_sinc_pool(b, input(0), input(1), y); }
    void operator()(const model::Conv1d& b) const { run_conv1d(b, input(0), y); }
    void operator()(const model::Stem& b) const { run_stem(b, input(0), y); }
    void operator()(const model::Conv2d& b) const {
      run_conv2d(b, input(0), at.inputs.size() > 1 ? &input(1) : nullptr, y);
    }
    void operator()(const model::MapToRows&) const { run_map_to_rows(input(0), y); }
    void operator()(const model::BiLstm& b) const { run_bi_lstm(b, input(0), y); }
    void operator()(const model::Dense& b) const { run_dense(b, input(0), y); }
    void operator()(const model::LogSoftmax&) const { run_log_softmax(input(0), y); }
    void operator()(const model::PowersetDecision&) const { run_powerset_decision(input(0), y); }
    void operator()(const model::EmbeddingMasks&) const { run_embedding_masks(input(0), y); }
    void operator()(const model::DenseTdnnBlock& b) const { run_dense_tdnn_block(b, input(0), y); }
    void operator()(const model::GatherRows&) const {
      run_gather_rows(program.shared_rows(current, at.inputs[0]), input(1), y);
    }
    void operator()(const model::MaskedStatsHead& b) const {
      run_masked_stats_head(b, input(0), input(1), y);
    }
    void operator()(const model::StatsHead& b) const { run_stats_head(b, input(0), y); }
  };
  std::visit(Visitor{in, *this, node, run, out}, node.block);
}

}  // namespace diarist::backend::reference
