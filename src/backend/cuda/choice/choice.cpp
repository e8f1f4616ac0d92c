#include "backend/cuda/choice/choice.hpp"

#include <algorithm>
#include <optional>

#include "backend/cuda/choice/recipes.hpp"
#include "backend/cuda/choice/selection.hpp"
#include "base/error.hpp"

namespace diarist::backend::cuda {
namespace {

constexpr int kOldestArchitecture = 75;

// Best first. conv_ffma closes each list: it serves every shape of the networks.
constexpr KernelId kHopperDefault[] = {
    KernelId::kBlockWalk, KernelId::kConvDown,   KernelId::kConvWalk,
    KernelId::kConvTile,  KernelId::kConvStride, KernelId::kStemMma,
    KernelId::kConvMma,   KernelId::kStemFfma,   KernelId::kConvFfma};
constexpr KernelId kPortableDefault[] = {KernelId::kStemMma, KernelId::kConvMma,
                                         KernelId::kStemFfma, KernelId::kConvFfma};
constexpr KernelId kFp32Only[] = {KernelId::kStemFfma, KernelId::kConvFfma};

std::span<const KernelId> class_default(const DeviceFacts& device, Family family) {
  if (family == Family::kFp32) return kFp32Only;
  if (family == Family::kPortable || device.architecture != 90) return kPortableDefault;
  return kHopperDefault;
}

bool holds_halves(KernelId kernel, Mode mode) {
  if (kernel == KernelId::kLibrary) return mode == Mode::kFast;
  return kernel != KernelId::kConvFfma && kernel != KernelId::kStemFfma;
}

std::string joined(const std::string& reason, const std::string& notes) {
  return notes.empty() ? reason : reason + "; " + notes;
}

// Gathers why better entries did not serve.
class Selection {
 public:
  Selection(const DeviceFacts& device, const ConvLayer& layer, const ChoiceOptions& options,
            int index, const Surroundings& around)
      : device_(device), layer_(layer), options_(options), index_(index), around_(around) {}

  LayerChoice run() {
    if (device_.architecture < kOldestArchitecture)
      base::fail(ErrorCode::kUnsupported,
                 "{} is sm_{}; the CUDA kernels need sm_{} or later; use --device cpu",
                 device_.name, device_.architecture, kOldestArchitecture);
    if (options_.family == Family::kHopper && device_.architecture != 90)
      base::fail(ErrorCode::kUnsupported,
                 "the Hopper kernels are asked for, but {} is sm_{}; leave the family open",
                 device_.name, device_.architecture);
    if (layer_.shape.stem() &&
        (options_.mode == Mode::kTf32 || options_.family == Family::kLibrary)) {
      const bool halves = options_.mode == Mode::kFast && !layer_.weights_exceed_half;
      return made(halves ? KernelId::kStemMma : KernelId::kStemFfma, Source::kClassDefault,
                  "the library has no convolution that removes the mean");
    }
    if (options_.mode == Mode::kTf32)
      return library(Source::kLibrary, "tf32 runs through the library, for comparison");
    if (options_.family == Family::kLibrary) return library(Source::kForced, "library forced");
    if (options_.family == Family::kAny) {
      if (std::optional<LayerChoice> choice = from_tune_file()) return *choice;
      if (std::optional<LayerChoice> choice = from_recipe()) return *choice;
    }
    for (const KernelId kernel : class_default(device_, options_.family)) {
      if (!serves(kernel)) continue;
      if (options_.family == Family::kAny)
        return made(kernel, Source::kClassDefault,
                    fmt::format("class default of sm_{}", device_.architecture));
      return made(kernel, Source::kForced,
                  fmt::format("family {} forced", family_name(options_.family)));
    }
    return library(Source::kLibrary, "no own kernel serves");
  }

 private:
  std::optional<LayerChoice> from_tune_file() {
    // The entry of the largest batch class that is not larger than the batch, or else the first.
    const TuneEntry* found = nullptr;
    for (const TuneEntry& entry : options_.tuned) {
      if (entry.shape != layer_.shape || entry.mode != options_.mode) continue;
      const bool closer =
          found == nullptr || (entry.items <= options_.items
                                   ? found->items > options_.items || entry.items > found->items
                                   : entry.items < found->items);
      if (closer) found = &entry;
    }
    if (found == nullptr) return std::nullopt;
    if (found->kernel == KernelId::kLibrary && options_.kernel_only) {
      note("the tune file's library is not allowed in kernel-only mode");
      return std::nullopt;
    }
    if (!serves(found->kernel)) return std::nullopt;
    const std::vector<int> known = variants(device_, found->kernel, layer_.shape, options_.mode);
    if (std::find(known.begin(), known.end(), found->variant) == known.end())
      base::fail(ErrorCode::kInvalidArgument,
                 "the tune file asks for variant {} of {} for {}, which does not exist; run "
                 "diarist tune again",
                 found->variant, kernel_name(found->kernel), layer_.name);
    LayerChoice choice =
        made(found->kernel, Source::kTuneFile,
             fmt::format("tune file: {:.4f} ms at batch {}", found->milliseconds, found->items));
    choice.variant = found->variant;
    choice.name = variant_name(choice.kernel, choice.variant);
    return choice;
  }

  std::optional<LayerChoice> from_recipe() {
    const LayerShape& s = layer_.shape;
    for (const Recipe& recipe : kRecipes) {
      if (device_.name != recipe.device || device_.architecture != recipe.architecture ||
          device_.multiprocessors != recipe.multiprocessors)
        continue;
      for (const RecipeEntry& entry : recipe.entries) {
        if (entry.cin != s.cin || entry.cout != s.cout || entry.taps != s.taps ||
            entry.stride != s.stride_f || entry.stride != s.stride_t ||
            entry.mode != options_.mode || !serves(entry.kernel))
          continue;
        return made(entry.kernel, Source::kRecipe, fmt::format("recipe of {}", recipe.device));
      }
    }
    return std::nullopt;
  }

  // Notes the reason when a kernel that has this shape can't be taken here.
  bool serves(KernelId kernel) {
    const std::string problem = why_not(device_, kernel, layer_.shape, options_.mode);
    if (!problem.empty()) {
      if (problem.find("shared memory") != std::string::npos)
        note(fmt::format("{} {}", kernel_name(kernel), problem));
      return false;
    }
    if (layer_.weights_exceed_half && holds_halves(kernel, options_.mode)) {
      note(fmt::format("{} not taken: weights beyond the range of a half", kernel_name(kernel)));
      return false;
    }
    if (kernel == KernelId::kBlockWalk && !around_.whole_block) {
      note("block_walk not taken: the block can't be one kernel here");
      return false;
    }
    if (kernel == KernelId::kConvDown && !around_.shortcut) {
      note("conv_down not taken: no shortcut to fold in");
      return false;
    }
    return true;
  }

  void note(const std::string& text) {
    if (notes_.find(text) != std::string::npos) return;
    notes_ += (notes_.empty() ? "" : "; ") + text;
  }

  LayerChoice made(KernelId kernel, Source source, const std::string& reason) {
    LayerChoice choice;
    choice.kernel = kernel;
    choice.source = source;
    choice.reason = joined(reason, notes_);
    choice.launched_by = index_;
    choice.variant = choose_variant(device_, kernel, layer_.shape, options_.mode, options_.items);
    choice.name = variant_name(choice.kernel, choice.variant);
    return choice;
  }

  LayerChoice library(Source source, const std::string& reason) {
    if (options_.kernel_only)
      base::fail(ErrorCode::kUnsupported,
                 "{} ({}), batch {}, {} mode: no own kernel on {} (sm_{}), and kernel-only mode "
                 "loads no library ({}); allow the library or take another mode",
                 layer_.name, shape_text(layer_.shape), options_.items, mode_name(options_.mode),
                 device_.name, device_.architecture, joined(reason, notes_));
    return made(KernelId::kLibrary, source, reason);
  }

  const DeviceFacts& device_;
  const ConvLayer& layer_;
  const ChoiceOptions& options_;
  int index_;
  const Surroundings& around_;
  std::string notes_;
};

}  // namespace

const char* mode_name(Mode mode) noexcept {
  constexpr const char* kNames[] = {"exact", "fast", "tf32"};
  return kNames[static_cast<int>(mode)];
}

const char* family_name(Family family) noexcept {
  constexpr const char* kNames[] = {"any", "hopper", "portable", "fp32", "library"};
  return kNames[static_cast<int>(family)];
}

const char* kernel_name(KernelId kernel) noexcept {
  constexpr const char* kNames[] = {"stem_mma",  "stem_ffma",   "block_walk", "conv_walk",
                                    "conv_down", "conv_stride", "conv_tile",  "conv_mma",
                                    "conv_ffma", "library"};
  return kNames[static_cast<int>(kernel)];
}

const char* source_name(Source source) noexcept {
  constexpr const char* kNames[] = {"tune file", "recipe", "class default", "library", "forced"};
  return kNames[static_cast<int>(source)];
}

std::string shape_text(const LayerShape& shape) {
  const int kernel = shape.taps == 9 ? 3 : 1;
  const std::string stride = shape.stride_f == shape.stride_t
                                 ? fmt::format("{}", shape.stride_f)
                                 : fmt::format("{} x {}", shape.stride_f, shape.stride_t);
  const std::string window = shape.taps == 9 || shape.taps == 1
                                 ? fmt::format("{}x{}", kernel, kernel)
                                 : fmt::format("{} taps", shape.taps);
  return fmt::format("{} to {} channels, {}, stride {}, {} x {}{}", shape.cin, shape.cout, window,
                     stride, shape.frequency, shape.time, shape.residual ? ", residual" : "");
}

LayerChoice select(const DeviceFacts& device, const ConvLayer& layer, const ChoiceOptions& options,
                   int index, const Surroundings& around) {
  return Selection(device, layer, options, index, around).run();
}

LayerChoice choose_layer(const DeviceFacts& device, const ConvLayer& layer,
                         const ChoiceOptions& options, int index) {
  return select(device, layer, options, index, {});
}

}  // namespace diarist::backend::cuda
