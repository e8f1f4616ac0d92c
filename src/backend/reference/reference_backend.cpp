#include "backend/reference/reference_backend.hpp"

#include <new>

#include "backend/reference/host_memory.hpp"
#include "backend/reference/program.hpp"
#include "base/error.hpp"

namespace diarist::backend::reference {
namespace {

class ReferenceBackend final : public Backend {
 public:
  explicit ReferenceBackend(int threads) : pool_(threads) {}

  std::string name() const override { return "reference"; }
  std::string kernels() const override { return "double loops"; }
  int threads() const noexcept override { return pool_.threads(); }
  int preferred_items() const noexcept override { return pool_.threads(); }

  std::unique_ptr<Buffer> allocate(std::size_t bytes) override {
    try {
      return std::make_unique<HostBuffer>(bytes);
    } catch (const std::bad_alloc&) {
      base::fail(ErrorCode::kOutOfMemory, "no memory for a buffer of {} bytes", bytes);
    }
  }
  std::unique_ptr<Queue> make_queue() override { return std::make_unique<HostQueue>(); }
  std::unique_ptr<Buffer> wrap(void* data, std::size_t bytes) override {
    return std::make_unique<BorrowedBuffer>(data, bytes);
  }

  std::unique_ptr<Program> compile(const model::Graph& graph,
                                   const CompileOptions& options) override {
    if (options.precision == Precision::kTf32)
      base::fail(ErrorCode::kUnsupported, "reference: TF32 needs a GPU; use exact");
    try {
      return std::make_unique<ReferenceProgram>(graph, options, pool_);
    } catch (const std::bad_alloc&) {
      base::fail(ErrorCode::kOutOfMemory, "no memory for the workspace of graph {}", graph.name);
    }
  }

 private:
  base::TaskPool pool_;
};

}  // namespace

std::unique_ptr<Backend> make_reference_backend(int threads) {
  if (threads < 0) {
    base::fail(ErrorCode::kInvalidArgument, "threads is {}; give 0 (all) or a positive number",
               threads);
  }
  return std::make_unique<ReferenceBackend>(threads == 0 ? base::usable_processors() : threads);
}

}  // namespace diarist::backend::reference
