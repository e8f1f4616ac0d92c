#pragma once
// Clock, power, energy and driver version of a GPU, from the driver's management library. That is
// opened at run time (no headers are needed); without it the figures are unknown, which is no
// error.

#include <memory>
#include <optional>
#include <string>

#include "backend/profiling.hpp"

namespace diarist::backend::cuda {

/// Used by one thread at a time.
class DeviceMeter final : public Meter {
 public:
  /// \param pci_bus_id as cudaDeviceGetPCIBusId gives it. \return null when the library is missing
  /// or does not know the device.
  static std::unique_ptr<DeviceMeter> open(const std::string& pci_bus_id);
  ~DeviceMeter() override;
  DeviceMeter(const DeviceMeter&) = delete;
  DeviceMeter& operator=(const DeviceMeter&) = delete;

  /// Members that the device does not tell stay 0.
  DeviceState state() const override;
  std::optional<double> joules() const override;
  /// "580.82.07"; empty when unknown.
  std::string driver_version() const;

 private:
  struct Library;
  explicit DeviceMeter(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

}  // namespace diarist::backend::cuda
