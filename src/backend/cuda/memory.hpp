#pragma once
// Device memory and streams with visible owners.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "backend/backend.hpp"

namespace diarist::backend::cuda {

/// Makes a device current for this thread while it lives, then restores the previous one.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int previous_ = 0;
  bool changed_ = false;
};

/// A cudaMalloc'ed block. \throws Error kOutOfMemory, also when the GPU's limit would be passed.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(int device, std::size_t bytes, const char* what);
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  void* data() const noexcept { return data_; }
  template <typename T>
  T* as() const noexcept {
    return static_cast<T*>(data_);
  }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  int device_ = 0;
};

/// Bytes that all DeviceMemory of this process holds now, on every GPU.
std::size_t device_bytes_held() noexcept;
/// The same on one GPU.
std::size_t device_bytes_held(int device) noexcept;

/// Most bytes that this process may hold on a GPU from now on.
void limit_device_bytes(int device, std::size_t bytes) noexcept;

/// Copies host values to fresh device memory; complete when it returns.
template <typename T>
DeviceMemory to_device(int device, std::span<const T> values, const char* what);

/// Device memory of its own, or the caller's, which must outlive it.
class CudaBuffer final : public Buffer {
 public:
  CudaBuffer(int device, std::size_t bytes)
      : memory_(device, bytes, "buffer"), data_(memory_.as<std::byte>()), bytes_(bytes) {}
  CudaBuffer(void* data, std::size_t bytes) : data_(static_cast<std::byte*>(data)), bytes_(bytes) {}
  std::size_t bytes() const noexcept override { return bytes_; }
  void* host() noexcept override { return nullptr; }
  void* address() noexcept override { return data_; }
  std::byte* data() const noexcept { return data_; }

 private:
  DeviceMemory memory_;
  std::byte* data_;
  std::size_t bytes_;
};

/// Marks of time on streams of the device that was current when they were made.
class Events {
 public:
  explicit Events(std::size_t count);
  void record(std::size_t index, cudaStream_t stream);
  /// Between two marks that were reached.
  double milliseconds(std::size_t from, std::size_t to) const;

 private:
  using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, void (*)(cudaEvent_t)>;
  std::vector<Event> events_;
};

}  // namespace diarist::backend::cuda
