#include "pipeline/dlpack_tensor.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include "base/error.hpp"

namespace diarist::pipeline {
namespace {

// The ABI of <dlpack/dlpack.h> on 64-bit machines.
static_assert(sizeof(dlpack::DataType) == 4 && sizeof(dlpack::Device) == 8);
static_assert(offsetof(dlpack::Tensor, device) == 8 && offsetof(dlpack::Tensor, ndim) == 16 &&
              offsetof(dlpack::Tensor, dtype) == 20 && offsetof(dlpack::Tensor, shape) == 24 &&
              offsetof(dlpack::Tensor, strides) == 32 &&
              offsetof(dlpack::Tensor, byte_offset) == 40 && sizeof(dlpack::Tensor) == 48);
static_assert(offsetof(dlpack::ManagedTensor, manager_ctx) == 48 &&
              offsetof(dlpack::ManagedTensor, deleter) == 56 &&
              sizeof(dlpack::ManagedTensor) == 64);

void check_type(const dlpack::Tensor& tensor, const char* name) {
  const dlpack::DataType& type = tensor.dtype;
  if (type.code != dlpack::kFloat || type.bits != 32 || type.lanes != 1)
    base::fail(ErrorCode::kUnsupported,
               "{}: DLPack type with code {}, {} bits and {} lanes; only f32 (2, 32, 1) is taken",
               name, type.code, type.bits, type.lanes);
  if (tensor.device.type != dlpack::kCpu && tensor.device.type != dlpack::kCuda)
    base::fail(ErrorCode::kUnsupported,
               "{}: DLPack device type {}; only 1 (CPU) and 2 (CUDA) are taken", name,
               tensor.device.type);
}

bool fits(std::span<const std::int64_t> shape, const std::vector<std::int64_t>& wanted) {
  return std::equal(
      shape.begin(), shape.end(), wanted.begin(), wanted.end(),
      [](std::int64_t have, std::int64_t want) { return have >= 0 && (want < 0 || have == want); });
}

// Elements of a shape. \throws Error for one that no memory holds.
std::int64_t count_of(std::span<const std::int64_t> shape, const char* name) {
  std::int64_t count = 1;
  for (const std::int64_t length : shape) {
    if (length != 0 && count > std::numeric_limits<std::int64_t>::max() / 4 / length)
      base::fail(ErrorCode::kInvalidArgument, "{}: its shape [{}] is larger than any memory", name,
                 fmt::join(shape, ", "));
    count *= length;
  }
  return count;
}

void check_strides(const dlpack::Tensor& tensor, std::span<const std::int64_t> shape,
                   const char* name) {
  if (tensor.strides == nullptr) return;
  std::int64_t expected = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && tensor.strides[i] != expected)
      base::fail(ErrorCode::kUnsupported,
                 "{}: strides [{}] of shape [{}]; only C order without gaps is taken: make a "
                 "contiguous copy",
                 name, fmt::join(std::span(tensor.strides, shape.size()), ", "),
                 fmt::join(shape, ", "));
    expected *= shape[i];
  }
}

struct Handed {
  dlpack::ManagedTensor managed;
  std::vector<std::int64_t> shape;
  std::shared_ptr<void> owner;
};

}  // namespace

DeviceTensor borrow(const dlpack::ManagedTensor& managed, const char* name,
                    const std::vector<std::vector<std::int64_t>>& shapes) {
  const dlpack::Tensor& tensor = managed.tensor;
  check_type(tensor, name);
  constexpr std::int32_t kMostAxes = 32;
  if (tensor.ndim < 0 || tensor.ndim > kMostAxes || (tensor.ndim > 0 && tensor.shape == nullptr))
    base::fail(ErrorCode::kInvalidArgument, "{}: a DLPack tensor of {} axes without a shape", name,
               tensor.ndim);
  const std::span<const std::int64_t> shape(tensor.shape, static_cast<std::size_t>(tensor.ndim));
  if (std::none_of(shapes.begin(), shapes.end(),
                   [&](const auto& wanted) { return fits(shape, wanted); })) {
    std::vector<std::string> known;
    for (const auto& wanted : shapes) known.push_back(fmt::format("[{}]", fmt::join(wanted, ", ")));
    base::fail(ErrorCode::kInvalidArgument, "{}: shape [{}] given, {} expected (-1: any length)",
               name, fmt::join(shape, ", "), fmt::join(known, " or "));
  }
  const std::int64_t count = count_of(shape, name);
  if (count > 0) check_strides(tensor, shape, name);
  if (count > 0 && tensor.data == nullptr)
    base::fail(ErrorCode::kInvalidArgument, "{}: a DLPack tensor without data", name);
  if (tensor.byte_offset % alignof(float) != 0)
    base::fail(ErrorCode::kUnsupported, "{}: byte offset {} is not a multiple of 4", name,
               tensor.byte_offset);
  std::byte* data = static_cast<std::byte*>(tensor.data);
  if (data != nullptr) data += tensor.byte_offset;
  return {.data = reinterpret_cast<float*>(data),
          .elements = count,
          .kind = tensor.device.type == dlpack::kCpu ? DeviceTensor::Kind::kHost
                                                     : DeviceTensor::Kind::kCuda,
          .device = tensor.device.type == dlpack::kCpu ? 0 : tensor.device.id};
}

dlpack::ManagedTensor* hand_over(float* data, dlpack::Device device,
                                 std::vector<std::int64_t> shape, std::shared_ptr<void> owner) {
  auto handed = std::make_unique<Handed>();
  handed->shape = std::move(shape);
  handed->owner = std::move(owner);
  dlpack::ManagedTensor& managed = handed->managed;
  managed.tensor.data = data;
  managed.tensor.device = device;
  managed.tensor.ndim = static_cast<std::int32_t>(handed->shape.size());
  managed.tensor.shape = handed->shape.data();
  managed.manager_ctx = handed.get();
  managed.deleter = [](dlpack::ManagedTensor* self) {
    delete static_cast<Handed*>(self->manager_ctx);
  };
  return &handed.release()->managed;
}

}  // namespace diarist::pipeline
