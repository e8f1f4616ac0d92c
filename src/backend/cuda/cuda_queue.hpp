#pragma once
// A stream as a queue of work.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/memory.hpp"
#include "backend/cuda/pinned_pool.hpp"

namespace diarist::backend::cuda {

/// A non-blocking stream of its own, or the caller's, which must outlive it. Copies go through
/// page-locked memory, so that no call waits for the device; downloads reach their target in wait()
/// or wait_for().
class CudaQueue final : public Queue {
 public:
  explicit CudaQueue(int device);
  CudaQueue(int device, cudaStream_t stream) : device_(device), stream_(stream), pool_(device) {}
  ~CudaQueue() override;
  void upload(Buffer& target, std::size_t offset, std::span<const std::byte> source) override;
  void upload_pcm16(Buffer& target, std::size_t first,
                    std::span<const std::int16_t> source) override;
  void download(const Buffer& source, std::size_t offset, std::span<std::byte> target) override;
  void wait() override;
  std::unique_ptr<Mark> make_mark() override;
  void set(Mark& mark) override;
  void wait_for(Mark& mark) override;
  double seconds_between(const Mark& from, const Mark& to) override;
  cudaStream_t stream() const noexcept { return stream_; }
  int device() const noexcept { return device_; }

 private:
  // A download whose bytes are, or will be, in page-locked memory.
  struct Pending {
    PinnedPool::Block* block;
    std::span<std::byte> target;
    std::uint64_t number;
  };
  /// Copies the downloads up to a number to their targets; the device has made them.
  void collect(std::uint64_t number);

  int device_;
  cudaStream_t stream_ = nullptr;
  bool owned_ = false;
  PinnedPool pool_;
  std::vector<Pending> pending_;
  std::uint64_t number_ = 0;  // of the last download
};

}  // namespace diarist::backend::cuda
