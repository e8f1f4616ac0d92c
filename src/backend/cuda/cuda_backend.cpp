#include "backend/cuda/cuda_backend.hpp"

#include <fmt/format.h>

#include "backend/cuda/check.hpp"
#include "backend/cuda/embedding_program.hpp"
#include "backend/cuda/memory.hpp"

namespace diarist::backend::cuda {
namespace {

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(int index) : index_(index) {
    int count = 0;
    check(cudaGetDeviceCount(&count), "GPU");
    if (index < 0 || index >= count)
      base::fail(ErrorCode::kUnsupported, "cuda:{}: this machine has {} GPU(s)", index, count);
    const DeviceGuard guard(index);
    check(cudaGetDeviceProperties(&properties_, index), "GPU");
  }

  std::string name() const override { return fmt::format("cuda:{}", index_); }
  std::string kernels() const override {
    return fmt::format("{} (sm_{}{}), mma", properties_.name, properties_.major, properties_.minor);
  }
  int threads() const noexcept override { return 1; }
  int preferred_items() const noexcept override { return 128; }
  std::unique_ptr<Buffer> allocate(std::size_t bytes) override {
    return std::make_unique<CudaBuffer>(index_, bytes);
  }
  std::unique_ptr<Queue> make_queue() override { return std::make_unique<CudaQueue>(index_); }
  std::unique_ptr<Program> compile(const model::Graph& graph,
                                   const CompileOptions& options) override {
    return std::make_unique<EmbeddingProgram>(index_, graph, options);
  }

 private:
  int index_;
  cudaDeviceProp properties_{};
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(int index) {
  return std::make_unique<CudaBackend>(index);
}

std::vector<std::string> cuda_device_names() {
  int count = 0;
  std::vector<std::string> names;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return names;
  }
  for (int i = 0; i < count; ++i) names.push_back(fmt::format("cuda:{}", i));
  return names;
}

}  // namespace diarist::backend::cuda
