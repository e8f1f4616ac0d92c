#pragma once
// Convolutions of the trunk through cuDNN: one fused call each, y = act(conv(x) + z + bias). Maps
// are [item][frequency][time][channels]; halves in fast mode, f32 in the others.
//
// Order of death: recorded graphs that hold launches, plans, workspace, library. All but the graphs
// are members here, so LibraryConvolutions must outlive the passes that use it.

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "backend/cuda/activation_store.hpp"
#include "backend/cuda/library/algorithm_choice.hpp"
#include "backend/cuda/library/cudnn_library.hpp"

namespace diarist::backend::cuda {

/// Device addresses of one call: weights and bias of library_weights.hpp.
struct LibraryArgs {
  const void* input = nullptr;
  const void* weights = nullptr;
  const void* bias = nullptr;
  const void* residual = nullptr;  // null: none
  void* output = nullptr;
};

/// A shape at one number of items, with its algorithm. Made by LibraryConvolutions, dies before it.
class LibraryPlan {
 public:
  cudnn::Algorithm algorithm() const noexcept { return algorithm_; }
  std::size_t workspace_bytes() const noexcept { return workspace_bytes_; }
  /// "32 to 32 channels, ..., batch 128".
  const std::string& name() const noexcept { return name_; }

 private:
  friend class LibraryConvolutions;
  LibraryPlan(const CudnnLibrary& library, Mode mode, const ConvLayer& layer, int items);

  // A descriptor, destroyed by the library.
  template <typename Struct>
  using Owned = std::unique_ptr<Struct, cudnn::Status (*)(Struct*)>;

  std::string name_;
  bool residual_;
  bool fused_ = true;  // false: convolution and bias are two launches
  int items_ = 0, channels_ = 0;
  std::int64_t values_ = 0;  // of an item's output
  Owned<cudnn::TensorStruct> x_, y_, bias_;
  Owned<cudnn::FilterStruct> w_;
  Owned<cudnn::ConvolutionStruct> convolution_;
  Owned<cudnn::ActivationStruct> activation_;
  cudnn::Algorithm algorithm_ = cudnn::kImplicitPrecompGemm;
  std::size_t workspace_bytes_ = 0;
};

/// All library convolutions of one program. Used by one thread at a time.
///
/// A shape's algorithm is settled once, with the largest batch: the first of the library's own
/// ranking that is acceptable (algorithm_choice.hpp) and has a fused form (the library says so when
/// asked to run it, before it launches anything). All smaller batches use the same one. Where none
/// of them may be fused without a ReLU (the shortcuts), the bias is added by a pass of our own.
///
/// The same algorithm does not mean the same bits in another batch size: the library may take
/// another kernel for it (seen with cuDNN 9.14 on an H200, fast and tf32 mode).
class LibraryConvolutions {
 public:
  /// \throws Error kUnsupported (no cuDNN 9), kOutOfMemory.
  LibraryConvolutions(int device, Mode mode, int largest_items);

  /// The plan of a layer, shared by all layers of its shape. The first call per shape and number of
  /// items runs it once on `args`, so that nothing is loaded or set up later; its output is void.
  /// Never while a stream is captured. May grow the workspace: whoever recorded addresses looks at
  /// workspace_generation() before a replay.
  /// \pre the first call for a shape has items = largest_items.
  /// \throws Error kUnsupported naming layer, batch and why no algorithm serves; kOutOfMemory.
  const LibraryPlan& plan(const ConvLayer& layer, int items, const LibraryArgs& args,
                          cudaStream_t stream);

  /// Queues one fused call. May be captured. \throws Error naming the plan.
  void run(const LibraryPlan& plan, const LibraryArgs& args, cudaStream_t stream) const;
  /// The bare convolution, without bias, residual and ReLU: what fusing is compared with.
  void run_plain(const LibraryPlan& plan, const LibraryArgs& args, cudaStream_t stream) const;

  /// The library's ranking for a layer, with why an entry is not taken. The chosen one is marked as
  /// far as that is known: before plan() settled the shape, the first without a problem.
  std::vector<LibraryCandidate> candidates(const ConvLayer& layer, int items) const;
  /// A plan that uses one algorithm, for measurements; `args` as in plan().
  /// \throws Error kUnsupported when it does not serve.
  std::unique_ptr<LibraryPlan> trial(const ConvLayer& layer, int items, cudnn::Algorithm algorithm,
                                     const LibraryArgs& args, cudaStream_t stream);

  /// Why a shape got its algorithm. \pre plan() was called for it.
  const std::string& reason(const ConvLayer& layer) const;
  std::size_t workspace_bytes() const noexcept { return workspace_.bytes(); }
  std::uint64_t workspace_generation() const noexcept { return workspace_.generation(); }
  int plans() const noexcept { return static_cast<int>(plans_.size()); }
  std::string version() const { return library_.version(); }

 private:
  // cin, cout, taps, strides, frequency, time, residual, relu.
  using ShapeKey = std::tuple<int, int, int, int, int, int, int, bool, bool>;
  struct Settled {
    cudnn::Algorithm algorithm;
    bool fused;
    std::string reason;
  };
  static ShapeKey key_of(const ConvLayer& layer);
  std::vector<LibraryCandidate> rank(const LibraryPlan& plan, bool relu) const;
  void settle(LibraryPlan& plan, const ConvLayer& layer, const LibraryArgs& args,
              cudaStream_t stream);
  bool try_candidates(LibraryPlan& plan, const ConvLayer& layer, const LibraryArgs& args,
                      std::vector<LibraryCandidate>& candidates, cudaStream_t stream);
  void take(LibraryPlan& plan, cudnn::Algorithm algorithm, cudaStream_t stream);
  cudnn::Status call(const LibraryPlan& plan, const LibraryArgs& args, cudaStream_t stream) const;

  Mode mode_;
  int largest_items_;
  CudnnLibrary library_;
  ActivationStore workspace_;
  std::map<ShapeKey, Settled> settled_;
  std::map<std::pair<ShapeKey, int>, std::unique_ptr<LibraryPlan>> plans_;
};

}  // namespace diarist::backend::cuda
