#pragma once
// A backend that runs every graph block by block, whatever other programs there are.

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "backend/cuda/blocks/block_program.hpp"
#include "backend/cuda/cuda_queue.hpp"

// Skips without a GPU, or fails when DIARIST_REQUIRE_GPU=1.
#define DIARIST_BLOCKS_NEED_GPU()                                                                 \
  do {                                                                                            \
    int gpus = 0;                                                                                 \
    if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {                                  \
      const char* required = std::getenv("DIARIST_REQUIRE_GPU");                                  \
      if (required != nullptr && *required == '1') FAIL() << "DIARIST_REQUIRE_GPU=1, but no GPU"; \
      GTEST_SKIP() << "needs an NVIDIA GPU";                                                      \
    }                                                                                             \
  } while (false)

namespace diarist::test {

class BlocksBackend final : public backend::Backend {
 public:
  explicit BlocksBackend(std::size_t budget = backend::cuda::BlockProgram::kWorkspaceBudget)
      : budget_(budget) {}
  std::string name() const override { return "cuda:0"; }
  std::string kernels() const override { return "blocks"; }
  int threads() const noexcept override { return 1; }
  int preferred_items() const noexcept override { return 32; }
  std::unique_ptr<backend::Buffer> allocate(std::size_t bytes) override {
    return std::make_unique<backend::cuda::CudaBuffer>(0, bytes);
  }
  std::unique_ptr<backend::Queue> make_queue() override {
    return std::make_unique<backend::cuda::CudaQueue>(0);
  }
  std::unique_ptr<backend::Program> compile(const model::Graph& graph,
                                            const backend::CompileOptions& options) override {
    return std::make_unique<backend::cuda::BlockProgram>(0, graph, options, budget_);
  }

 private:
  std::size_t budget_;
};

}  // namespace diarist::test
