#pragma once
// One block as a graph, run on the reference backend with arrays as inputs.

#include <cstring>
#include <memory>
#include <vector>

#include "backend/reference/reference_backend.hpp"
#include "model/shapes.hpp"

namespace diarist::test {

using Numbers = std::vector<float>;

struct Operand {
  base::Shape shape;
  Numbers numbers;
};

inline model::Graph block_graph(model::Block block, const std::vector<base::Shape>& shapes) {
  model::Graph graph;
  graph.name = model::block_name(block);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    graph.values.push_back({"in" + std::to_string(i), model::ElementType::kF32, shapes[i], false});
    graph.inputs.push_back(static_cast<model::ValueId>(i));
  }
  model::Value out = model::infer_value(block, graph.values);
  out.name = "out";
  graph.outputs = {static_cast<model::ValueId>(graph.values.size())};
  graph.nodes.push_back({"block", std::move(block), graph.inputs, graph.outputs[0]});
  graph.values.push_back(out);
  return graph;
}

/// Uploads numbers into a buffer of their own size.
inline std::unique_ptr<backend::Buffer> buffer_of(backend::Backend& backend,
                                                  const Numbers& numbers) {
  auto buffer = backend.allocate(numbers.size() * sizeof(float));
  backend.make_queue()->upload(*buffer, 0, std::as_bytes(std::span(numbers)));
  return buffer;
}

inline Numbers numbers_of(backend::Backend& backend, const backend::Buffer& buffer) {
  Numbers numbers(buffer.bytes() / sizeof(float));
  backend.make_queue()->download(buffer, 0, std::as_writable_bytes(std::span(numbers)));
  return numbers;
}

/// Shape and numbers of a block's output for one item of fixed shapes (f32 outputs).
inline Operand run_block(const model::Block& block, const std::vector<Operand>& inputs) {
  const auto backend = backend::reference::make_reference_backend(1);
  std::vector<base::Shape> shapes;
  for (const Operand& input : inputs) shapes.push_back(input.shape);
  const model::Graph graph = block_graph(block, shapes);
  const auto program = backend->compile(graph, {});
  const auto queue = backend->make_queue();
  std::vector<std::unique_ptr<backend::Buffer>> buffers;
  backend::Run run;
  run.items = 1;
  for (const Operand& input : inputs) {
    buffers.push_back(buffer_of(*backend, input.numbers));
    run.inputs.push_back({buffers.back().get(), 0, 0, 0});
  }
  const base::Shape& shape = graph.values.back().shape;
  const auto out = backend->allocate(static_cast<std::size_t>(base::element_count(shape)) * 4);
  run.outputs = {{out.get(), 0, 0, 0}};
  program->run(*queue, run);
  return {shape, numbers_of(*backend, *out)};
}

}  // namespace diarist::test
