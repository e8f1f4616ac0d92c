#include "backend/cuda/memory.hpp"

#include <atomic>
#include <cstdint>
#include <utility>

#include "backend/cuda/check.hpp"
#include "backend/cuda/cuda_queue.hpp"

namespace diarist::backend::cuda {
namespace {

// A plain count, no device object.
std::atomic<std::size_t> held_bytes{0};

}  // namespace

DeviceGuard::DeviceGuard(int device) {
  check(cudaGetDevice(&previous_), "GPU");
  if (previous_ == device) return;
  check(cudaSetDevice(device), "GPU");
  changed_ = true;
}

DeviceGuard::~DeviceGuard() {
  if (changed_) cudaSetDevice(previous_);
}

DeviceMemory::DeviceMemory(int device, std::size_t bytes, const char* what)
    : bytes_(bytes), device_(device) {
  const DeviceGuard guard(device);
  if (bytes == 0) return;
  check(cudaMalloc(&data_, bytes), what);
  held_bytes += bytes;
}

DeviceMemory::~DeviceMemory() {
  if (data_ == nullptr) return;
  int previous = 0;
  cudaGetDevice(&previous);
  cudaSetDevice(device_);
  held_bytes -= bytes_;
  cudaFree(data_);  // errors at process exit are of no use to anybody
  cudaSetDevice(previous);
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      device_(other.device_) {}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(device_, other.device_);
  return *this;
}

std::size_t device_bytes_held() noexcept { return held_bytes; }

template <typename T>
DeviceMemory to_device(int device, std::span<const T> values, const char* what) {
  DeviceMemory memory(device, values.size_bytes(), what);
  // Never the default stream: a copy there may return before it is complete, and work on
  // non-blocking streams does not wait for it.
  CudaQueue queue(device);
  const DeviceGuard guard(device);
  check(cudaMemcpyAsync(memory.data(), values.data(), values.size_bytes(), cudaMemcpyHostToDevice,
                        queue.stream()),
        what);
  queue.wait();
  return memory;
}
template DeviceMemory to_device(int, std::span<const float>, const char*);
template DeviceMemory to_device(int, std::span<const std::uint16_t>, const char*);

Events::Events(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    cudaEvent_t event = nullptr;
    check(cudaEventCreate(&event), "event");
    events_.emplace_back(event, [](cudaEvent_t made) { cudaEventDestroy(made); });
  }
}

void Events::record(std::size_t index, cudaStream_t stream) {
  check(cudaEventRecord(events_[index].get(), stream), "event");
}

double Events::milliseconds(std::size_t from, std::size_t to) const {
  float elapsed = 0;
  check(cudaEventElapsedTime(&elapsed, events_[from].get(), events_[to].get()), "event");
  return double{elapsed};
}

}  // namespace diarist::backend::cuda
