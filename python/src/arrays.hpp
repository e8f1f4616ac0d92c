#pragma once
// Arrays for NumPy out of memory of the engine. NumPy is imported by the first one.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace diarist::python {

/// A read-only array of `owner`'s memory, which lives as long as the array does.
template <typename T, typename Owner>
nanobind::object view_array(const T* data, std::initializer_list<std::size_t> shape,
                            std::shared_ptr<const Owner> owner) {
  auto* kept = new std::shared_ptr<const Owner>(std::move(owner));
  const nanobind::capsule capsule(kept, [](void* pointer) noexcept {
    delete static_cast<std::shared_ptr<const Owner>*>(pointer);
  });
  return nanobind::cast(
      nanobind::ndarray<nanobind::numpy, const T>(data, shape.size(), shape.begin(), capsule));
}

/// An array that owns the numbers.
template <typename T>
nanobind::object own_array(std::vector<T> values, std::initializer_list<std::size_t> shape) {
  auto* kept = new std::vector<T>(std::move(values));
  const nanobind::capsule capsule(
      kept, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
  return nanobind::cast(
      nanobind::ndarray<nanobind::numpy, T>(kept->data(), shape.size(), shape.begin(), capsule));
}

/// Bits of three local speakers, [C, 589], as an array of bytes [C, 589, 3].
std::vector<unsigned char> spread_activity(const std::vector<unsigned char>& activity);

}  // namespace diarist::python
