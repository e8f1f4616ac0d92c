#pragma once
// Helpers of the functions that build graphs.

#include <string>
#include <utility>
#include <vector>

#include "model/graph.hpp"
#include "model/shapes.hpp"

namespace diarist::model {

/// Appends inputs and nodes; shapes of values are inferred, so they can't contradict the blocks.
class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name) { graph_.name = std::move(name); }

  ValueId input(const std::string& name, base::Shape shape, ElementType type = ElementType::kF32,
                bool shared = false) {
    graph_.inputs.push_back(append({name, type, std::move(shape), shared}));
    return graph_.inputs.back();
  }

  /// \param weights name of the node, that of its weights. \param name of the value it makes.
  ValueId add(const std::string& weights, Block block, const std::vector<ValueId>& inputs,
              const std::string& name) {
    std::vector<Value> arguments;
    for (const ValueId id : inputs) arguments.push_back(graph_.values[id]);
    Value output = infer_value(block, arguments);
    output.name = name;
    const ValueId id = append(std::move(output));
    graph_.nodes.push_back({weights, std::move(block), inputs, id});
    return id;
  }

  Graph finish(std::vector<ValueId> outputs) {
    graph_.outputs = std::move(outputs);
    return std::move(graph_);
  }

 private:
  ValueId append(Value value) {
    graph_.values.push_back(std::move(value));
    return static_cast<ValueId>(graph_.values.size()) - 1;
  }

  Graph graph_;
};

}  // namespace diarist::model
