#pragma once
// Which kernels a front end uses.

#include <cstddef>

namespace diarist::backend::cuda {

/// Those made for the device, or those that any device has. Their bits differ, their accuracy does
/// not.
enum class FrontKernels { kBest, kPortable };

/// What the choice and the launches need to know of a device.
struct FrontDevice {
  int multiprocessors = 1;
  std::size_t shared_bytes = 0;  // that a CTA may have
  bool hopper = false;
};

/// Of the current device. \throws Error.
FrontDevice front_device();

}  // namespace diarist::backend::cuda
