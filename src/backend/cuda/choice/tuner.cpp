#include "backend/cuda/choice/tuner.hpp"

#include <algorithm>
#include <optional>

#include "base/error.hpp"

namespace diarist::backend::cuda {
namespace {

constexpr KernelId kSingles[] = {KernelId::kConvTile, KernelId::kConvStride, KernelId::kConvWalk,
                                 KernelId::kStemMma,  KernelId::kStemFfma,   KernelId::kConvMma,
                                 KernelId::kConvFfma, KernelId::kLibrary};

std::size_t at(int index) { return static_cast<std::size_t>(index); }

// The first layer of every distinct shape.
std::vector<int> distinct_layers(std::span<const ConvLayer> layers) {
  std::vector<int> found;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool known = std::any_of(found.begin(), found.end(), [&](int other) {
      return layers[at(other)].shape == layers[i].shape;
    });
    if (!known) found.push_back(static_cast<int>(i));
  }
  return found;
}

bool same_shapes(std::span<const ConvLayer> layers, const std::vector<int>& a,
                 const std::vector<int>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](int x, int y) { return layers[at(x)].shape == layers[at(y)].shape; });
}

// Distinct groups of layers that the device could launch as one; smaller ones first.
std::vector<std::vector<int>> fused_groups(const DeviceFacts& device,
                                           std::span<const ConvLayer> layers, Mode mode) {
  std::vector<std::vector<int>> groups;
  const TrunkChoice choice = choose_trunk(device, layers, {.mode = mode});
  for (int leader = 0; leader < static_cast<int>(layers.size()); ++leader) {
    std::vector<int> group;
    for (int i = 0; i < static_cast<int>(layers.size()); ++i)
      if (choice.layers[at(i)].launched_by == leader) group.push_back(i);
    const bool known = std::any_of(groups.begin(), groups.end(), [&](const auto& other) {
      return same_shapes(layers, group, other);
    });
    if (group.size() > 1 && !known) groups.push_back(group);
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return groups;
}

bool may_take(const DeviceFacts& device, const ConvLayer& layer, KernelId kernel, Mode mode,
              bool kernel_only) {
  if (kernel == KernelId::kLibrary && (kernel_only || layer.shape.stem() || mode == Mode::kExact))
    return false;
  const bool halves = kernel != KernelId::kConvFfma && kernel != KernelId::kStemFfma;
  // FP32 maps don't fit beside halves: only where halves can't serve.
  if (layer.weights_exceed_half == halves && kernel != KernelId::kLibrary) return false;
  return why_not(device, kernel, layer.shape, mode).empty();
}

struct Best {
  KernelId kernel = KernelId::kConvMma;
  int variant = 0;
  double milliseconds = 0;
};

// Chooses for one mode.
class Tuning {
 public:
  Tuning(const DeviceFacts& device, std::span<const ConvLayer> layers, Mode mode, bool kernel_only,
         const TimeCandidate& time)
      : device_(device), layers_(layers), mode_(mode), kernel_only_(kernel_only), time_(time) {}

  std::vector<TuneEntry> run(std::vector<int> batches) {
    std::sort(batches.begin(), batches.end());
    batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
    shapes_ = distinct_layers(layers_);
    const int largest = batches.back();
    for (const int layer : shapes_) best_.push_back(quickest(layer, largest));
    for (const std::vector<int>& group : fused_groups(device_, layers_, mode_))
      consider(group, largest);
    std::vector<TuneEntry> entries;
    for (std::size_t i = 0; i < shapes_.size(); ++i) {
      add(entries, i, largest, best_[i]);
      for (const int items : batches)
        if (items != largest) add(entries, i, items, quickest_variant(i, items));
    }
    return entries;
  }

 private:
  std::optional<Best> timed(const Candidate& candidate) {
    const CandidateTime result = time_(candidate);
    if (!result.problem.empty()) {
      problem_ = result.problem;
      return std::nullopt;
    }
    return Best{candidate.kernel, candidate.variant, result.milliseconds};
  }

  void keep_quicker(std::optional<Best>& best, const Candidate& candidate) {
    const std::optional<Best> one = timed(candidate);
    if (one && (!best || one->milliseconds < best->milliseconds)) best = one;
  }

  Best quickest(int layer, int items) {
    std::optional<Best> best;
    for (const KernelId kernel : kSingles) {
      if (!may_take(device_, layers_[at(layer)], kernel, mode_, kernel_only_)) continue;
      for (const int variant : variants(device_, kernel, layers_[at(layer)].shape, mode_))
        keep_quicker(best, {{layer}, kernel, variant, mode_, items});
    }
    return found(best, layer, items);
  }

  const Best& found(const std::optional<Best>& best, int layer, int items) const {
    if (best) return *best;
    base::fail(ErrorCode::kUnsupported, "{}, batch {}, {}: no kernel could be timed ({})",
               shape_text(layers_[at(layer)].shape), items, device_.name,
               problem_.empty() ? "none serves" : problem_);
  }

  std::size_t shape_of(int layer) const {
    std::size_t i = 0;
    while (layers_[at(shapes_[i])].shape != layers_[at(layer)].shape) ++i;
    return i;
  }

  void consider(const std::vector<int>& group, int items) {
    const KernelId kernel =
        layers_[at(group.front())].shape.stride_f == 2 ? KernelId::kConvDown : KernelId::kBlockWalk;
    const std::optional<Best> fused = timed({group, kernel, 0, mode_, items});
    if (!fused) return;
    double alone = 0;
    for (const int layer : group) alone += best_[shape_of(layer)].milliseconds;
    if (fused->milliseconds >= alone) return;
    for (const int layer : group) {
      best_[shape_of(layer)] = *fused;
      groups_.emplace_back(shape_of(layer), group);
    }
  }

  // Members of a fused group are timed as the group; its kernels have one variant.
  Best quickest_variant(std::size_t shape, int items) {
    const int layer = shapes_[shape];
    const KernelId kernel = best_[shape].kernel;
    std::optional<Best> best;
    for (const auto& [member, group] : groups_)
      if (member == shape) keep_quicker(best, {group, kernel, 0, mode_, items});
    if (!best)
      for (const int variant : variants(device_, kernel, layers_[at(layer)].shape, mode_))
        keep_quicker(best, {{layer}, kernel, variant, mode_, items});
    return found(best, layer, items);
  }

  void add(std::vector<TuneEntry>& entries, std::size_t shape, int items, const Best& best) {
    entries.push_back({layers_[at(shapes_[shape])].shape, mode_, items, best.kernel, best.variant,
                       best.milliseconds});
  }

  const DeviceFacts& device_;
  std::span<const ConvLayer> layers_;
  Mode mode_;
  bool kernel_only_;
  const TimeCandidate& time_;
  std::vector<int> shapes_;                                       // a layer of every distinct shape
  std::vector<Best> best_;                                        // parallel
  std::vector<std::pair<std::size_t, std::vector<int>>> groups_;  // fused: shape, group
  std::string problem_;
};

}  // namespace

std::vector<Candidate> candidates(const DeviceFacts& device, std::span<const ConvLayer> layers,
                                  Mode mode, int items, bool kernel_only) {
  std::vector<Candidate> found;
  for (const int layer : distinct_layers(layers))
    for (const KernelId kernel : kSingles) {
      if (!may_take(device, layers[at(layer)], kernel, mode, kernel_only)) continue;
      for (const int variant : variants(device, kernel, layers[at(layer)].shape, mode))
        found.push_back({{layer}, kernel, variant, mode, items});
    }
  for (const std::vector<int>& group : fused_groups(device, layers, mode))
    found.push_back(
        {group,
         layers[at(group.front())].shape.stride_f == 2 ? KernelId::kConvDown : KernelId::kBlockWalk,
         0, mode, items});
  return found;
}

std::string candidate_shape(std::span<const ConvLayer> layers, const Candidate& candidate) {
  std::string text;
  for (const int layer : candidate.layers)
    text += (text.empty() ? "" : " + ") + shape_text(layers[at(layer)].shape);
  return text;
}

std::vector<AlgorithmRow> time_candidates(const DeviceFacts& device,
                                          std::span<const ConvLayer> layers,
                                          const ChoiceOptions& options, const TimeCandidate& time) {
  const TrunkChoice choice = choose_trunk(device, layers, options);
  std::vector<AlgorithmRow> rows;
  for (const Candidate& candidate :
       candidates(device, layers, options.mode, options.items, options.kernel_only)) {
    const CandidateTime result = time(candidate);
    AlgorithmRow row;
    row.shape = candidate_shape(layers, candidate);
    row.kernel = variant_name(candidate.kernel, candidate.variant);
    row.milliseconds = result.milliseconds;
    row.workspace_bytes = result.workspace_bytes;
    row.problem = result.problem;
    const LayerChoice& first = choice.layers[at(candidate.layers.front())];
    const LayerChoice& last = choice.layers[at(candidate.layers.back())];
    row.chosen = first.kernel == candidate.kernel && last.kernel == candidate.kernel &&
                 first.launched_by == last.launched_by && first.variant == candidate.variant;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<TuneEntry> tune_trunk(const DeviceFacts& device, std::span<const ConvLayer> layers,
                                  Mode mode, std::span<const int> batches, bool kernel_only,
                                  const TimeCandidate& time) {
  if (batches.empty() || *std::min_element(batches.begin(), batches.end()) < 1)
    base::fail(ErrorCode::kInvalidArgument, "tuning wants one batch or more, each positive");
  return Tuning(device, layers, mode, kernel_only, time).run({batches.begin(), batches.end()});
}

TuneSession::TuneSession(const DeviceFacts& device, const std::string& driver) : device_(device) {
  file_.identity = {device.name, device.architecture, device.multiprocessors,
                    driver.empty() ? "unknown" : driver, kernel_set_hash()};
}

std::vector<std::string> TuneSession::tune(std::span<const ConvLayer> layers, Mode mode,
                                           std::span<const int> batches, bool kernel_only,
                                           const TimeCandidate& time) {
  const std::vector<TuneEntry> made = tune_trunk(device_, layers, mode, batches, kernel_only, time);
  std::erase_if(file_.entries, [&](const TuneEntry& entry) { return entry.mode == mode; });
  std::vector<std::string> lines;
  for (const TuneEntry& entry : made) {
    file_.entries.push_back(entry);
    lines.push_back(entry_text(entry));
  }
  return lines;
}

void TuneSession::write(const std::filesystem::path& target) const {
  if (file_.entries.empty())
    base::fail(ErrorCode::kInvalidArgument, "{}: nothing was measured yet", target.string());
  write_tune_file(file_, target);
}

std::vector<std::string> TuneSession::check(const std::filesystem::path& file) const {
  std::vector<std::string> lines;
  for (const TuneEntry& entry : load_tune_file(file, file_.identity, device_).entries)
    lines.push_back(entry_text(entry));
  return lines;
}

}  // namespace diarist::backend::cuda
