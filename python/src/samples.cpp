#include "samples.hpp"

#include <string>
#include <utility>

#include "errors.hpp"

namespace nb = nanobind;

namespace diarist::python {

namespace {

constexpr std::size_t kMostChannels = 1024;

std::string shape_of(const AnyArray& array) {
  std::string text = "(";
  for (std::size_t i = 0; i < array.ndim(); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(array.shape(i));
  return text + (array.ndim() == 1 ? ",)" : ")");
}

std::string type_of(const AnyArray& array) {
  const nb::dlpack::dtype type = array.dtype();
  const auto code = static_cast<nb::dlpack::dtype_code>(type.code);
  const char* kind = code == nb::dlpack::dtype_code::Int       ? "int"
                     : code == nb::dlpack::dtype_code::UInt    ? "uint"
                     : code == nb::dlpack::dtype_code::Float   ? "float"
                     : code == nb::dlpack::dtype_code::Bfloat  ? "bfloat"
                     : code == nb::dlpack::dtype_code::Complex ? "complex"
                     : code == nb::dlpack::dtype_code::Bool    ? "bool"
                                                               : "type ";
  return kind + (code == nb::dlpack::dtype_code::Bool ? "" : std::to_string(type.bits));
}

// Elements between neighbours along each of at most two sides; a vector is a column.
struct Layout {
  std::size_t rows = 0, columns = 1;
  std::int64_t row_stride = 1, column_stride = 1;
  bool contiguous() const {
    return (columns <= 1 || column_stride == 1) &&
           (rows <= 1 || row_stride == static_cast<std::int64_t>(columns));
  }
};

Layout layout_of(const AnyArray& array) {
  Layout layout{.rows = array.shape(0), .row_stride = array.stride(0)};
  if (array.ndim() == 2) {
    layout.columns = array.shape(1);
    layout.column_stride = array.stride(1);
  }
  return layout;
}

template <typename To, typename From>
void copy(const AnyArray& array, const Layout& layout, std::vector<To>& to) {
  const auto* from = static_cast<const From*>(array.data());
  to.resize(layout.rows * layout.columns);
  std::size_t at = 0;
  for (std::size_t row = 0; row < layout.rows; ++row)
    for (std::size_t column = 0; column < layout.columns; ++column)
      to[at++] = static_cast<To>(from[static_cast<std::int64_t>(row) * layout.row_stride +
                                      static_cast<std::int64_t>(column) * layout.column_stride]);
}

// The elements in C order, of the array itself or of a copy.
template <typename T>
std::span<const T> elements(const AnyArray& array, const Layout& layout, std::vector<T>& kept) {
  const std::size_t size = layout.rows * layout.columns;
  if (size == 0) return {};
  if (layout.contiguous()) return {static_cast<const T*>(array.data()), size};
  copy<T, T>(array, layout, kept);
  return kept;
}

bool channels_come_first(const AnyArray& array, const Layout& layout, std::optional<bool> wish) {
  if (wish) return *wish;
  if (layout.rows != layout.columns || layout.rows <= 1) return layout.rows < layout.columns;
  fail_argument("an array of shape " + shape_of(array) +
                " does not tell which side is the channels; say channels_first=True or False");
}

}  // namespace

Samples::Samples(AnyArray array, int sample_rate, std::optional<bool> channels_first)
    : array_(std::move(array)) {
  if (array_.ndim() != 1 && array_.ndim() != 2)
    fail_argument("audio of shape " + shape_of(array_) +
                  "; expected [samples], [channels, samples] or [samples, channels]");
  const Layout layout = layout_of(array_);
  view_.sample_rate = sample_rate;
  if (array_.ndim() == 2) {
    view_.planar = channels_come_first(array_, layout, channels_first);
    const std::size_t channels = view_.planar ? layout.rows : layout.columns;
    if (channels == 0 || channels > kMostChannels)
      fail_argument("audio of shape " + shape_of(array_) + " has " + std::to_string(channels) +
                    " channels; expected 1 to " + std::to_string(kMostChannels) +
                    " (channels_first=True or False says which side they are)");
    view_.channels = static_cast<int>(channels);
  }
  if (array_.dtype() == nb::dtype<float>()) {
    view_.samples = elements<float>(array_, layout, floats_);
  } else if (array_.dtype() == nb::dtype<double>()) {
    copy<float, double>(array_, layout, floats_);
    view_.samples = floats_;
  } else if (array_.dtype() == nb::dtype<std::int16_t>()) {
    view_.pcm16 = elements<std::int16_t>(array_, layout, shorts_);
  } else {
    fail_argument("samples of type " + type_of(array_) +
                  "; give float32 or float64 in [-1, 1], or int16");
  }
}

std::span<const float> floats_of(const AnyArray& array, const char* name) {
  if (array.dtype() != nb::dtype<float>())
    fail_argument(std::string(name) + " of type " + type_of(array) + "; give float32");
  std::int64_t expected = 1;
  for (std::size_t i = array.ndim(); i-- > 0;) {
    if (array.shape(i) > 1 && array.stride(i) != expected)
      fail_argument(std::string(name) + " of shape " + shape_of(array) +
                    " is not contiguous; give a C-ordered array (numpy.ascontiguousarray)");
    expected *= static_cast<std::int64_t>(array.shape(i));
  }
  return {static_cast<const float*>(array.data()), array.size()};
}

}  // namespace diarist::python
