#include "backend/registry.hpp"

#include "backend/cpu/cpu_backend.hpp"
#include "backend/reference/reference_backend.hpp"
#include "base/error.hpp"

namespace diarist::backend {

std::unique_ptr<Backend> make_backend(const BackendOptions& options) {
  if (options.threads < 0) {
    base::fail(ErrorCode::kInvalidArgument, "threads is {}; give 0 (all) or a positive number",
               options.threads);
  }
  if (options.device == "cpu") return cpu::make_cpu_backend(options.threads, options.target);
  if (!options.target.empty()) {
    base::fail(ErrorCode::kInvalidArgument,
               "an instruction set ({}) can only be chosen for the device cpu, not for {}",
               options.target, options.device);
  }
  if (options.device == "reference") return reference::make_reference_backend(options.threads);
  if (options.device == "cuda" || options.device.rfind("cuda:", 0) == 0) {
    base::fail(ErrorCode::kUnsupported, "device {} is not in this build; use cpu", options.device);
  }
  base::fail(ErrorCode::kInvalidArgument, "unknown device \"{}\"; known are cpu and reference",
             options.device);
}

std::vector<std::string> device_names() { return {"cpu", "reference"}; }

std::vector<std::string> cpu_targets_compiled() { return cpu::cpu_targets_compiled(); }

std::vector<std::string> cpu_targets_supported() { return cpu::cpu_targets_supported(); }

}  // namespace diarist::backend
