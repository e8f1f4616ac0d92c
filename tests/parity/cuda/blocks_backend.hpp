#pragma once
// A backend that runs every graph block by block, whatever other programs there are.

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "backend/cuda/blocks/block_program.hpp"
#include "gpu_needed.hpp"
#include "program_backend.hpp"

namespace diarist::test {

class BlocksBackend final : public ProgramBackend {
 public:
  explicit BlocksBackend(std::size_t budget = backend::cuda::BlockProgram::kWorkspaceBudget)
      : ProgramBackend("blocks"), budget_(budget) {}
  std::unique_ptr<backend::Program> compile(const model::Graph& graph,
                                            const backend::CompileOptions& options) override {
    return std::make_unique<backend::cuda::BlockProgram>(0, graph, options, budget_);
  }

 private:
  std::size_t budget_;
};

}  // namespace diarist::test
