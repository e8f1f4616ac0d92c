#pragma once
// Checked ways into and out of DLPack tensors.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "diarist/embedder.hpp"

namespace diarist::pipeline {

/// Where a tensor's numbers lie, once its type, device and layout were accepted.
/// \param name what messages call it. \param shapes accepted ones; -1 stands for any length.
/// \throws Error kInvalidArgument (shape, null data), kUnsupported (type, device, strides).
DeviceTensor borrow(const dlpack::ManagedTensor& tensor, const char* name,
                    const std::vector<std::vector<std::int64_t>>& shapes);

/// A tensor over `data` that keeps `owner` alive until its deleter is called.
dlpack::ManagedTensor* hand_over(float* data, dlpack::Device device,
                                 std::vector<std::int64_t> shape, std::shared_ptr<void> owner);

}  // namespace diarist::pipeline
