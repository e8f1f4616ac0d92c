#pragma once
// Which kernel runs a convolution: pure functions of the device, the layer and the wishes, with the
// reason in words. No CUDA header, no measurement, no state; frozen in a literal table by
// tests/unit/cuda_choice.
//
// Order: the user's tune file, the recipe for exactly this device, the class default of its
// architecture, the library. A declared limit of the device (shared memory) moves a choice to the
// next entry and is named in the reason; an error never does.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace diarist::backend::cuda {

struct DeviceFacts {
  std::string name;              // "NVIDIA H200"
  int architecture = 0;          // compute capability times ten: 75 .. 120
  int multiprocessors = 0;       //
  std::size_t shared_bytes = 0;  // most shared memory that one block may opt in to
};

/// exact: FP32 accuracy (split halves or FFMA). fast: half operands, FP32 sums. tf32: the library.
enum class Mode { kExact, kFast, kTf32 };
const char* mode_name(Mode mode) noexcept;

/// Which kernels may be taken. kHopper and kPortable are for tests and figures; kFp32 is the plan
/// that recomputes chunks whose activations left the range of a half.
enum class Family { kAny, kHopper, kPortable, kFp32, kLibrary };
const char* family_name(Family family) noexcept;

enum class KernelId {
  kStemMma,     // first convolution on tensor cores; any device
  kStemFfma,    // first convolution in FP32
  kBlockWalk,   // Hopper, fast: a whole 32-channel basic block
  kConvWalk,    // Hopper: 3x3 stride 1 down the rows; 64 channels fast, 32 channels exact
  kConvDown,    // Hopper, fast: 3x3 stride 2 with its 1x1 shortcut folded in; 32 and 64 channels in
  kConvStride,  // Hopper: 3x3 stride 2 as an implicit product; from 128 channels, exact also fewer
  kConvTile,    // Hopper: 3x3 stride 1 likewise; 128 and 256 channels, 64 channels exact
  kConvMma,     // mma.sync with a halo tile, sm_75 and later
  kConvFfma,    // FP32 arithmetic; every 1x1 and 3x3 shape
  kLibrary,     // cuDNN, loaded at run time
};
const char* kernel_name(KernelId kernel) noexcept;

enum class Source { kTuneFile, kRecipe, kClassDefault, kLibrary, kForced };
/// "tune file", "recipe", "class default", "library", "forced".
const char* source_name(Source source) noexcept;

/// What makes two convolutions the same to a kernel. frequency and time are those of the input.
struct LayerShape {
  int cin = 0, cout = 0;
  int taps = 9;  // 9: 3x3 padded by 1; 1: 1x1
  int stride_f = 1, stride_t = 1;
  int frequency = 0, time = 0;
  bool residual = false;

  bool operator==(const LayerShape&) const = default;
  int out_frequency() const { return (frequency - 1) / stride_f + 1; }
  int out_time() const { return (time - 1) / stride_t + 1; }
  bool stem() const { return cin == 1; }
};
/// "32 to 64 channels, 3x3, stride 2, 80 x 998, residual".
std::string shape_text(const LayerShape& shape);

/// One convolution of the trunk, with the values it touches (ids of the graph; -1: none).
struct ConvLayer {
  std::string name;
  LayerShape shape;
  int input = -1, residual = -1, output = -1;
  bool relu = true;
  bool weights_exceed_half = false;  // some weight is beyond 65504
};

/// A measured choice of the tune file. Kernels are the same for every number of items; variants may
/// differ (entries with several `items`).
struct TuneEntry {
  LayerShape shape;
  Mode mode = Mode::kFast;
  int items = 0;  // batch class it was measured for
  KernelId kernel = KernelId::kConvMma;
  int variant = 0;
  double milliseconds = 0;
};

struct ChoiceOptions {
  Mode mode = Mode::kFast;
  Family family = Family::kAny;
  bool kernel_only = false;  // nothing but the driver is loaded, so no library
  int items = 1;             // batch class: moves variants, never kernels
  std::span<const TuneEntry> tuned;
};

/// How a map lies in memory between two kernels.
enum class MapFormat {
  kNone,   // not in memory: stays inside a fused kernel
  kHalf,   // [frequency][time][channels] halves
  kSplit,  // [frequency][time][2][channels]: high halves, then low halves
  kFloat,  // [frequency][time][channels] f32
};

struct LayerChoice {
  KernelId kernel = KernelId::kConvFfma;
  std::string name;  // of the kernel, with the tile where there are several
  Source source = Source::kClassDefault;
  std::string reason;
  /// conv_mma: index into kConvMmaTiles. conv_tile in halves: 1 for 64 output channels per CTA.
  /// Elsewhere 0: those kernels cut their work themselves. Never has a say in the bits.
  int variant = 0;
  /// Index of the layer in whose place the launch happens; its own for a launch of its own.
  /// block_walk: the block's second convolution. conv_down: the stride-2 convolution.
  int launched_by = 0;
};

struct TrunkChoice {
  /// The layer that `leader` launches beside itself: a block's first convolution, a folded
  /// shortcut. -1 when it launches only itself.
  int beside(int leader) const;

  std::vector<LayerChoice> layers;  // one per ConvLayer, same order
  std::vector<MapFormat> maps;      // by value id, up to the largest id of the layers
};

/// Chooses for one convolution that is launched alone (no fusion). \param index of the layer, for
/// launched_by. \throws Error kUnsupported naming layer, batch and device.
LayerChoice choose_layer(const DeviceFacts& device, const ConvLayer& layer,
                         const ChoiceOptions& options, int index = 0);

/// Chooses for a trunk: decides which basic blocks become one kernel, which shortcuts are folded
/// in, and how the maps lie. Layers in the order in which they run.
/// \param kept values that are handed out (taps, graph outputs): they must exist in memory.
/// \throws Error kUnsupported naming layer, batch and device.
TrunkChoice choose_trunk(const DeviceFacts& device, std::span<const ConvLayer> layers,
                         const ChoiceOptions& options, std::span<const int> kept = {});

/// Why a kernel can't run a shape in a mode on a device; empty when it can. Fused kernels are
/// judged by the shape alone: block_walk by either convolution of its block.
std::string why_not(const DeviceFacts& device, KernelId kernel, const LayerShape& shape, Mode mode);

/// The variant that fills the device for a number of items. \pre the kernel serves the shape.
int choose_variant(const DeviceFacts& device, KernelId kernel, const LayerShape& shape, Mode mode,
                   int items);

/// All variants that a kernel has for a shape it serves: what a tune file may ask for.
std::vector<int> variants(const DeviceFacts& device, KernelId kernel, const LayerShape& shape,
                          Mode mode);

/// Kernel and variant in words: "conv_mma s1_n64_4x64", "conv_tile narrow", "block_walk".
std::string variant_name(KernelId kernel, int variant);

}  // namespace diarist::backend::cuda
