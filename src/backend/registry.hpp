#pragma once
// The only place that names the backends.

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"

namespace diarist::backend {

struct BackendOptions {
  std::string device = "cpu";  // "cpu", "reference"; "cuda", "cuda:N" when built with it
  int threads = 0;             // 0: all usable processors
  std::string target;          // kernels to force: a CPU instruction set; on a GPU "hopper",
                               // "portable", "fp32" or "library"; empty: best present
};

/// \throws Error kInvalidArgument (unknown name), kUnsupported (not in this build or machine).
std::unique_ptr<Backend> make_backend(const BackendOptions& options);

/// Devices of this build that can be used on this machine.
std::vector<std::string> device_names();

/// CPU instruction sets, best first: those in the build, and those this machine also has.
std::vector<std::string> cpu_targets_compiled();
std::vector<std::string> cpu_targets_supported();

}  // namespace diarist::backend
