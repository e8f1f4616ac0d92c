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
cudaError_t prepare(const ConvArgs&, cudaStream_t) {
  return cudaFuncSetAttribute(conv_mma<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              T::shared_bytes(1 << 16));
}

// Calls action<Traits>() for the instance that serves the shape.
#define DIARIST_CONV_CASE(slab, block, taps_, stride_f_, stride_t_, rows, tap_step)                \
  if (cin % (slab) == 0 && conv_slab(cin) == (slab) && cout % (block) == 0 &&                      \
      shape.taps == (taps_) && shape.stride_f == (stride_f_) && shape.stride_t == (stride_t_)) {   \
    return split                                                                                   \
               ? DIARIST_CONV_ACTION<                                                              \
                     ConvTraits<slab, block, taps_, stride_f_, stride_t_, rows, tap_step, true>>(  \
                     args, stream)                                                                 \
               : DIARIST_CONV_ACTION<                                                              \
                     ConvTraits<slab, block, taps_, stride_f_, stride_t_, rows, tap_step, false>>( \
                     args, stream);                                                                \
  }

}  // namespace

int conv_slab(int cin) { return cin % 64 == 0 ? 64 : 32; }

cudaError_t launch_conv_mma(const ConvShape& shape, bool split, const ConvArgs& args,
                            cudaStream_t stream) {
  const int cin = args.cin, cout = args.cout;
#define DIARIST_CONV_ACTION launch
  DIARIST_CONV_CASE(64, 128, 9, 1, 1, 2, 1)
  DIARIST_CONV_CASE(64, 64, 9, 1, 1, 4, 3)
  DIARIST_CONV_CASE(32, 32, 9, 1, 1, 4, 9)
  DIARIST_CONV_CASE(64, 128, 9, 2, 2, 2, 1)
  DIARIST_CONV_CASE(32, 64, 9, 2, 2, 2, 3)
  DIARIST_CONV_CASE(64, 128, 1, 2, 2, 2, 1)
  DIARIST_CONV_CASE(32, 64, 1, 2, 2, 2, 1)
#undef DIARIST_CONV_ACTION
  return cudaErrorNotSupported;
}

cudaError_t prepare_conv_mma() {
  cudaError_t first = cudaSuccess;
  const auto one = [&](const ConvShape& shape, int cin, int cout) {
    for (const bool split : {false, true}) {
      const ConvArgs args{};
      const cudaStream_t stream = nullptr;
      const auto attempt = [&]() -> cudaError_t {
#define DIARIST_CONV_ACTION prepare
        DIARIST_CONV_CASE(64, 128, 9, 1, 1, 2, 1)
        DIARIST_CONV_CASE(64, 64, 9, 1, 1, 4, 3)
        DIARIST_CONV_CASE(32, 32, 9, 1, 1, 4, 9)
        DIARIST_CONV_CASE(64, 128, 9, 2, 2, 2, 1)
        DIARIST_CONV_CASE(32, 64, 9, 2, 2, 2, 3)
        DIARIST_CONV_CASE(64, 128, 1, 2, 2, 2, 1)
        DIARIST_CONV_CASE(32, 64, 1, 2, 2, 2, 1)
#undef DIARIST_CONV_ACTION
        return cudaErrorNotSupported;
      };
      const cudaError_t error = attempt();
      if (first == cudaSuccess) first = error;
    }
  };
  one({9, 1, 1}, 128, 128);
  one({9, 1, 1}, 64, 64);
  one({9, 1, 1}, 32, 32);
  one({9, 2, 2}, 128, 256);
  one({9, 2, 2}, 32, 64);
  one({1, 2, 2}, 128, 256);
  one({1, 2, 2}, 32, 64);
  return first;
}

}  // namespace diarist::backend::cuda
