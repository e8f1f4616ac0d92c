#include "backend/cuda/blocks/plan.hpp"

#include <algorithm>

#include "backend/cuda/activation_store.hpp"

namespace diarist::backend::cuda::blocks {
namespace {

using model::ValueId;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

class Planner {
 public:
  Planner(const model::Graph& graph, const std::vector<std::int64_t>& longest,
          const DeviceTraits& device)
      : graph_(graph), longest_(longest), device_(device) {}

  Plan make(int max_items, std::size_t budget) {
    plan_.arrays.resize(graph_.values.size());
    lifetimes_.resize(graph_.values.size());
    find_nodes();
    find_homes();
    // Items that share the workspace: as even parts of the batch as there are.
    const std::size_t item_bytes = std::max<std::size_t>(place(1), 1);
    const auto fit = static_cast<int>(
        std::clamp<std::size_t>(budget / item_bytes, 1, at(std::min(max_items, kMostItems))));
    const int parts = (max_items + fit - 1) / fit;
    plan_.items = (max_items + parts - 1) / parts;
    plan_.bytes = place(plan_.items);
    return std::move(plan_);
  }

 private:
  const model::Value& value(ValueId id) const { return graph_.values[at(id)]; }

  void find_nodes() {
    std::vector<bool> needed(graph_.values.size(), false);
    for (const ValueId id : graph_.outputs) needed[at(id)] = true;
    std::vector<int> order;
    for (int n = static_cast<int>(graph_.nodes.size()) - 1; n >= 0; --n) {
      const model::Node& node = graph_.nodes[at(n)];
      if (!needed[at(node.output)]) continue;
      order.push_back(n);
      for (const ValueId id : node.inputs) needed[at(id)] = true;
    }
    for (auto n = order.rbegin(); n != order.rend(); ++n) add_node(*n);
  }

  void add_node(int n) {
    const model::Node& node = graph_.nodes[at(n)];
    std::vector<model::Value> inputs;
    for (const ValueId id : node.inputs) inputs.push_back(value(id));
    NodePlan planned;
    planned.node = n;
    planned.step = make_step(node.block, {inputs, value(node.output), device_});
    planned.hidden = planned.step->hidden();
    planned.first_hidden = plan_.arrays.size();
    const int now = static_cast<int>(plan_.nodes.size());
    const std::int64_t in = time_of(node.inputs[0]), out = time_of(node.output);
    for (const Hidden& hidden : planned.hidden)
      add_workspace(plan_.arrays.emplace_back(), lifetimes_.emplace_back(),
                    hidden.width * hidden.rows(in, out), 4, now);
    for (const ValueId id : node.inputs) lifetimes_[at(id)].last = now;
    const std::int64_t count = elements(value(node.output), longest_[at(node.output)]);
    add_workspace(plan_.arrays[at(node.output)], lifetimes_[at(node.output)], count,
                  element_bytes(value(node.output).type), now);
    plan_.nodes.push_back(std::move(planned));
  }

  std::int64_t time_of(ValueId id) const {
    return is_ragged(value(id)) ? longest_[at(id)] : fixed_time(value(id));
  }

  static void add_workspace(ArrayPlan& array, Lifetime& lifetime, std::int64_t count,
                            std::int64_t bytes, int now) {
    constexpr std::int64_t kAlign = 64;  // elements
    array.home = Home::kWorkspace;
    array.stride = (std::max<std::int64_t>(count, 1) + kAlign - 1) / kAlign * kAlign;
    lifetime.bytes = at(array.stride * bytes);
    lifetime.first = lifetime.last = now;
  }

  /// Values in the caller's buffers leave the workspace again.
  void find_homes() {
    const auto settle = [&](ValueId id, Home home, std::size_t view) {
      plan_.arrays[at(id)] = {home, static_cast<int>(view), 0, 0};
      lifetimes_[at(id)].bytes = 0;
    };
    for (std::size_t v = 0; v < graph_.outputs.size(); ++v) {
      const ValueId id = graph_.outputs[v];
      const auto input = std::ranges::find(graph_.inputs, id);
      const auto first = std::ranges::find(graph_.outputs, id) - graph_.outputs.begin();
      if (input != graph_.inputs.end())
        plan_.copies.push_back({true, at(input - graph_.inputs.begin()), v});
      else if (at(first) != v)
        plan_.copies.push_back({false, at(first), v});
      else
        settle(id, Home::kOutput, v);
    }
    for (std::size_t v = 0; v < graph_.inputs.size(); ++v)
      settle(graph_.inputs[v], value(graph_.inputs[v]).shared ? Home::kShared : Home::kInput, v);
  }

  std::size_t place(int items) {
    std::vector<Lifetime> maps = lifetimes_;
    for (Lifetime& map : maps) map.bytes *= at(items);
    const Placement placement = place_maps(maps);
    for (std::size_t i = 0; i < maps.size(); ++i) plan_.arrays[i].offset = placement.offsets[i];
    return placement.bytes;
  }

  const model::Graph& graph_;
  const std::vector<std::int64_t>& longest_;
  const DeviceTraits& device_;
  Plan plan_;
  std::vector<Lifetime> lifetimes_;  // by array; bytes of one item
};

}  // namespace

std::int64_t fixed_time(const model::Value& value) {
  if (value.shape.empty()) return 1;
  return value.shape.size() == 3 ? value.shape[2] : value.shape[0];
}

bool is_ragged(const model::Value& value) {
  return !value.shared && std::ranges::find(value.shape, -1) != value.shape.end();
}

std::int64_t element_bytes(model::ElementType type) {
  return type == model::ElementType::kU8 ? 1 : 4;
}

std::int64_t elements(const model::Value& value, std::int64_t time) {
  std::int64_t count = 1;
  for (const std::int64_t dim : value.shape) count *= dim < 0 ? time : dim;
  return count;
}

Plan make_plan(const model::Graph& graph, const std::vector<std::int64_t>& longest, int max_items,
               std::size_t budget, const DeviceTraits& device) {
  return Planner(graph, longest, device).make(max_items, budget);
}

}  // namespace diarist::backend::cuda::blocks
