#pragma once
// Runs a graph on a backend with arrays as inputs, and looks after the memory around the outputs.

#include <cstdint>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "model/graph.hpp"

namespace diarist::test {

/// Numbers of one value of one item, in C order. Integers fit a float exactly.
using Numbers = std::vector<float>;

struct Item {
  std::vector<Numbers> inputs;  // in the order of the graph's list; shared ones are left empty
  std::int64_t length = 0;      // of the ragged axis
};

struct GraphCase {
  std::string name;
  model::Graph graph;
  std::vector<Item> items;
  std::vector<Numbers> shared;  // by input; empty for values that items bring along
  double tolerance = 1e-5;      // of the largest number of an output
};

/// [item][output]. Fails the running test when a byte before, between or behind the outputs
/// changes.
using Outputs = std::vector<std::vector<Numbers>>;

/// \param order items to run, in this order; the result stands in the order of `order`.
Outputs run_graph(backend::Backend& backend, const GraphCase& test, const std::vector<int>& order,
                  Precision precision = Precision::kExact);
/// All items in their own order.
Outputs run_graph(backend::Backend& backend, const GraphCase& test,
                  Precision precision = Precision::kExact);

/// Reproducible numbers in [-1, 1].
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  double next();
  std::int64_t below(std::int64_t limit);
  Numbers numbers(std::int64_t count, double scale = 1.0);
  /// A weight tensor whose outputs stay near the size of its inputs.
  base::TensorF weight(const base::Shape& shape, double gain = 1.7);
  base::TensorF around(const base::Shape& shape, double centre, double spread);

 private:
  std::uint64_t state_;
};

/// Largest difference, relative to the largest magnitude of `wanted` (at least 1e-30). NaN counts
/// as infinite.
double relative_difference(const Numbers& got, const Numbers& wanted);

}  // namespace diarist::test
