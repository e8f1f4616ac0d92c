#pragma once
// The segmentation network (PyanNet: models.md (b)) compiled for one GPU.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/cuda/choice/choice.hpp"
#include "backend/cuda/front/segmentation_front.hpp"
#include "backend/cuda/memory.hpp"
#include "backend/cuda/pinned_pool.hpp"
#include "backend/cuda/segmentation/frame_head_layer.hpp"
#include "backend/cuda/segmentation/lstm_layer.hpp"
#include "backend/cuda/segmentation/segmentation_parts.hpp"

namespace diarist::backend::cuda {

/// Device time of a part of the network.
struct PartTime {
  std::string part;
  double milliseconds = 0;
};

/// FP32 accuracy by products of split halves. Outputs: classes, masks, and every value between as a
/// tap. A batch runs in passes of as many windows as fill the device. run() never waits for the
/// device.
class SegmentationProgram final : public Program {
 public:
  /// False for other networks, and for devices that lack a kernel's shared memory.
  static bool serves(const model::Graph& graph, const DeviceFacts& device);

  /// \throws Error kUnsupported where serves() is false, kOutOfMemory.
  SegmentationProgram(int device, const model::Graph& graph, const CompileOptions& options);

  /// \throws Error kInvalidArgument naming the argument whose length is wrong.
  void run(Queue& queue, const Run& run) override;
  std::span<const Choice> choices() const noexcept override { return choices_; }
  std::size_t workspace_bytes() const noexcept override;

  /// Medians over `repeats` runs of a batch that fits one pass.
  std::vector<PartTime> times(Queue& queue, const Run& run, int repeats);

 private:
  using Visit = std::function<void(const char* part)>;

  void name_choices(const model::Graph& graph);
  void check_arguments(const Run& run) const;
  void check_view(const View& view, int value, int items, bool input) const;
  /// Positions of the inputs go up; null where there are none, or where the inputs differ in them.
  const std::int32_t* upload_positions(const Run& run, cudaStream_t stream);
  /// \param reached called behind every part; may be empty.
  void run_pass(const Run& run, int first, int count, const std::int32_t* positions,
                cudaStream_t stream, const Visit& reached) const;
  void run_front(const Run& run, int first, int count, const std::int32_t* positions, __half* rows,
                 int windows, cudaStream_t stream) const;
  void finish(const Run& run, int first, int count, cudaStream_t stream) const;
  /// Where an output lies from item `first` on; nothing when the value is no output.
  FrameTap tap_of(const Run& run, int value, int first) const;

  int device_;
  DeviceFacts facts_;
  int max_items_, pass_windows_;
  std::vector<model::Value> values_;
  std::vector<int> inputs_, outputs_;
  SegmentationValues ids_;
  std::unique_ptr<SegmentationFront> front_;
  std::vector<LstmLayer> layers_;
  std::unique_ptr<FrameHeadLayer> head_;
  DeviceMemory states_[2], products_, cells_, classes_, positions_;
  LstmRows front_rows_, state_rows_[2];  // the same memory as the input of layers
  PinnedPool staging_;                   // of positions
  std::vector<Choice> choices_;
};

}  // namespace diarist::backend::cuda
