#pragma once
// The pair embedders of the presets "open" (gathered rows) and "open-lite" (block variant).

#include <memory>

#include "pipeline/pair_embedder.hpp"

namespace diarist::pipeline {

/// A pair's vector comes from one pass over the rows of its mask.
std::unique_ptr<PairEmbedder> make_gather_embedder(backend::Backend& backend, backend::Queue& queue,
                                                   const model::Weights& weights, int windows,
                                                   Precision precision);

/// From one window with a trunk pass to the next.
inline constexpr int kBlockSeconds = 10;

/// Trunk passes for every tenth second only; all pairs pool those frame vectors.
std::unique_ptr<PairEmbedder> make_block_embedder(backend::Backend& backend, backend::Queue& queue,
                                                  const model::Weights& weights, int windows,
                                                  int tape_seconds, Precision precision);

}  // namespace diarist::pipeline
