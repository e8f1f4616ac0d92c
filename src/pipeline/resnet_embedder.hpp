#pragma once
// The pair embedder of community-1 and pyannote-3.1.

#include <memory>

#include "pipeline/pair_embedder.hpp"

namespace diarist::pipeline {

std::unique_ptr<PairEmbedder> make_resnet_embedder(backend::Backend& backend, backend::Queue& queue,
                                                   const model::Weights& weights, int windows,
                                                   Precision precision);

}  // namespace diarist::pipeline
