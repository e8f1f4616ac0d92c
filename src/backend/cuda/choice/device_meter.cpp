#include "backend/cuda/choice/device_meter.hpp"

#include <dlfcn.h>

#include <utility>

namespace diarist::backend::cuda {
namespace {

// The management library's C interface, as far as it is used.
using Status = int;  // 0: success
using Device = void*;
constexpr int kClockOfMultiprocessors = 1;
constexpr unsigned kVersionBytes = 80;

}  // namespace

struct DeviceMeter::Library {
  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (started) shutdown();
    if (handle != nullptr) dlclose(handle);
  }

  template <typename Function>
  bool find(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(dlsym(handle, name));
    return function != nullptr;
  }

  bool load() {
    handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    return handle != nullptr && find(init, "nvmlInit_v2") && find(shutdown, "nvmlShutdown") &&
           find(by_bus, "nvmlDeviceGetHandleByPciBusId_v2") &&
           find(clock, "nvmlDeviceGetClockInfo") && find(power, "nvmlDeviceGetPowerUsage") &&
           find(driver, "nvmlSystemGetDriverVersion");
  }

  void* handle = nullptr;
  bool started = false;
  Device device = nullptr;
  Status (*init)() = nullptr;
  Status (*shutdown)() = nullptr;
  Status (*by_bus)(const char*, Device*) = nullptr;
  Status (*clock)(Device, int, unsigned*) = nullptr;
  Status (*power)(Device, unsigned*) = nullptr;
  Status (*driver)(char*, unsigned) = nullptr;
  Status (*energy)(Device, unsigned long long*) = nullptr;
};

DeviceMeter::DeviceMeter(std::unique_ptr<Library> library) : library_(std::move(library)) {}
DeviceMeter::~DeviceMeter() = default;

std::unique_ptr<DeviceMeter> DeviceMeter::open(const std::string& pci_bus_id) {
  auto library = std::make_unique<Library>();
  if (!library->load() || library->init() != 0) return nullptr;
  library->find(library->energy, "nvmlDeviceGetTotalEnergyConsumption");  // old drivers lack it
  library->started = true;
  if (library->by_bus(pci_bus_id.c_str(), &library->device) != 0) return nullptr;
  return std::unique_ptr<DeviceMeter>(new DeviceMeter(std::move(library)));
}

DeviceState DeviceMeter::state() const {
  DeviceState state;
  unsigned megahertz = 0, milliwatts = 0;
  if (library_->clock(library_->device, kClockOfMultiprocessors, &megahertz) == 0)
    state.clock_mhz = megahertz;
  if (library_->power(library_->device, &milliwatts) == 0) state.power_watts = milliwatts / 1e3;
  return state;
}

std::optional<double> DeviceMeter::joules() const {
  unsigned long long millijoules = 0;
  if (library_->energy == nullptr || library_->energy(library_->device, &millijoules) != 0)
    return std::nullopt;
  return static_cast<double>(millijoules) / 1e3;
}

std::string DeviceMeter::driver_version() const {
  char text[kVersionBytes] = {};
  if (library_->driver(text, kVersionBytes) != 0) return "";
  text[kVersionBytes - 1] = '\0';
  return text;
}

}  // namespace diarist::backend::cuda
