#pragma once
// Dense C-order arrays with shared, immutable storage: weights and small tables.

#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace diarist::base {

using Shape = std::vector<std::int64_t>;

inline std::int64_t element_count(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// Copies share the numbers; nobody writes to them after construction.
template <typename T>
class Tensor {
 public:
  Tensor() = default;
  Tensor(Shape shape, std::vector<T> values)
      : shape_(std::move(shape)),
        data_(std::make_shared<const std::vector<T>>(std::move(values))) {}

  const Shape& shape() const noexcept { return shape_; }
  std::int64_t dim(std::size_t i) const { return shape_.at(i); }
  std::span<const T> values() const noexcept {
    return data_ ? std::span<const T>(*data_) : std::span<const T>();
  }
  const T* data() const noexcept { return data_ ? data_->data() : nullptr; }
  std::int64_t size() const noexcept {
    return data_ ? static_cast<std::int64_t>(data_->size()) : 0;
  }
  bool empty() const noexcept { return size() == 0; }

 private:
  Shape shape_;
  std::shared_ptr<const std::vector<T>> data_;
};

using TensorF = Tensor<float>;

}  // namespace diarist::base
