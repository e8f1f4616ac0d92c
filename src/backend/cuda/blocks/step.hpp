#pragma once
// A block made ready for a GPU: packed weights and the kernels that run it.
//
// Layouts in memory are those of blocks.hpp, in C order, also inside the workspace.

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/cuda/blocks/arrays.hpp"
#include "backend/cuda/memory.hpp"
#include "model/graph.hpp"

namespace diarist::backend::cuda::blocks {

/// A value of the items of a launch.
struct Argument {
  void* base = nullptr;
  const Place* places = nullptr;  // device memory, one per item; null for shared values
  std::int32_t longest = 0;       // time axis among the items
  std::int64_t rows = 0;          // shared values: rows that exist

  template <typename T>
  Array<T> as() const {
    return {static_cast<T*>(base), places};
  }
  Array<float> out() const { return as<float>(); }
  Array<const float> in() const { return as<const float>(); }
};

struct StepCall {
  int items = 0, first_item = 0;
  std::span<const Argument> inputs;
  Argument output;
  std::span<const Argument> hidden;     // what hidden() asked for
  unsigned long long* fault = nullptr;  // see GatherArgs
  cudaStream_t stream = nullptr;
};

/// An array of floats that a step needs for itself while it runs, [rows][width] per item.
struct Hidden {
  std::int64_t width = 0;
  /// Rows for the lengths of the first input and of the output; never fewer for longer ones.
  std::function<std::int64_t(std::int64_t in, std::int64_t out)> rows;
};

/// Immutable after construction.
class Step {
 public:
  virtual ~Step() = default;
  virtual std::vector<Hidden> hidden() const { return {}; }
  /// Queues the kernels. \return the first error of a launch.
  virtual cudaError_t run(const StepCall& call) const = 0;
  virtual std::string kernel() const = 0;
  virtual std::string reason() const = 0;
};

struct DeviceTraits {
  int index = 0, multiprocessors = 1;
  int shared_bytes = 0;  // that a block may have
};
DeviceTraits device_traits(int index);

/// What a step's constructor sees of its node.
struct NodeShapes {
  std::span<const model::Value> inputs;
  const model::Value& output;
  DeviceTraits device;
};

std::unique_ptr<Step> make_step(const model::Block& block, const NodeShapes& shapes);

/// Constants of a step in one block of device memory: added one by one, then uploaded.
class Constants {
 public:
  /// \return handle for at().
  std::size_t add(std::span<const float> values);
  std::size_t add_bytes(const void* data, std::size_t bytes);
  void upload(int device);
  const float* at(std::size_t handle) const { return memory_.as<float>() + handle; }

 private:
  std::vector<float> values_;
  DeviceMemory memory_;
};

}  // namespace diarist::backend::cuda::blocks
