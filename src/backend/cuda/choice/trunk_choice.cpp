// Choices for a whole trunk: fusions and the formats of the maps.

#include <algorithm>

#include "backend/cuda/choice/choice.hpp"
#include "backend/cuda/choice/selection.hpp"
#include "base/error.hpp"

namespace diarist::backend::cuda {
namespace {

constexpr int kNone = -1;

// What the launches read and write, worked out from the values.
class Trunk {
 public:
  Trunk(const DeviceFacts& device, std::span<const ConvLayer> layers, const ChoiceOptions& options,
        std::span<const int> kept)
      : device_(device), layers_(layers), options_(options), kept_(kept) {}

  TrunkChoice run() {
    choice_.layers.resize(layers_.size());
    std::vector<bool> done(layers_.size(), false);
    for (int i = 0; i < count(); ++i) {
      const int second = second_of(i);
      if (second != kNone && is_plain_block(i, second) && fuse_block(i, second)) {
        done[at(i)] = done[at(second)] = true;
        continue;
      }
      const int shortcut = shortcut_of(i);
      if (shortcut != kNone && fuse_shortcut(i, shortcut)) done[at(i)] = done[at(shortcut)] = true;
    }
    for (int i = 0; i < count(); ++i) {
      if (!done[at(i)]) choice_.layers[at(i)] = select(device_, layer(i), options_, i, {});
    }
    lay_out_maps();
    return std::move(choice_);
  }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  int count() const { return static_cast<int>(layers_.size()); }
  const ConvLayer& layer(int index) const { return layers_[at(index)]; }
  bool handed_out(int value) const {
    return std::find(kept_.begin(), kept_.end(), value) != kept_.end();
  }

  bool reads(int index, int value) const {
    return layer(index).input == value || layer(index).residual == value;
  }

  // The only convolution that reads a layer's output as its input; none when others read it too or
  // it is handed out (the map must exist then).
  int second_of(int first) const {
    if (handed_out(layer(first).output)) return kNone;
    int found = kNone;
    for (int i = 0; i < count(); ++i) {
      if (!reads(i, layer(first).output)) continue;
      if (found != kNone || layer(i).residual == layer(first).output) return kNone;
      found = i;
    }
    return found;
  }

  bool is_plain_block(int first, int second) const {
    return !layer(first).shape.stem() && layer(first).shape.taps == 9 &&
           layer(first).residual < 0 && layer(second).shape.taps == 9 &&
           layer(second).residual == layer(first).input && layer(first).relu && layer(second).relu;
  }

  // Both layers, launched by `leader`, when each of them gets the fused kernel.
  bool fuse(int a, int b, int leader, KernelId kernel, const Surroundings& around) {
    LayerChoice one = select(device_, layer(a), options_, leader, around);
    LayerChoice other = select(device_, layer(b), options_, leader, around);
    if (one.kernel != kernel || other.kernel != kernel) return false;
    one.variant = other.variant = leader == a ? one.variant : other.variant;
    choice_.layers[at(a)] = std::move(one);
    choice_.layers[at(b)] = std::move(other);
    return true;
  }

  bool fuse_block(int first, int second) {
    return fuse(first, second, second, KernelId::kBlockWalk, {.whole_block = true});
  }

  // The 1x1 convolution of the same strides beside a 3x3 one.
  int shortcut_of(int main) const {
    if (layer(main).shape.taps != 9 || layer(main).shape.stem()) return kNone;
    for (int i = 0; i < count(); ++i) {
      const LayerShape& s = layer(i).shape;
      if (s.taps == 1 && layer(i).input == layer(main).input && s.cout == layer(main).shape.cout &&
          s.stride_f == layer(main).shape.stride_f && s.stride_t == layer(main).shape.stride_t &&
          layer(i).residual < 0 && !layer(i).relu)
        return i;
    }
    return kNone;
  }

  bool fuse_shortcut(int main, int shortcut) {
    return fuse(main, shortcut, main, KernelId::kConvDown, {.shortcut = true});
  }

  MapFormat format_of(const LayerChoice& choice) const {
    switch (choice.kernel) {
      case KernelId::kStemFfma:
      case KernelId::kConvFfma:
        return MapFormat::kFloat;  // they read and write any format
      case KernelId::kLibrary:
        return options_.mode == Mode::kFast ? MapFormat::kHalf : MapFormat::kFloat;
      default:
        return options_.mode == Mode::kExact ? MapFormat::kSplit : MapFormat::kHalf;
    }
  }

  bool any_format(int index) const {
    const KernelId kernel = choice_.layers[at(index)].kernel;
    return kernel == KernelId::kStemFfma || kernel == KernelId::kConvFfma;
  }

  // A map whose writer and readers are all launched together never leaves the kernel.
  bool stays_inside(int writer, int value) const {
    if (choice_.layers[at(writer)].kernel != KernelId::kBlockWalk || handed_out(value))
      return false;
    bool read = false;
    for (int i = 0; i < count(); ++i) {
      if (!reads(i, value)) continue;
      read = true;
      if (choice_.layers[at(i)].launched_by != choice_.layers[at(writer)].launched_by) return false;
    }
    return read;
  }

  MapFormat map_format(int value) const {
    MapFormat format = MapFormat::kFloat;
    int owner = kNone;  // the layer that insists on the format
    for (int i = 0; i < count(); ++i) {
      if (layer(i).output != value && !reads(i, value)) continue;
      if (layer(i).output == value && stays_inside(i, value)) return MapFormat::kNone;
      if (any_format(i) || (layer(i).shape.stem() && layer(i).output != value)) continue;
      const MapFormat wanted = format_of(choice_.layers[at(i)]);
      if (owner != kNone && wanted != format)
        base::fail(ErrorCode::kUnsupported,
                   "{} ({}) and {} ({}) keep their common map in different formats; take one "
                   "family for both",
                   layer(owner).name, choice_.layers[at(owner)].name, layer(i).name,
                   choice_.layers[at(i)].name);
      owner = i;
      format = wanted;
    }
    return format;
  }

  void lay_out_maps() {
    int largest = kNone;
    for (const ConvLayer& each : layers_)
      largest = std::max({largest, each.input, each.residual, each.output});
    choice_.maps.assign(at(largest + 1), MapFormat::kNone);
    for (int i = 0; i < count(); ++i)
      if (layer(i).output >= 0) choice_.maps[at(layer(i).output)] = map_format(layer(i).output);
  }

  const DeviceFacts& device_;
  std::span<const ConvLayer> layers_;
  const ChoiceOptions& options_;
  std::span<const int> kept_;
  TrunkChoice choice_;
};

}  // namespace

int TrunkChoice::beside(int leader) const {
  for (int i = 0; i < static_cast<int>(layers.size()); ++i)
    if (i != leader && layers[static_cast<std::size_t>(i)].launched_by == leader) return i;
  return -1;
}

TrunkChoice choose_trunk(const DeviceFacts& device, std::span<const ConvLayer> layers,
                         const ChoiceOptions& options, std::span<const int> kept) {
  return Trunk(device, layers, options, kept).run();
}

}  // namespace diarist::backend::cuda
