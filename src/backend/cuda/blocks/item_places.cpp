#include "backend/cuda/blocks/item_places.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "model/shapes.hpp"

namespace diarist::backend::cuda::blocks {
namespace {

using model::ValueId;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

ItemPlaces::ItemPlaces(const model::Graph& graph, const Plan& plan, int max_items,
                       std::int64_t max_length)
    : graph_(graph), plan_(plan), max_items_(max_items), max_length_(max_length) {
  for (const ValueId id : graph_.inputs) ragged_ = ragged_ || is_ragged(value(id));
  lengths_.assign(graph_.values.size(), 0);
  next_.resize(graph_.inputs.size() + graph_.outputs.size());
  sizes_.assign(plan_.arrays.size(), 0);
  used_.assign(plan_.arrays.size(), 0);
  parts_.reserve(at(max_items) + 1);
}

const model::Value& ItemPlaces::value(ValueId id) const { return graph_.values[at(id)]; }

std::int64_t ItemPlaces::time_of(ValueId id) const {
  return is_ragged(value(id)) ? lengths_[at(id)] : fixed_time(value(id));
}

void ItemPlaces::check(const Run& run) const {
  const auto require = [&](bool ok, const char* what) {
    if (!ok) base::fail(ErrorCode::kInternal, "run of graph {}: {}", graph_.name, what);
  };
  require(run.items >= 1 && run.items <= max_items_, "number of items");
  require(run.inputs.size() == graph_.inputs.size(), "number of inputs");
  require(run.outputs.size() == graph_.outputs.size(), "number of outputs");
  if (ragged_) {
    require(run.lengths.size() >= at(run.items), "one length per item");
    for (int i = 0; i < run.items; ++i)
      require(run.lengths[at(i)] >= 1 && run.lengths[at(i)] <= max_length_, "length of an item");
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
      const std::int64_t row = elements(it, 1) * element_bytes(it.type);
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

void ItemPlaces::fill_lengths(const Run& run, int item) {
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

std::int64_t ItemPlaces::start_in(const View& view, ValueId id, int item,
                                  std::int64_t& next) const {
  const model::Value& it = value(id);
  const std::int64_t count = elements(it, time_of(id));
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

void ItemPlaces::place_in_workspace(std::size_t row, std::int64_t count) {
  constexpr std::int64_t kAlign = 64;  // elements; a place begins with a sector
  sizes_[row] = (std::max<std::int64_t>(count, 1) + kAlign - 1) / kAlign * kAlign;
  full_ = full_ || used_[row] + sizes_[row] > plan_.arrays[row].stride * plan_.items;
}

void ItemPlaces::fill(const Run& run, Place* table) {
  for (std::size_t v = 0; v < graph_.inputs.size(); ++v) next_[v] = run.inputs[v].offset;
  for (std::size_t v = 0; v < graph_.outputs.size(); ++v)
    next_[graph_.inputs.size() + v] = run.outputs[v].offset;
  std::ranges::fill(used_, 0);
  parts_.clear();
  parts_.push_back(0);
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
    full_ = item - parts_.back() >= kMostItems;
    for (std::size_t id = 0; id < graph_.values.size(); ++id) {
      const ArrayPlan& array = plan_.arrays[id];
      const auto of_value = static_cast<ValueId>(id);
      if (array.home == Home::kInput)
        set(id, start_in(run.inputs[at(array.view)], of_value, item, next_[at(array.view)]),
            time_of(of_value));
      else if (array.home == Home::kOutput)
        set_output(id, at(array.view));
      else if (array.home == Home::kWorkspace)
        place_in_workspace(id, elements(value(of_value), time_of(of_value)));
    }
    for (std::size_t c = 0; c < plan_.copies.size(); ++c)
      set_output(plan_.arrays.size() + c, plan_.copies[c].to);
    for (const NodePlan& planned : plan_.nodes) {
      const model::Node& node = graph_.nodes[at(planned.node)];
      for (std::size_t i = 0; i < planned.hidden.size(); ++i) {
        const Hidden& hidden = planned.hidden[i];
        const std::size_t row = planned.first_hidden + i;
        const std::int64_t rows = hidden.rows(time_of(node.inputs[0]), time_of(node.output));
        set(row, 0, rows);
        place_in_workspace(row, rows * hidden.width);
      }
    }
    if (full_) {  // the item begins the next part, in an empty workspace
      parts_.push_back(item);
      std::ranges::fill(used_, 0);
    }
    for (std::size_t row = 0; row < plan_.arrays.size(); ++row) {
      if (plan_.arrays[row].home != Home::kWorkspace) continue;
      const bool of_value = row < graph_.values.size();
      set(row, used_[row],
          of_value ? time_of(static_cast<ValueId>(row))
                   : table[row * at(run.items) + at(item)].length);
      used_[row] += sizes_[row];
    }
  }
  parts_.push_back(run.items);
}

}  // namespace diarist::backend::cuda::blocks
