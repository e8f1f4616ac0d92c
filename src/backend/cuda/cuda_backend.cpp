#include "backend/cuda/cuda_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "backend/cuda/blocks/block_program.hpp"
#include "backend/cuda/campplus/campplus_program.hpp"
#include "backend/cuda/check.hpp"
#include "backend/cuda/cuda_profiler.hpp"
#include "backend/cuda/cuda_queue.hpp"
#include "backend/cuda/device_facts.hpp"
#include "backend/cuda/embedding_program.hpp"
#include "backend/cuda/front/log_mel_front_end.hpp"
#include "backend/cuda/front/sinc_front_end.hpp"
#include "backend/cuda/kernels/conv.hpp"
#include "backend/cuda/kernels/embed_ends.hpp"
#include "backend/cuda/kernels/hopper/block_walk.hpp"
#include "backend/cuda/kernels/hopper/conv_down.hpp"
#include "backend/cuda/kernels/hopper/conv_stride.hpp"
#include "backend/cuda/kernels/hopper/conv_tile.hpp"
#include "backend/cuda/kernels/hopper/conv_walk.hpp"
#include "backend/cuda/segmentation/segmentation_program.hpp"

namespace diarist::backend::cuda {
namespace {

// Allows the kernels their shared memory: before any launch, never while a batch is recorded.
cudaError_t prepare_kernels(bool hopper) {
  cudaError_t error = prepare_conv_mma();
  if (error == cudaSuccess) error = prepare_embed_ends();
  if (!hopper) return error;
  for (const auto prepare :
       {hopper::prepare_conv_tile, hopper::prepare_conv_walk, hopper::prepare_block_walk,
        hopper::prepare_conv_down, hopper::prepare_conv_stride})
    if (error == cudaSuccess) error = prepare();
  return error;
}

class CudaBackend final : public Backend, public Profiler {
 public:
  CudaBackend(int index, Family family, std::size_t max_memory) : index_(index), family_(family) {
    int count = 0;
    check(cudaGetDeviceCount(&count), "GPU");
    if (index < 0 || index >= count)
      base::fail(ErrorCode::kUnsupported,
                 "cuda:{}: this machine has {} GPU(s), counted from 0; use cuda:0 or one that "
                 "diarist info lists",
                 index, count);
    const DeviceGuard guard(index);
    check(cudaGetDeviceProperties(&properties_, index), "GPU");
    check(prepare_kernels(properties_.major == 9 && properties_.minor == 0), "kernels");
    if (max_memory == 0) {
      std::size_t free = 0, total = 0;
      check(cudaMemGetInfo(&free, &total), "GPU");
      max_memory = device_bytes_held(index) + free / 10 * 9;  // others may need the rest
    }
    limit_device_bytes(index, max_memory);
  }

  std::string name() const override { return fmt::format("cuda:{}", index_); }
  std::string kernels() const override {
    return fmt::format("{} (sm_{}{}), {}", properties_.name, properties_.major, properties_.minor,
                       family_ == Family::kAny ? "own kernels" : family_name(family_));
  }
  int threads() const noexcept override { return 1; }
  // A chunk per multiprocessor makes whole waves in most kernels.
  int preferred_items() const noexcept override {
    return std::clamp(properties_.multiProcessorCount, 32, 192);
  }
  // Eight windows a tile and direction of the LSTM, a tile per multiprocessor.
  int preferred_windows() const noexcept override {
    return std::clamp(4 * properties_.multiProcessorCount, 64, 768);
  }
  std::size_t memory_held() const noexcept override { return device_bytes_held(index_); }
  std::unique_ptr<Buffer> allocate(std::size_t bytes) override {
    return std::make_unique<CudaBuffer>(index_, bytes);
  }
  std::unique_ptr<Queue> make_queue() override { return std::make_unique<CudaQueue>(index_); }
  std::unique_ptr<Buffer> wrap(void* data, std::size_t bytes) override {
    cudaPointerAttributes attributes{};
    check(cudaPointerGetAttributes(&attributes, data), "caller's memory");
    const bool here = attributes.type == cudaMemoryTypeManaged ||
                      (attributes.type == cudaMemoryTypeDevice && attributes.device == index_);
    if (!here)
      base::fail(ErrorCode::kInvalidArgument,
                 "the caller's memory is not on {}; give memory of this GPU or a host buffer",
                 name());
    return std::make_unique<CudaBuffer>(data, bytes);
  }
  std::unique_ptr<Queue> make_queue_on(void* stream) override {
    return std::make_unique<CudaQueue>(index_, static_cast<cudaStream_t>(stream));
  }
  std::unique_ptr<Program> compile(const model::Graph& graph,
                                   const CompileOptions& options) override {
    return compile_with(graph, options, family_);
  }

  // Profiler
  std::size_t device_bytes() override { return device_bytes_held(); }
  DeviceState state() override { return profiler().state(); }
  DevicePeaks peaks() override { return profiler().peaks(); }
  std::vector<LayerProfile> profile(Program& program, Queue& queue, const Run& run,
                                    const Measuring& measuring) override {
    return profiler().profile(program, queue, run, measuring);
  }
  std::vector<AlgorithmRow> algorithms(const model::Graph& graph, const CompileOptions& options,
                                       const Measuring& measuring) override {
    return profiler().algorithms(graph, options, measuring);
  }
  std::vector<FusionRow> fusion(const model::Graph& graph, const CompileOptions& options,
                                const Measuring& measuring) override {
    return profiler().fusion(graph, options, measuring);
  }
  std::vector<std::string> tune(const model::Graph& graph, const CompileOptions& options,
                                std::span<const int> batches, const Measuring& measuring) override {
    return profiler().tune(graph, options, batches, measuring);
  }
  void write_tune_file(const std::filesystem::path& file) override { profiler().write(file); }
  std::vector<std::string> check_tune_file(const std::filesystem::path& file) override {
    std::vector<std::string> lines;
    for (const TuneEntry& entry : tuned_choices(file)) lines.push_back(entry_text(entry));
    return lines;
  }

 private:
  std::unique_ptr<Program> compile_with(const model::Graph& graph, const CompileOptions& options,
                                        Family family) {
    if (!is_embedding(graph)) return compile_blocks(graph, options, family);
    ModelOptions wanted;
    wanted.choice.mode = mode_of(options.precision);
    wanted.choice.family = family;
    wanted.choice.kernel_only = options.kernel_only;
    wanted.choice.items = options.max_items;
    if (!options.tune_file.empty()) {
      if (family != Family::kAny)
        base::fail(ErrorCode::kInvalidArgument,
                   "{}: a tune file chooses kernels, and so does the forced family {}; leave one "
                   "of them out",
                   options.tune_file.string(), family_name(family));
      wanted.tuned = tuned_choices(options.tune_file);
      const bool any =
          std::any_of(wanted.tuned.begin(), wanted.tuned.end(),
                      [&](const TuneEntry& entry) { return entry.mode == wanted.choice.mode; });
      if (!any)
        base::fail(ErrorCode::kInvalidArgument,
                   "{} holds no choices for {} mode; run diarist tune --precision {} or leave the "
                   "file out",
                   options.tune_file.string(), mode_name(wanted.choice.mode),
                   mode_name(wanted.choice.mode));
    }
    auto model = std::make_shared<const EmbeddingModel>(index_, graph, wanted);
    return std::make_unique<EmbeddingProgram>(std::move(model), graph, options);
  }

  // The tuned program for a graph, or the one that runs every graph.
  std::unique_ptr<Program> compile_blocks(const model::Graph& graph, const CompileOptions& options,
                                          Family family) const {
    if (family == Family::kFp32) return std::make_unique<BlockProgram>(index_, graph, options);
    if (SincFrontEnd::serves(graph)) return std::make_unique<SincFrontEnd>(index_, graph, options);
    if (LogMelFrontEnd::serves(graph))
      return std::make_unique<LogMelFrontEnd>(index_, graph, options);
    if (SegmentationProgram::serves(graph, device_facts(index_)))
      return std::make_unique<SegmentationProgram>(index_, graph, options);
    if (campplus::CampplusProgram::serves(graph, options, index_))
      return std::make_unique<campplus::CampplusProgram>(
          index_, graph, options,
          [index = index_](const model::Graph& again, const CompileOptions& its) {
            return std::make_unique<BlockProgram>(index, again, its);
          });
    return std::make_unique<BlockProgram>(index_, graph, options);
  }

  std::vector<TuneEntry> tuned_choices(const std::filesystem::path& file) {
    return load_tune_file(file, profiler().identity(), profiler().facts()).entries;
  }

  // Made when first asked for: it opens the driver's management library.
  CudaProfiler& profiler() {
    const std::lock_guard lock(mutex_);
    if (profiler_ == nullptr) profiler_ = std::make_unique<CudaProfiler>(index_);
    return *profiler_;
  }

  int index_;
  Family family_;
  cudaDeviceProp properties_{};
  std::mutex mutex_;
  std::unique_ptr<CudaProfiler> profiler_;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(int index, Family family, std::size_t max_memory) {
  return std::make_unique<CudaBackend>(index, family, max_memory);
}

Family family_named(const std::string& name) {
  if (name.empty()) return Family::kAny;
  for (const Family family : {Family::kHopper, Family::kPortable, Family::kFp32, Family::kLibrary})
    if (name == family_name(family)) return family;
  base::fail(ErrorCode::kInvalidArgument,
             "no kernels called \"{}\"; known are hopper, portable, fp32 and library", name);
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
