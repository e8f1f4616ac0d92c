#include "backend/cuda/library/cudnn_library.hpp"

#include <dlfcn.h>

#include <algorithm>

#include "backend/cuda/memory.hpp"
#include "base/error.hpp"

namespace diarist::backend::cuda {
namespace {

constexpr const char* kNames[] = {"libcudnn.so.9", "libcudnn.so"};
constexpr std::size_t kMajor = 9;
constexpr const char* kCure =
    "install cuDNN 9 or put its folder into LD_LIBRARY_PATH, or take a mode with own kernels "
    "(--precision fast or exact)";

std::string last_words() {
  const char* words = dlerror();
  return words == nullptr ? "no reason given" : words;
}

template <typename Function>
void resolve(const SharedLibrary& library, const char* name, Function*& target) {
  target = reinterpret_cast<Function*>(library.find(name));
}

std::string version_text(std::size_t version) {
  // 8 and before counted in thousands.
  if (version < 10000) return fmt::format("cuDNN {}.{}", version / 1000, version / 100 % 10);
  return fmt::format("cuDNN {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace

SharedLibrary::SharedLibrary(std::span<const char* const> names) {
  std::string tried;
  for (const char* name : names) {
    handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle_ != nullptr) {
      name_ = name;
      return;
    }
    tried += fmt::format("{}{} ({})", tried.empty() ? "" : ", ", name, last_words());
  }
  base::fail(ErrorCode::kUnsupported, "cuDNN can't be opened, looked for {}; {}", tried, kCure);
}

SharedLibrary::~SharedLibrary() { dlclose(handle_); }

void* SharedLibrary::find(const char* function) const {
  void* const found = dlsym(handle_, function);
  if (found == nullptr)
    base::fail(ErrorCode::kUnsupported, "{} has no {}: not a cuDNN {}; {}", name_, function, kMajor,
               kCure);
  return found;
}

CudnnFunctions::CudnnFunctions() : CudnnFunctions(kNames) {}

CudnnFunctions::CudnnFunctions(std::span<const char* const> names) : library_(names) {
  resolve(library_, "cudnnGetVersion", api_.get_version);
  if (api_.get_version() / 10000 != kMajor)
    base::fail(ErrorCode::kUnsupported, "{} is {}, version {} is needed; {}", library_.name(),
               version(), kMajor, kCure);
  resolve(library_, "cudnnGetErrorString", api_.get_error_string);
  resolve(library_, "cudnnGetLastErrorString", api_.get_last_error_string);
  resolve(library_, "cudnnCreate", api_.create);
  resolve(library_, "cudnnDestroy", api_.destroy);
  resolve(library_, "cudnnSetStream", api_.set_stream);
  resolve(library_, "cudnnCreateTensorDescriptor", api_.create_tensor);
  resolve(library_, "cudnnDestroyTensorDescriptor", api_.destroy_tensor);
  resolve(library_, "cudnnSetTensor4dDescriptor", api_.set_tensor);
  resolve(library_, "cudnnCreateFilterDescriptor", api_.create_filter);
  resolve(library_, "cudnnDestroyFilterDescriptor", api_.destroy_filter);
  resolve(library_, "cudnnSetFilter4dDescriptor", api_.set_filter);
  resolve(library_, "cudnnCreateConvolutionDescriptor", api_.create_convolution);
  resolve(library_, "cudnnDestroyConvolutionDescriptor", api_.destroy_convolution);
  resolve(library_, "cudnnSetConvolution2dDescriptor", api_.set_convolution);
  resolve(library_, "cudnnSetConvolutionMathType", api_.set_convolution_math);
  resolve(library_, "cudnnCreateActivationDescriptor", api_.create_activation);
  resolve(library_, "cudnnDestroyActivationDescriptor", api_.destroy_activation);
  resolve(library_, "cudnnSetActivationDescriptor", api_.set_activation);
  resolve(library_, "cudnnGetConvolutionForwardAlgorithm_v7", api_.rank_algorithms);
  resolve(library_, "cudnnGetConvolutionForwardWorkspaceSize", api_.workspace_size);
  resolve(library_, "cudnnConvolutionBiasActivationForward", api_.run_fused);
  resolve(library_, "cudnnConvolutionForward", api_.run_plain);
}

std::string CudnnFunctions::version() const { return version_text(api_.get_version()); }

CudnnLibrary::CudnnLibrary(int device) : device_(device) {
  const DeviceGuard guard(device);
  check(api().create(&handle_), version() + " on this GPU");
}

CudnnLibrary::~CudnnLibrary() {
  int previous = 0;
  cudaGetDevice(&previous);
  cudaSetDevice(device_);
  api().destroy(handle_);  // errors at process exit are of no use to anybody
  cudaSetDevice(previous);
}

std::string CudnnLibrary::text(cudnn::Status status) const {
  char words[512] = {};
  api().get_last_error_string(words, sizeof(words) - 1);
  std::string last = words;
  std::replace(last.begin(), last.end(), '\n', ' ');
  const char* name = api().get_error_string(status);
  return fmt::format("{} ({}){}{}", name == nullptr ? "unknown status" : name, status,
                     last.empty() ? "" : ": ", last);
}

void CudnnLibrary::check(cudnn::Status status, const std::string& what) const {
  if (status == cudnn::kSuccess) return;
  const std::string said = text(status);
  cudaGetLastError();  // the next query must not report it again
  if (status == cudnn::kOutOfHostMemory || status == cudnn::kOutOfDeviceMemory)
    base::fail(ErrorCode::kOutOfMemory, "{}: {}; use a smaller batch or free memory on the card",
               what, said);
  if (cudnn::kind_of(status) == cudnn::kExecutionKind)
    base::fail(ErrorCode::kDeviceLost, "{}: {}; make a new Diarizer, or use --device cpu", what,
               said);
  base::fail(ErrorCode::kUnsupported,
             "{}: {}; take own kernels (leave the family open, --precision fast or exact)", what,
             said);
}

}  // namespace diarist::backend::cuda
