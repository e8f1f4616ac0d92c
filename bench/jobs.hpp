#pragma once
// Blocks and networks of the CPU backend with numbers of their own, ready to run on one thread.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "model/graph.hpp"

namespace diarist::bench {

/// A graph with as many items as asked for, on buffers of its own.
class Job {
 public:
  Job(const std::string& target, const model::Graph& graph, int items, std::int64_t length,
      Precision precision = Precision::kExact);
  void run() { program_->run(*queue_, run_); }
  std::span<const backend::Choice> choices() const { return program_->choices(); }

 private:
  backend::View view(const model::Graph& graph, model::ValueId id,
                     const std::vector<std::int64_t>& longest, int items);

  std::unique_ptr<backend::Backend> backend_;
  std::unique_ptr<backend::Queue> queue_;
  std::unique_ptr<backend::Program> program_;
  std::vector<std::unique_ptr<backend::Buffer>> buffers_;
  std::vector<std::int32_t> lengths_;
  backend::Run run_;
};

struct Named {
  std::string name;
  std::function<model::Graph()> graph;
  int items;
  std::int64_t length;
  double gigaflop;  // per item, of the direct form
};

std::vector<Named> jobs();

}  // namespace diarist::bench
