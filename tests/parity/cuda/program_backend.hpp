#pragma once
// A backend on GPU 0 that compiles with one kind of program, whatever the product would choose.

#include <memory>
#include <string>
#include <utility>

#include "backend/cuda/cuda_queue.hpp"
#include "backend/cuda/memory.hpp"

namespace diarist::test {

class ProgramBackend : public backend::Backend {
 public:
  explicit ProgramBackend(std::string kernels) : kernels_(std::move(kernels)) {}
  std::string name() const override { return "cuda:0"; }
  std::string kernels() const override { return kernels_; }
  int threads() const noexcept override { return 1; }
  int preferred_items() const noexcept override { return 32; }
  std::unique_ptr<backend::Buffer> allocate(std::size_t bytes) override {
    return std::make_unique<backend::cuda::CudaBuffer>(0, bytes);
  }
  std::unique_ptr<backend::Queue> make_queue() override {
    return std::make_unique<backend::cuda::CudaQueue>(0);
  }

 private:
  std::string kernels_;
};

}  // namespace diarist::test
