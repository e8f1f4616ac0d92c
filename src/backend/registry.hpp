#pragma once
// The only place that names the backends.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/profiling.hpp"

namespace diarist::backend {

struct BackendOptions {
  std::string device = "cpu";  // "cpu", "reference"; "cuda", "cuda:N" when built with it
  int threads = 0;             // 0: all usable processors
  std::string target;          // kernels to force: a CPU instruction set; on a GPU "hopper",
                               // "portable", "fp32" or "library"; empty: best present
  std::size_t max_memory = 0;  // of a GPU, in bytes; 0: nine tenths of what is free
};

/// \throws Error kInvalidArgument (unknown name), kUnsupported (not in this build or machine).
std::unique_ptr<Backend> make_backend(const BackendOptions& options);

/// "cuda" as all GPUs of this machine, "cuda:0,1" as two; other names stay as they are.
/// \throws Error kInvalidArgument for lists that are none, or that name a GPU twice.
std::vector<std::string> expand_devices(const std::string& device);

/// Clock, power and energy of one device ("cuda:0"); null where it tells nothing.
std::unique_ptr<Meter> make_meter(const std::string& device);

/// Devices of this build that can be used on this machine.
std::vector<std::string> device_names();

/// CPU instruction sets, best first: those in the build, and those this machine also has.
std::vector<std::string> cpu_targets_compiled();
std::vector<std::string> cpu_targets_supported();
/// Instructions for the bf16 products of fast mode that this machine's processor has, best first.
std::vector<std::string> cpu_bf16_supported();

}  // namespace diarist::backend
