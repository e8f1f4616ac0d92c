#pragma once
// Everything that a batch of one size needs: places of the maps, launches, the recorded graph.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backend/cuda/activation_store.hpp"
#include "backend/cuda/cuda_queue.hpp"
#include "backend/cuda/embedding_model.hpp"
#include "backend/cuda/kernels/conv_args.hpp"
#include "backend/cuda/library/library_convolutions.hpp"

namespace diarist::backend::cuda {

/// What a pass reads and writes outside the arena: fixed addresses, shared by all batch classes.
/// Dies after the passes and the library, whose handle may remember the queue's stream.
struct PassBuffers {
  PassBuffers(const EmbeddingModel& model, int max_items);
  /// Passes are recorded here; it runs nothing but the first filling of these buffers.
  CudaQueue queue;
  DeviceMemory features;    // planes of halves for the stem (stem_mma.hpp), then their low parts
  DeviceMemory means;       // [max_items][80], for a stem in FP32
  DeviceMemory positions;   // i32 [2][max_items]: of features and masks, where a run gives them
  DeviceMemory gathered;    // [max_items][time][80], for a stem in FP32
  DeviceMemory masks;       // [max_items][speakers][mask frames]
  DeviceMemory statistics;  // [max_items][speakers][2 * rows]
  DeviceMemory slices;      // of the head: [16][max_items * speakers][dim]
  /// [max_items][speakers][dim] embeddings, then a range word per item: one copy brings both down.
  DeviceMemory result;
  std::size_t plane_halves = 0;   // of all planes, before the low parts
  std::size_t result_floats = 0;  // before the range words
  int mask_floats = 0;            // per item

  float* embeddings() const { return result.as<float>(); }
  std::uint32_t* range() const {
    return reinterpret_cast<std::uint32_t*>(result.as<float>() + result_floats);
  }
  std::size_t bytes() const;
};

/// One launch (or two that belong together) of a pass.
struct Launch {
  std::string layer, kernel;
  std::function<cudaError_t(cudaStream_t)> run;
};

/// Used by one thread at a time, on one stream. Lives no longer than model, store and buffers.
class EmbeddingPass {
 public:
  /// \param library null when no layer needs it; outlives the pass.
  EmbeddingPass(const EmbeddingModel& model, int items, ActivationStore& store,
                PassBuffers& buffers, LibraryConvolutions* library = nullptr);
  ~EmbeddingPass();
  EmbeddingPass(const EmbeddingPass&) = delete;
  EmbeddingPass& operator=(const EmbeddingPass&) = delete;

  int items() const noexcept { return items_; }
  /// Rows of features on the device, item_stride floats apart (or at positions[i] times that), to
  /// the trunk's input. With fewer than items() of them the others keep what an earlier batch left;
  /// their results mean nothing.
  void prepare(const float* rows, std::int64_t item_stride, const std::int32_t* positions,
               int count, cudaStream_t stream);
  /// Trunk, pooling, head. `record`: the first call runs eagerly and records, later ones replay.
  void run(cudaStream_t stream, bool record);
  /// A map as f32 [channels][frequency][time] per item, after run().
  void tap(int value, float* output, std::int64_t item_stride, int count,
           cudaStream_t stream) const;
  bool recorded() const noexcept { return graph_ != nullptr; }
  /// Makes the launches for the present addresses; `stream` runs what has to be warm before a
  /// recording. Called by prepare().
  void bind(cudaStream_t stream);
  const std::vector<Launch>& launches() const noexcept { return launches_; }
  const TrunkChoice& choice() const noexcept { return choice_; }
  std::size_t arena_bytes() const noexcept { return placement_.bytes; }

 private:
  void place();
  void add_stem(int index);
  void add_layer(int index, cudaStream_t stream);
  void add_ffma(int index);
  void add_library(int index, cudaStream_t stream);
  void add_pooling(const HeadWeights& head);
  void add_heads();
  void add_tap_layer(int index);
  ConvArgs conv_args(int index) const;
  std::byte* map(int value) const;
  __half* half_map(int value) const;
  float* float_map(int value) const;
  void launch_all(cudaStream_t stream);
  void record_graph();
  void forget_graph() noexcept;

  const EmbeddingModel& model_;
  int items_;
  TrunkChoice choice_;
  ActivationStore& store_;
  PassBuffers& buffers_;
  LibraryConvolutions* library_;
  Placement placement_;
  std::vector<Launch> launches_;
  // Of the store and of the library's workspace when the launches were bound; 0: not yet.
  std::uint64_t generation_ = 0, library_generation_ = 0;
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace diarist::backend::cuda
