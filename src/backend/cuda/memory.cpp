#include "backend/cuda/memory.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <utility>

#include "backend/cuda/check.hpp"
#include "backend/cuda/cuda_queue.hpp"

namespace diarist::backend::cuda {
namespace {

// Plain counts, no device objects. GPUs beyond the last number share its counts.
constexpr int kMostDevices = 64;
struct Held {
  std::atomic<std::size_t> bytes{0};
  std::atomic<std::size_t> limit{std::numeric_limits<std::size_t>::max()};
};
std::array<Held, kMostDevices> held;

Held& held_on(int device) {
  return held[static_cast<std::size_t>(std::clamp(device, 0, kMostDevices - 1))];
}

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
  Held& count = held_on(device);
  const std::size_t before = count.bytes.fetch_add(bytes);
  if (bytes > count.limit || before > count.limit - bytes) {
    count.bytes -= bytes;
    base::fail(ErrorCode::kOutOfMemory,
               "{}: {} MB more would pass the limit of {} MB on GPU {}, {} MB are held; allow more "
               "(--max-gpu-memory) or use smaller batches",
               what, bytes >> 20, count.limit.load() >> 20, device, before >> 20);
  }
  const cudaError_t error = cudaMalloc(&data_, bytes);
  if (error != cudaSuccess) count.bytes -= bytes;
  check(error, what);
}

DeviceMemory::~DeviceMemory() {
  if (data_ == nullptr) return;
  int previous = 0;
  cudaGetDevice(&previous);
  cudaSetDevice(device_);
  held_on(device_).bytes -= bytes_;
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

std::size_t device_bytes_held() noexcept {
  std::size_t sum = 0;
  for (const Held& count : held) sum += count.bytes;
  return sum;
}

std::size_t device_bytes_held(int device) noexcept { return held_on(device).bytes; }

void limit_device_bytes(int device, std::size_t bytes) noexcept { held_on(device).limit = bytes; }

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
