#pragma once
/// \file
/// Tensors exchanged through DLPack: the versionless structs of its ABI, and nothing else of it.
///
/// The layouts equal DLTensor and DLManagedTensor of <dlpack/dlpack.h>, so a pointer to one may be
/// cast to the other; the names differ so that both headers can be included.

#include <cstdint>

namespace diarist::dlpack {

/// DLDeviceType; only these two are accepted.
inline constexpr std::int32_t kCpu = 1;
/// Device type of GPUs: kDLCUDA.
inline constexpr std::int32_t kCuda = 2;

/// DLDataTypeCode of floating-point numbers.
inline constexpr std::uint8_t kFloat = 2;

/// Where a tensor lies: DLDevice.
struct Device {
  std::int32_t type = kCpu;
  std::int32_t id = 0;
};

/// Type of a tensor's elements: DLDataType.
struct DataType {
  std::uint8_t code = kFloat;
  std::uint8_t bits = 32;
  std::uint16_t lanes = 1;
};

/// A view of memory: DLTensor.
struct Tensor {
  void* data = nullptr;
  Device device;
  std::int32_t ndim = 0;
  DataType dtype;
  std::int64_t* shape = nullptr;
  std::int64_t* strides = nullptr;  ///< in elements; null: C order without gaps
  std::uint64_t byte_offset = 0;
};

/// Whoever receives one owns it and calls `deleter` once (unless that is null).
struct ManagedTensor {
  Tensor tensor;
  void* manager_ctx = nullptr;
  void (*deleter)(ManagedTensor* self) = nullptr;
};

}  // namespace diarist::dlpack
