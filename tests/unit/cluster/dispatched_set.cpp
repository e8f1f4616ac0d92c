// Which set a call goes to that is dispatched as the clustering kernels are.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "unit/cluster/dispatched_set.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace diarist::cluster {
namespace HWY_NAMESPACE {

std::int64_t own_set() { return HWY_TARGET; }

}  // namespace HWY_NAMESPACE
}  // namespace diarist::cluster
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace diarist::cluster {

HWY_EXPORT(own_set);

std::int64_t dispatched_set() { return HWY_DYNAMIC_DISPATCH(own_set)(); }

}  // namespace diarist::cluster
#endif
