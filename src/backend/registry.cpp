#include "backend/registry.hpp"

#include <algorithm>

#include "backend/cpu/cpu_backend.hpp"
#include "backend/reference/reference_backend.hpp"
#include "base/error.hpp"
#ifdef DIARIST_WITH_CUDA
#include "backend/cuda/cuda_backend.hpp"
#include "backend/cuda/cuda_meter.hpp"
#endif

namespace diarist::backend {
namespace {

bool names_gpu(const std::string& device) {
  return device == "cuda" || device.rfind("cuda:", 0) == 0;
}

#ifdef DIARIST_WITH_CUDA
// "cuda" is "cuda:0".
int gpu_index(const std::string& device) {
  const std::string number = device.size() > 5 ? device.substr(5) : device == "cuda" ? "0" : "";
  const bool digits = !number.empty() && number.size() <= 4 &&
                      number.find_first_not_of("0123456789") == std::string::npos;
  if (!digits)
    base::fail(ErrorCode::kInvalidArgument, "device \"{}\": write cuda or cuda:N", device);
  return std::stoi(number);
}
#endif

}  // namespace

std::unique_ptr<Backend> make_backend(const BackendOptions& options) {
  if (options.threads < 0) {
    base::fail(ErrorCode::kInvalidArgument, "threads is {}; give 0 (all) or a positive number",
               options.threads);
  }
  if (options.device == "cpu") return cpu::make_cpu_backend(options.threads, options.target);
  if (names_gpu(options.device)) {
#ifdef DIARIST_WITH_CUDA
    return cuda::make_cuda_backend(gpu_index(options.device), cuda::family_named(options.target),
                                   options.max_memory);
#else
    base::fail(ErrorCode::kUnsupported, "device {} is not in this build; use cpu", options.device);
#endif
  }
  if (!options.target.empty()) {
    base::fail(ErrorCode::kInvalidArgument,
               "kernels ({}) can only be chosen for the devices cpu and cuda, not for {}",
               options.target, options.device);
  }
  if (options.device == "reference") return reference::make_reference_backend(options.threads);
  base::fail(ErrorCode::kInvalidArgument, "unknown device \"{}\"; known are cpu, cuda, reference",
             options.device);
}

std::vector<std::string> expand_devices(const std::string& device) {
  std::vector<std::string> devices;
#ifdef DIARIST_WITH_CUDA
  if (device == "cuda") devices = cuda::cuda_device_names();
#endif
  if (!names_gpu(device) || device == "cuda" || device.find(',') == std::string::npos) {
    if (devices.empty()) devices = {device};  // make_backend() says what is wrong with it
    return devices;
  }
  for (std::size_t begin = std::string("cuda:").size(); begin <= device.size();) {
    const std::size_t end = std::min(device.find(',', begin), device.size());
    const std::string name = "cuda:" + device.substr(begin, end - begin);
    if (std::find(devices.begin(), devices.end(), name) != devices.end() || name == "cuda:")
      base::fail(ErrorCode::kInvalidArgument,
                 "device \"{}\": write cuda for all GPUs, or numbers like cuda:0,1", device);
    devices.push_back(name);
    begin = end + 1;
  }
  return devices;
}

std::unique_ptr<Meter> make_meter(const std::string& device) {
#ifdef DIARIST_WITH_CUDA
  if (names_gpu(device)) return cuda::make_cuda_meter(gpu_index(device));
#endif
  static_cast<void>(device);
  return nullptr;
}

std::vector<std::string> device_names() {
  std::vector<std::string> names = {"cpu", "reference"};
#ifdef DIARIST_WITH_CUDA
  for (std::string& name : cuda::cuda_device_names()) names.push_back(std::move(name));
#endif
  return names;
}

std::vector<std::string> cpu_targets_compiled() { return cpu::cpu_targets_compiled(); }

std::vector<std::string> cpu_targets_supported() { return cpu::cpu_targets_supported(); }

std::vector<std::string> cpu_bf16_supported() { return cpu::cpu_bf16_supported(); }

}  // namespace diarist::backend
