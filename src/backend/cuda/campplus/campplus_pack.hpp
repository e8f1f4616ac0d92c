#pragma once
// The launches of one pack, from gathered rows to frames.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>

#include "backend/cuda/campplus/campplus_model.hpp"
#include "backend/cuda/campplus/campplus_workspace.hpp"
#include "backend/cuda/campplus/pack_plan.hpp"

namespace diarist::backend::cuda::campplus {

/// What the device is and allows.
struct PackLaunch {
  int multiprocessors = 0;
  FrameLaunch frames;
};

/// What a pack reads and writes outside of the workspace.
struct PackSource {
  const float* features = nullptr;
  std::int64_t feature_rows = 0;
  const std::int32_t* indices = nullptr;
  float* frames = nullptr;  // PackItem::first_frame counts from here
};

/// A convolution of the head: which of the slab's maps it reads and writes, as the frequency of the
/// workspace's maps where they begin. -1: none.
struct HeadStep {
  int input, in_frequency;    // -1: the gathered rows, through the stem
  int output, out_frequency;  // -1: the pack's head map
  int residual;               // the output itself
  int beside;                 // of the shortcut
};
extern const HeadStep kHeadSteps[kHeadConvolutions];

/// Queues everything; items and segments lie in the workspace already. Lives for one call.
class CampplusPack {
 public:
  CampplusPack(const CampplusModel& model, const CampplusWorkspace& space, const PackPlan& plan,
               const PackLaunch& launch, cudaStream_t stream,
               const std::function<void(const char*)>& mark)
      : model_(model), space_(space), plan_(plan), launch_(launch), stream_(stream), mark_(mark) {}

  /// `mark` is told the name of every part that has been queued.
  void run(const PackSource& source);

  // The steps of run(), in this order.
  void tables();
  void gather(const PackSource& source);
  /// Convolution `index` of the head for one slab.
  void convolve(const Slab& slab, int index);
  void tdnn();
  void dense_block(int block);
  void transit(int block, const PackSource& source);

 private:
  void mark(const char* part) const {
    if (mark_) mark_(part);
  }

  const CampplusModel& model_;
  const CampplusWorkspace& space_;
  const PackPlan& plan_;
  const PackLaunch& launch_;
  cudaStream_t stream_;
  const std::function<void(const char*)>& mark_;
  PackTables tables_;
  Pending pending_;
};

}  // namespace diarist::backend::cuda::campplus
