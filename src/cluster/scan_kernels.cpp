#include "cluster/scan_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cluster/scan_kernels.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace diarist::cluster {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D16 = hn::CappedTag<std::int16_t, kCodeStep / 2>;
using D32 = hn::Repartition<std::int32_t, D16>;

// Two sums, since the second half of a code need not wait for the first.
HWY_INLINE std::int32_t product(const std::int16_t* a, const std::int16_t* b, std::size_t width) {
  const D16 d16;
  const D32 d32;
  auto first = hn::Zero(d32), first_rest = hn::Zero(d32);
  auto second = hn::Zero(d32), second_rest = hn::Zero(d32);
  for (std::size_t k = 0; k < width; k += kCodeStep) {
    for (std::size_t j = 0; j < kCodeStep / 2; j += hn::Lanes(d16)) {
      const std::size_t at = k + j, behind = at + kCodeStep / 2;
      first = hn::ReorderWidenMulAccumulate(d32, hn::LoadU(d16, a + at), hn::LoadU(d16, b + at),
                                            first, first_rest);
      second = hn::ReorderWidenMulAccumulate(d32, hn::LoadU(d16, a + behind),
                                             hn::LoadU(d16, b + behind), second, second_rest);
    }
  }
  const auto sum = hn::Add(hn::Add(first, first_rest), hn::Add(second, second_rest));
  return hn::GetLane(hn::SumOfLanes(d32, sum));
}

void products_of(const std::int16_t* code, const std::int16_t* codes, const std::uint32_t* places,
                 std::size_t count, std::size_t width, std::int32_t* products) {
  // Most codes lie in memory, not in a cache, and gaps between places keep the machine from
  // fetching them ahead by itself.
  constexpr std::size_t kAhead = 8, kLine = 64 / sizeof(std::int16_t);
  for (std::size_t i = 0; i < count; ++i) {
    if (i + kAhead < count) {
      const std::int16_t* ahead = codes + places[i + kAhead] * width;
      for (std::size_t k = 0; k < width; k += kLine) hwy::Prefetch(ahead + k);
    }
    products[i] = product(code, codes + places[i] * width, width);
  }
}

void heads_of(const double* vector, const double* basis, std::size_t dim, double* heads) {
  const hn::CappedTag<double, 8> d;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  constexpr std::size_t kTogether = 8;  // sums
  for (std::size_t first = 0; first < kCodeStep; first += kTogether * kLanes) {
    hn::Vec<decltype(d)> sums[kTogether];
    for (auto& sum : sums) sum = hn::Zero(d);
    for (std::size_t i = 0; i < dim; ++i) {
      const auto factor = hn::Set(d, vector[i]);
      const double* row = basis + i * kCodeStep + first;
      for (std::size_t j = 0; j < kTogether; ++j)
        sums[j] = hn::MulAdd(factor, hn::LoadU(d, row + j * kLanes), sums[j]);
    }
    for (std::size_t j = 0; j < kTogether; ++j) hn::StoreU(sums[j], d, heads + first + j * kLanes);
  }
}

HWY_INLINE auto load(hn::CappedTag<double, 8> d, const double* from) { return hn::LoadU(d, from); }

HWY_INLINE auto load(hn::CappedTag<double, 8> d, const float* from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, decltype(d)>(), from));
}

template <typename T>
HWY_INLINE double square_between(const double* a, const T* b, std::size_t dim) {
  const hn::CappedTag<double, 8> d;
  const std::size_t lanes = hn::Lanes(d);
  auto sum = hn::Zero(d), other = hn::Zero(d);
  std::size_t i = 0;
  for (; i + 2 * lanes <= dim; i += 2 * lanes) {
    const auto left = hn::Sub(hn::LoadU(d, a + i), load(d, b + i));
    const auto right = hn::Sub(hn::LoadU(d, a + i + lanes), load(d, b + i + lanes));
    sum = hn::MulAdd(left, left, sum);
    other = hn::MulAdd(right, right, other);
  }
  double total = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum, other)));
  for (; i < dim; ++i) total += (a[i] - double{b[i]}) * (a[i] - double{b[i]});
  return total;
}

double square_of_difference(const double* a, const double* b, std::size_t dim) {
  return square_between(a, b, dim);
}

double square_to_row(const double* a, const float* b, std::size_t dim) {
  return square_between(a, b, dim);
}

}  // namespace HWY_NAMESPACE
}  // namespace diarist::cluster
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace diarist::cluster {

HWY_EXPORT(products_of);
HWY_EXPORT(heads_of);
HWY_EXPORT(square_of_difference);
HWY_EXPORT(square_to_row);

void code_products(const std::int16_t* code, const std::int16_t* codes, const std::uint32_t* places,
                   std::size_t count, std::size_t width, std::int32_t* products) {
  HWY_DYNAMIC_DISPATCH(products_of)(code, codes, places, count, width, products);
}

void head_products(const double* vector, const double* basis, std::size_t dim, double* heads) {
  HWY_DYNAMIC_DISPATCH(heads_of)(vector, basis, dim, heads);
}

double square_distance(const double* a, const double* b, std::size_t dim) {
  return HWY_DYNAMIC_DISPATCH(square_of_difference)(a, b, dim);
}

double square_distance(const double* a, const float* b, std::size_t dim) {
  return HWY_DYNAMIC_DISPATCH(square_to_row)(a, b, dim);
}

}  // namespace diarist::cluster
#endif  // HWY_ONCE
