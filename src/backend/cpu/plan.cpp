#include "backend/cpu/plan.hpp"

#include <algorithm>
#include <variant>

#include "backend/cpu/step.hpp"

namespace diarist::backend::cpu {
namespace {

using model::Graph;
using model::Node;
using model::ValueId;

/// Every piece of memory starts on a cache line.
std::int64_t rounded(std::int64_t floats) { return (floats + 15) / 16 * 16; }

/// Hands out stretches of one worker's memory; a stretch is used again once its value is dead.
class Stretches {
 public:
  std::int64_t take(std::int64_t floats) {
    int best = -1;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const bool fits = all_[i].free && all_[i].floats >= floats;
      if (fits && (best < 0 || all_[i].floats < all_[static_cast<std::size_t>(best)].floats)) {
        best = static_cast<int>(i);
      }
    }
    if (best < 0) {
      best = static_cast<int>(all_.size());
      all_.push_back({end_, floats, true});
      end_ += floats;
    }
    all_[static_cast<std::size_t>(best)].free = false;
    return all_[static_cast<std::size_t>(best)].offset;
  }

  void give_back(std::int64_t offset) {
    for (Stretch& each : all_) {
      if (each.offset == offset) each.free = true;
    }
  }

  std::int64_t end() const { return end_; }

 private:
  struct Stretch {
    std::int64_t offset;
    std::int64_t floats;
    bool free;
  };
  std::vector<Stretch> all_;
  std::int64_t end_ = 0;
};

class Planner {
 public:
  Planner(const Graph& graph, const std::vector<std::int64_t>& lengths)
      : graph_(graph), lengths_(lengths), uses_(graph.values.size()) {}

  Plan make() {
    plan_.places.resize(graph_.values.size());
    choose_nodes();
    choose_homes();
    place_in_items();
    place_in_workers();
    return std::move(plan_);
  }

 private:
  struct Uses {
    bool needed = false;
    int first_phase = -1;
    int last_phase = -1;
    int last_node = -1;
  };

  static std::size_t at(ValueId id) { return static_cast<std::size_t>(id); }
  const Node& node(int n) const { return graph_.nodes[static_cast<std::size_t>(n)]; }
  std::int64_t floats(ValueId id) const {
    return rounded(value_floats(graph_.values[at(id)], lengths_[at(id)]));
  }

  /// Only nodes that an output depends on, cut into phases.
  void choose_nodes() {
    for (const ValueId id : graph_.outputs) uses_[at(id)].needed = true;
    std::vector<int> wanted;
    for (int n = static_cast<int>(graph_.nodes.size()) - 1; n >= 0; --n) {
      if (!uses_[at(node(n).output)].needed) continue;
      wanted.push_back(n);
      for (const ValueId id : node(n).inputs) uses_[at(id)].needed = true;
    }
    std::ranges::reverse(wanted);
    for (const ValueId id : graph_.inputs) uses_[at(id)].first_phase = uses_[at(id)].last_phase = 0;
    for (const int n : wanted) {
      const bool tiles = std::holds_alternative<model::BiLstm>(node(n).block);
      if (plan_.phases.empty() || tiles || plan_.phases.back().tiles) {
        plan_.phases.push_back({tiles, {}});
      }
      plan_.phases.back().nodes.push_back(n);
      const int phase = static_cast<int>(plan_.phases.size()) - 1;
      Uses& output = uses_[at(node(n).output)];
      output.first_phase = output.last_phase = phase;
      output.last_node = n;
      for (const ValueId id : node(n).inputs) {
        uses_[at(id)].last_phase = phase;
        uses_[at(id)].last_node = n;
      }
    }
  }

  void choose_homes() {
    for (std::size_t id = 0; id < uses_.size(); ++id) {
      const Uses& uses = uses_[id];
      if (!uses.needed) continue;
      const bool made_in_tiles = uses.first_phase >= 0 && !plan_.phases.empty() &&
                                 plan_.phases[static_cast<std::size_t>(uses.first_phase)].tiles;
      const bool crosses = uses.first_phase != uses.last_phase || made_in_tiles;
      plan_.places[id].home = crosses ? Home::kItem : Home::kWorker;
    }
    // Maps are kept in another layout than the caller's, everything else can stay where it is.
    for (std::size_t v = 0; v < graph_.outputs.size(); ++v) {
      Place& place = plan_.places[at(graph_.outputs[v])];
      const bool first = place.home == Home::kWorker || place.home == Home::kItem;
      if (first && !is_map(graph_.values[at(graph_.outputs[v])])) {
        place.home = Home::kOutput;
        place.view = static_cast<int>(v);
      }
    }
    for (std::size_t v = 0; v < graph_.inputs.size(); ++v) {
      const model::Value& value = graph_.values[at(graph_.inputs[v])];
      Place& place = plan_.places[at(graph_.inputs[v])];
      if (is_map(value)) continue;
      place.home = value.shared ? Home::kShared : Home::kInput;
      place.view = static_cast<int>(v);
    }
  }

  /// A phase ends for all items before the next one begins, so memory of a value that no later
  /// phase reads can be given to the next phase's values.
  void place_in_items() {
    Stretches stretches;
    for (int phase = 0; phase < static_cast<int>(plan_.phases.size()); ++phase) {
      for (std::size_t id = 0; id < uses_.size(); ++id) {
        if (plan_.places[id].home != Home::kItem || uses_[id].first_phase != phase) continue;
        plan_.places[id].offset = stretches.take(floats(static_cast<ValueId>(id)));
      }
      for (std::size_t id = 0; id < uses_.size(); ++id) {
        if (plan_.places[id].home != Home::kItem || uses_[id].last_phase != phase) continue;
        stretches.give_back(plan_.places[id].offset);
      }
    }
    plan_.item_floats = stretches.end();
  }

  void place_in_workers() {
    Stretches stretches;
    const auto take = [&](ValueId id) {
      Place& place = plan_.places[at(id)];
      if (place.home == Home::kWorker) place.offset = stretches.take(floats(id));
    };
    for (const ValueId id : graph_.inputs) take(id);
    for (const Phase& phase : plan_.phases) {
      for (const int n : phase.nodes) {
        const ValueId residual = dying_residual(n);
        if (residual >= 0) {
          plan_.places[at(node(n).output)].offset = plan_.places[at(residual)].offset;
        } else {
          take(node(n).output);
        }
        std::vector<ValueId> ended = node(n).inputs;
        ended.push_back(node(n).output);
        for (const ValueId id : ended) {
          const bool dead = uses_[at(id)].last_node == n && id != residual;
          if (dead && plan_.places[at(id)].home == Home::kWorker) {
            stretches.give_back(plan_.places[at(id)].offset);
          }
        }
      }
    }
    plan_.worker_floats = stretches.end();
  }

  /// A residual that nobody needs after this convolution: its memory takes the sum. -1: none.
  ValueId dying_residual(int n) const {
    if (!std::holds_alternative<model::Conv2d>(node(n).block) || node(n).inputs.size() != 2) {
      return -1;
    }
    const ValueId residual = node(n).inputs[1];
    const bool both_here = plan_.places[at(residual)].home == Home::kWorker &&
                           plan_.places[at(node(n).output)].home == Home::kWorker;
    const bool dies = uses_[at(residual)].last_node == n && residual != node(n).inputs[0];
    return both_here && dies ? residual : -1;
  }

  const Graph& graph_;
  const std::vector<std::int64_t>& lengths_;
  std::vector<Uses> uses_;
  Plan plan_;
};

}  // namespace

bool is_ragged(const model::Value& value) {
  return !value.shared && std::ranges::find(value.shape, -1) != value.shape.end();
}

bool is_map(const model::Value& value) {
  return value.type == model::ElementType::kF32 && value.shape.size() == 3;
}

std::int64_t value_floats(const model::Value& value, std::int64_t time) {
  base::Shape shape = value.shape;
  std::ranges::replace(shape, std::int64_t{-1}, time);
  if (is_map(value)) return map_floats(shape[0], shape[1], shape[2]);
  return base::element_count(shape);
}

Plan make_plan(const model::Graph& graph, const std::vector<std::int64_t>& lengths) {
  return Planner(graph, lengths).make();
}

}  // namespace diarist::backend::cpu
