#pragma once
// The few functions of cuDNN 9 that are used, declared here, because the library is opened at run
// time and its headers are not needed to build. Names, order of arguments and numbers are those of
// its public C interface.

#include <cuda_runtime_api.h>

#include <cstddef>

namespace diarist::backend::cuda::cudnn {

using Status = int;
constexpr Status kSuccess = 0;
/// Hundreds and units of a status say more; the thousand is its kind.
constexpr Status kNotSupportedKind = 3000, kExecutionKind = 5000;
constexpr Status kOutOfHostMemory = 4003, kOutOfDeviceMemory = 4004;
inline Status kind_of(Status status) { return status / 1000 * 1000; }

// Opaque; only pointers to them exist.
struct Context;
struct TensorStruct;
struct FilterStruct;
struct ConvolutionStruct;
struct ActivationStruct;
using Handle = Context*;
using Tensor = TensorStruct*;
using Filter = FilterStruct*;
using Convolution = ConvolutionStruct*;
using Activation = ActivationStruct*;

enum DataType : int { kFloat = 0, kHalf = 2 };
enum TensorFormat : int { kNhwc = 1 };
/// kDefaultMath lets FP32 products run in TF32; kFmaMath does not.
enum MathType : int { kDefaultMath = 0, kTensorOpMath = 1, kConvertingMath = 2, kFmaMath = 3 };
enum ConvolutionMode : int { kCrossCorrelation = 1 };
enum NanPropagation : int { kNotPropagateNan = 0 };
enum ActivationMode : int { kRelu = 1, kIdentity = 5 };
enum Determinism : int { kNonDeterministic = 0, kDeterministic = 1 };
enum Algorithm : int {
  kImplicitGemm = 0,
  kImplicitPrecompGemm = 1,
  kGemm = 2,
  kDirect = 3,
  kFft = 4,
  kFftTiling = 5,
  kWinograd = 6,
  kWinogradNonfused = 7,
};
constexpr int kAlgorithmCount = 8;

/// An entry of the ranking of algorithms.
struct AlgorithmPerf {
  int algorithm;
  Status status;
  float time;  // ms; negative: not measured
  std::size_t memory;
  int determinism;
  int math;
  int reserved[3];
};
static_assert(sizeof(AlgorithmPerf) == 48, "layout of cudnnConvolutionFwdAlgoPerf_t");

struct Api {
  std::size_t (*get_version)();
  const char* (*get_error_string)(Status);
  void (*get_last_error_string)(char* message, std::size_t size);
  Status (*create)(Handle*);
  Status (*destroy)(Handle);
  Status (*set_stream)(Handle, cudaStream_t);
  Status (*create_tensor)(Tensor*);
  Status (*destroy_tensor)(Tensor);
  Status (*set_tensor)(Tensor, TensorFormat, DataType, int n, int c, int h, int w);
  Status (*create_filter)(Filter*);
  Status (*destroy_filter)(Filter);
  Status (*set_filter)(Filter, DataType, TensorFormat, int k, int c, int h, int w);
  Status (*create_convolution)(Convolution*);
  Status (*destroy_convolution)(Convolution);
  Status (*set_convolution)(Convolution, int pad_h, int pad_w, int stride_h, int stride_w,
                            int dilation_h, int dilation_w, ConvolutionMode, DataType compute);
  Status (*set_convolution_math)(Convolution, MathType);
  Status (*create_activation)(Activation*);
  Status (*destroy_activation)(Activation);
  Status (*set_activation)(Activation, ActivationMode, NanPropagation, double coefficient);
  Status (*rank_algorithms)(Handle, Tensor x, Filter w, Convolution, Tensor y, int requested,
                            int* returned, AlgorithmPerf* results);
  Status (*workspace_size)(Handle, Tensor x, Filter w, Convolution, Tensor y, Algorithm,
                           std::size_t* bytes);
  /// y = activation(alpha1 * conv(x, w) + alpha2 * z + bias).
  Status (*run_fused)(Handle, const void* alpha1, Tensor x_layout, const void* x, Filter w_layout,
                      const void* w, Convolution, Algorithm, void* workspace,
                      std::size_t workspace_bytes, const void* alpha2, Tensor z_layout,
                      const void* z, Tensor bias_layout, const void* bias, Activation,
                      Tensor y_layout, void* y);
  /// y = alpha * conv(x, w) + beta * y.
  Status (*run_plain)(Handle, const void* alpha, Tensor x_layout, const void* x, Filter w_layout,
                      const void* w, Convolution, Algorithm, void* workspace,
                      std::size_t workspace_bytes, const void* beta, Tensor y_layout, void* y);
};

}  // namespace diarist::backend::cuda::cudnn
