#include "backend/cpu/cpu_backend.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "backend/cpu/kernels/gemm.hpp"
#include "backend/cpu/kernels/log_mel.hpp"
#include "backend/cpu/kernels/lstm_cell.hpp"
#include "backend/cpu/kernels/mirror.hpp"
#include "backend/cpu/kernels/rows.hpp"
#include "backend/cpu/kernels/winograd.hpp"
#include "backend/cpu/packed_weights.hpp"
#include "backend/cpu/program.hpp"
#include "backend/host_mark.hpp"
#include "base/error.hpp"
#include "base/task_pool.hpp"

namespace diarist::backend::cpu {
namespace {

class CpuBuffer final : public Buffer {
 public:
  explicit CpuBuffer(std::size_t bytes)
      : bytes_(bytes), memory_(allocate_floats(static_cast<std::int64_t>(bytes / 4 + 1))) {
    std::memset(memory_.get(), 0, bytes);
  }
  std::size_t bytes() const noexcept override { return bytes_; }
  void* host() noexcept override { return memory_.get(); }

 private:
  std::size_t bytes_;
  Aligned<float> memory_;
};

/// Memory of the caller.
class BorrowedBuffer final : public Buffer {
 public:
  BorrowedBuffer(void* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  std::size_t bytes() const noexcept override { return bytes_; }
  void* host() noexcept override { return data_; }

 private:
  void* data_;
  std::size_t bytes_;
};

/// Host memory: every call is complete when it returns.
class CpuQueue final : public HostMarkQueue {
 public:
  void upload(Buffer& target, std::size_t offset, std::span<const std::byte> source) override {
    if (source.empty()) return;
    std::memcpy(part(target, offset, source.size()), source.data(), source.size());
  }
  void upload_pcm16(Buffer& target, std::size_t first,
                    std::span<const std::int16_t> source) override {
    if (source.empty()) return;
    convert(source, reinterpret_cast<float*>(part(target, 4 * first, 4 * source.size())));
  }
  void download(const Buffer& source, std::size_t offset, std::span<std::byte> target) override {
    if (target.empty()) return;
    // Reading does not change the buffer; host() only lacks a const form.
    std::memcpy(target.data(), part(const_cast<Buffer&>(source), offset, target.size()),
                target.size());
  }

 private:
  static std::byte* part(Buffer& buffer, std::size_t offset, std::size_t bytes) {
    if (buffer.host() == nullptr || offset > buffer.bytes() || bytes > buffer.bytes() - offset) {
      base::fail(ErrorCode::kInternal, "bytes {} to {} are outside of a buffer of {}", offset,
                 offset + bytes, buffer.bytes());
    }
    return static_cast<std::byte*>(buffer.host()) + offset;
  }
};

/// What the kernels themselves say they were compiled for: a table mixed up would not go unnoticed.
std::int64_t compiled_target(std::int64_t wanted) {
  for (const std::int64_t target :
       {gemm_kernels(wanted).target, row_kernels(wanted).target, lstm_kernels(wanted).target,
        log_mel_kernels(wanted).target, mirror_kernels(wanted).target,
        winograd_kernels(wanted).target}) {
    if (target == wanted) continue;
    base::fail(ErrorCode::kInternal, "kernels of {} were found in the place of those of {}",
               target_name(target), target_name(wanted));
  }
  return wanted;
}

class CpuBackend final : public Backend {
 public:
  CpuBackend(int threads, const TargetChoice& choice)
      : choice_(choice), target_(compiled_target(choice.target)), pool_(threads) {}

  std::string name() const override { return "cpu"; }
  std::string kernels() const override { return target_name(target_) + " (Highway)"; }
  int threads() const noexcept override { return pool_.threads(); }
  base::TaskPool* pool() noexcept override { return &pool_; }
  // Full LSTM tiles in both directions for every thread; two such rounds, within reason.
  int preferred_items() const noexcept override { return std::clamp(12 * pool_.threads(), 24, 96); }
  std::unique_ptr<Buffer> allocate(std::size_t bytes) override {
    return std::make_unique<CpuBuffer>(bytes);
  }
  std::unique_ptr<Queue> make_queue() override { return std::make_unique<CpuQueue>(); }
  std::unique_ptr<Buffer> wrap(void* data, std::size_t bytes) override {
    return std::make_unique<BorrowedBuffer>(data, bytes);
  }
  std::unique_ptr<Program> compile(const model::Graph& graph,
                                   const CompileOptions& options) override {
    if (options.precision == Precision::kTf32)
      base::fail(ErrorCode::kUnsupported, "cpu: TF32 needs a GPU; use exact");
    const Bf16Kernels* bf16 = options.precision == Precision::kFast ? &need_bf16(choice_) : nullptr;
    return std::make_unique<CpuProgram>(graph, options, pool_, target_, bf16);
  }

 private:
  TargetChoice choice_;
  std::int64_t target_;
  base::TaskPool pool_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(int threads, const std::string& target) {
  if (threads < 0) {
    base::fail(ErrorCode::kInvalidArgument, "{} threads: give a positive number, or 0 for all",
               threads);
  }
  std::string wanted = target;
  if (wanted.empty()) {
    const char* forced = std::getenv("DIARIST_CPU_TARGET");
    if (forced != nullptr) wanted = forced;
  }
  return std::make_unique<CpuBackend>(threads == 0 ? base::usable_processors() : threads,
                                      choose_kernels(wanted));
}

}  // namespace diarist::backend::cpu
