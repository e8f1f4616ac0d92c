#pragma once
// Only the embedding network of a bundle, or of a weight file that is in no bundle.

#include <filesystem>
#include <string>

#include "diarist/models.hpp"
#include "model/networks.hpp"

namespace diarist::model {

struct EmbeddingWeights {
  std::string kind;  // "wespeaker-resnet34" or "campplus"
  Weights weights;
  ModelFileReport report;
};

/// A folder with a manifest, or a weight file; both are checked and judged as on import.
/// \throws Error kBadModel (also without the permission that unknown weights need), kNotFound.
EmbeddingWeights load_embedding(const std::filesystem::path& bundle_or_file,
                                bool allow_unknown_weights);

/// The same for a place that the user named: it is not a bundle that could be pulled.
/// \throws Error kBadModel when nothing is there.
EmbeddingWeights load_named_embedding(const std::filesystem::path& bundle_or_file,
                                      bool allow_unknown_weights);

}  // namespace diarist::model
