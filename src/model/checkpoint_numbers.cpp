#include "model/checkpoint_numbers.hpp"

#include <cstring>
#include <utility>

#include "base/byte_reader.hpp"

namespace diarist::model::detail {
namespace {

constexpr std::size_t kLargestRank = 64;
constexpr std::uint64_t kLargestCount = std::uint64_t{1} << 40;

template <typename U, typename Widen>
std::vector<float> widen_all(std::span<const std::byte> bytes, Widen widen) {
  std::vector<float> values(bytes.size() / sizeof(U));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = widen(base::load_le<U>(bytes.data() + i * sizeof(U)));
  return values;
}

}  // namespace

std::size_t number_bytes(NumberType type) noexcept {
  switch (type) {
    case NumberType::kF16:
    case NumberType::kBf16:
      return 2;
    case NumberType::kF32:
      return 4;
    case NumberType::kF64:
      return 8;
    case NumberType::kInteger:
      return 0;
  }
  return 0;
}

std::uint64_t checked_count(const base::Shape& shape, std::string_view source,
                            std::string_view tensor) {
  if (shape.size() > kLargestRank) {
    base::fail(ErrorCode::kBadFile, "{}: tensor {} has {} dimensions", source, tensor,
               shape.size());
  }
  std::uint64_t count = 1;
  bool empty = false;
  for (const std::int64_t dim : shape) {
    const auto size = static_cast<std::uint64_t>(dim);
    if (dim < 0 || size > kLargestCount / count)
      base::fail(ErrorCode::kBadFile, "{}: tensor {} has an impossible shape", source, tensor);
    if (dim == 0) {
      empty = true;
    } else {
      count *= size;
    }
  }
  return empty ? 0 : count;
}

std::vector<float> to_floats(std::span<const std::byte> bytes, NumberType type) {
  switch (type) {
    case NumberType::kF16:
      return widen_all<std::uint16_t>(bytes, base::half_to_float);
    case NumberType::kBf16:
      return widen_all<std::uint16_t>(bytes, base::bfloat16_to_float);
    case NumberType::kF32:
      return widen_all<float>(bytes, [](float value) { return value; });
    case NumberType::kF64:
      return widen_all<double>(bytes, [](double value) { return static_cast<float>(value); });
    case NumberType::kInteger:
      break;
  }
  return {};
}

base::TensorF make_tensor(base::Shape shape, std::span<const std::byte> bytes, NumberType type,
                          std::string_view source, std::string_view tensor) {
  const std::uint64_t wanted = checked_count(shape, source, tensor) * number_bytes(type);
  if (bytes.size() != wanted) {
    base::fail(ErrorCode::kBadFile, "{}: tensor {} has {} bytes where its shape needs {}", source,
               tensor, bytes.size(), wanted);
  }
  return {std::move(shape), to_floats(bytes, type)};
}

}  // namespace diarist::model::detail
