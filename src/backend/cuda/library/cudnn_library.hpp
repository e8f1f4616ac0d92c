#pragma once
// cuDNN, opened at run time. Nothing is linked: a machine without it runs everything that has own
// kernels.

#include <span>
#include <string>

#include "backend/cuda/library/cudnn_api.hpp"

namespace diarist::backend::cuda {

/// An open shared library; closed with the object. Its code stays mapped until the process ends
/// (it keeps threads and tables of its own), so a second object finds it again.
class SharedLibrary {
 public:
  /// Tries the names in order. \throws Error kUnsupported naming what was looked for and the cure.
  explicit SharedLibrary(std::span<const char* const> names);
  ~SharedLibrary();
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  /// \throws Error kUnsupported naming the function.
  void* find(const char* function) const;
  const std::string& name() const noexcept { return name_; }

 private:
  void* handle_ = nullptr;
  std::string name_;
};

/// The functions of an open cuDNN 9.
class CudnnFunctions {
 public:
  /// libcudnn.so.9, then libcudnn.so. \throws Error kUnsupported.
  CudnnFunctions();
  explicit CudnnFunctions(std::span<const char* const> names);

  const cudnn::Api& api() const noexcept { return api_; }
  /// "cuDNN 9.8.0".
  std::string version() const;

 private:
  SharedLibrary library_;
  cudnn::Api api_{};
};

/// cuDNN with a handle on one device. Made before anything is captured; used by one thread at a
/// time. Whatever was made with the handle (plans, their descriptors) dies before it, the handle
/// before the functions.
class CudnnLibrary {
 public:
  /// \throws Error kUnsupported, kOutOfMemory.
  explicit CudnnLibrary(int device);
  ~CudnnLibrary();
  CudnnLibrary(const CudnnLibrary&) = delete;
  CudnnLibrary& operator=(const CudnnLibrary&) = delete;

  const cudnn::Api& api() const noexcept { return functions_.api(); }
  cudnn::Handle handle() const noexcept { return handle_; }
  int device() const noexcept { return device_; }
  std::string version() const { return functions_.version(); }

  /// What the library says about a status, on one line.
  std::string text(cudnn::Status status) const;
  /// Throws when a call failed. `what` names the object.
  void check(cudnn::Status status, const std::string& what) const;

 private:
  CudnnFunctions functions_;
  int device_;
  cudnn::Handle handle_ = nullptr;
};

}  // namespace diarist::backend::cuda
