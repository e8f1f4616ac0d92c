#include "backend/cuda/front/sinc_front_end.hpp"

#include "backend/cuda/check.hpp"
#include "backend/cuda/cuda_queue.hpp"
#include "backend/cuda/front/ragged_views.hpp"
#include "backend/cuda/kernels/hopper/sinc.hpp"
#include "backend/cuda/kernels/sinc_mma.hpp"
#include "backend/cuda/kernels/split_half.hpp"
#include "backend/cuda/kernels/split_product.hpp"
#include "base/run_control.hpp"

namespace diarist::backend::cuda {

bool SincFrontEnd::serves(const model::Graph& graph) {
  if (graph.nodes.size() != 1 || graph.outputs.size() != 1 ||
      graph.outputs[0] != graph.nodes[0].output)
    return false;
  const auto* const block = std::get_if<model::SincConvolution>(&graph.nodes[0].block);
  return block != nullptr && block->stride == kSincStride &&
         block->filters.shape() == base::Shape{kSincFilters, kSincTaps};
}

SincFrontEnd::SincFrontEnd(int device, const model::Graph& graph, const CompileOptions& options,
                           FrontKernels kernels)
    : device_(device), name_(graph.name), options_(options) {
  if (!serves(graph))
    base::fail(ErrorCode::kUnsupported,
               "graph {}: the CUDA kernel serves one sinc convolution of {} filters, {} taps, "
               "stride {}",
               graph.name, kSincFilters, kSincTaps, kSincStride);
  const DeviceGuard guard(device);
  const FrontDevice facts = front_device();
  multiprocessors_ = facts.multiprocessors;
  shared_bytes_ = facts.shared_bytes;
  hopper_ = facts.hopper && kernels == FrontKernels::kBest;
  check(hopper_ ? hopper::prepare_sinc() : prepare_sinc_mma(shared_bytes_), "sinc convolution");
  const base::TensorF& filters = std::get<model::SincConvolution>(graph.nodes[0].block).filters;
  const float scale = split_scale(filters.values(), kSplitProductExponent);
  weight_unscale_ = 1.0F / scale;
  const auto weight = [&](int filter, int tap) {
    return tap < kSincTaps ? filters.data()[filter * kSincTaps + tap] : 0.0F;
  };
  const std::vector<std::uint16_t> packed =
      hopper_ ? pack_split_rows(kSincFilters, kSincDepth, scale, weight)
              : pack_split(kSincFilters, kSincDepth, scale, weight);
  weights_ = to_device(device, std::span<const std::uint16_t>(packed), "sinc filters");
  choices_.push_back({graph.nodes[0].name, hopper_ ? "sinc_wgmma" : "sinc_mma",
                      "split FP16, FP32 accumulation: slides over samples in shared memory"});
}

void SincFrontEnd::run(Queue& queue, const Run& run) {
  base::check_stop(run.stop);
  const RowShape shape{kSincTaps, kSincStride, kSincFilters};
  const std::vector<FrontItems> groups = items_of(run, options_, shape, name_);
  SincMmaArgs args;
  args.samples = static_cast<const float*>(run.inputs[0].buffer->address());
  args.rows = static_cast<float*>(run.outputs[0].buffer->address());
  args.weights = weights_.data();
  args.weight_unscale = weight_unscale_;
  args.multiprocessors = multiprocessors_;
  args.shared_bytes = shared_bytes_;
  if (reinterpret_cast<std::uintptr_t>(args.rows + run.outputs[0].offset) % 8 != 0 ||
      run.outputs[0].item_stride % 2 != 0)
    base::fail(ErrorCode::kInvalidArgument, "{}: rows must begin at multiples of 8 bytes", name_);
  const DeviceGuard guard(device_);
  const cudaStream_t stream = static_cast<CudaQueue&>(queue).stream();
  for (const FrontItems& items : groups) {
    args.items = items;
    check(hopper_ ? hopper::launch_sinc(args, stream) : launch_sinc_mma(args, stream),
          "sinc convolution");
  }
}

}  // namespace diarist::backend::cuda
