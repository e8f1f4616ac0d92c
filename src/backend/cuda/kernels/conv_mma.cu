// Instances of the portable convolution and their launches.

#include "backend/cuda/kernels/conv.hpp"
#include "backend/cuda/kernels/conv_mma.cuh"

namespace diarist::backend::cuda {
namespace {

template <typename T>
cudaError_t launch(const ConvArgs& args, cudaStream_t stream) {
  const int tiles =
      (args.out_f + T::kTileF - 1) / T::kTileF * ((args.out_t + T::kTileT - 1) / T::kTileT);
  const dim3 grid(static_cast<unsigned>(tiles), static_cast<unsigned>(args.cout / T::kCout),
                  static_cast<unsigned>(args.items));
  const int slabs = args.cin / T::kSlab * (T::kSplit ? 3 : 1);
  conv_mma<T><<<grid, T::kThreads, T::shared_bytes(slabs), stream>>>(args);
  return cudaGetLastError();
}

template <typename T>
cudaError_t prepare() {
  return cudaFuncSetAttribute(conv_mma<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              T::shared_bytes(1 << 16));
}

// One kernel in both precisions, and the shapes it serves.
template <int kSlab, int kCout, int kTaps, int kStrideF, int kStrideT, int kTileF, int kTapStep>
struct Kernel {
  using Half = ConvTraits<kSlab, kCout, kTaps, kStrideF, kStrideT, kTileF, kTapStep, false>;
  using Split = ConvTraits<kSlab, kCout, kTaps, kStrideF, kStrideT, kTileF, kTapStep, true>;

  static bool serves(const ConvShape& shape, int cin, int cout) {
    return conv_slab(cin) == kSlab && cin % kSlab == 0 && cout % kCout == 0 &&
           shape.taps == kTaps && shape.stride_f == kStrideF && shape.stride_t == kStrideT;
  }
};

// The first kernel that serves a shape is taken, so wide ones come before narrow ones.
template <typename... Kernels>
struct KernelList {
  static cudaError_t launch_first(const ConvShape& shape, bool split, const ConvArgs& args,
                                  cudaStream_t stream) {
    cudaError_t error = cudaErrorNotSupported;
    const auto attempt = [&]<typename K>() {
      if (!K::serves(shape, args.cin, args.cout)) return false;
      error =
          split ? launch<typename K::Split>(args, stream) : launch<typename K::Half>(args, stream);
      return true;
    };
    static_cast<void>((attempt.template operator()<Kernels>() || ...));
    return error;
  }

  static cudaError_t prepare_all() {
    cudaError_t first = cudaSuccess;
    const auto note = [&](cudaError_t error) {
      if (first == cudaSuccess) first = error;
    };
    ((note(prepare<typename Kernels::Half>()), note(prepare<typename Kernels::Split>())), ...);
    return first;
  }
};

using ConvKernels = KernelList<Kernel<64, 128, 9, 1, 1, 2, 1>, Kernel<64, 64, 9, 1, 1, 4, 3>,
                               Kernel<32, 32, 9, 1, 1, 4, 9>, Kernel<64, 128, 9, 2, 2, 2, 1>,
                               Kernel<32, 64, 9, 2, 2, 2, 3>, Kernel<64, 128, 1, 2, 2, 2, 1>,
                               Kernel<32, 64, 1, 2, 2, 2, 1>>;

}  // namespace

int conv_slab(int cin) { return cin % 64 == 0 ? 64 : 32; }

cudaError_t launch_conv_mma(const ConvShape& shape, bool split, const ConvArgs& args,
                            cudaStream_t stream) {
  return ConvKernels::launch_first(shape, split, args, stream);
}

cudaError_t prepare_conv_mma() { return ConvKernels::prepare_all(); }

}  // namespace diarist::backend::cuda
