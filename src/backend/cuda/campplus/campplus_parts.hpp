#pragma once
// CAM++ recognised in a graph, by its blocks and their shapes.

#include <array>
#include <vector>

#include "model/graph.hpp"

namespace diarist::backend::cuda::campplus {

/// network: gathered rows to an embedding. trunk: gathered rows to frames. head: an item's own
/// frames to an embedding. pooled: frames gathered from a shared array to an embedding.
enum class GraphKind { kNetwork, kTrunk, kHead, kPooled };

/// A 3x3 convolution of the head, with the 1x1 shortcut that reads the same map, if there is one.
struct HeadConvolution {
  const model::Conv2d* convolution = nullptr;
  const model::Conv2d* shortcut = nullptr;
};

/// Order of the head: two stages of two basic blocks, of which the first has a shortcut, then one
/// convolution more.
inline constexpr int kHeadConvolutions = 9;

/// Points into the graph, which must outlive it.
struct CampplusParts {
  GraphKind kind = GraphKind::kNetwork;
  const model::Stem* stem = nullptr;
  std::array<HeadConvolution, kHeadConvolutions> head;
  const model::Conv1d* tdnn = nullptr;
  std::array<const model::DenseTdnnBlock*, 3> blocks{};
  std::array<const model::Dense*, 3> transits{};
  const model::StatsHead* statistics = nullptr;  // null in a trunk

  bool has_trunk() const { return kind == GraphKind::kNetwork || kind == GraphKind::kTrunk; }
};

/// \return false for any other graph, e.g. one whose outputs are intermediate values.
bool find_parts(const model::Graph& graph, CampplusParts& parts);

}  // namespace diarist::backend::cuda::campplus
