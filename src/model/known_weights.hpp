#pragma once
// What diarist knows about published weight files: hashes of whole files, and numbers inside them
// that tell the same weights in another file (another container, an export, a folded copy).

#include <string>

#include "diarist/models.hpp"
#include "model/networks.hpp"

namespace diarist::model {

/// A file whose sha256 is pinned here.
struct KnownFile {
  const char* sha256;
  const char* kind;    // as in ModelFileReport
  const char* source;  // where it was published
  const char* licence;
  Trust trust;  // kKnownHash or kTestWeights
};

/// The pinned file with this hash: a published source file, a PLDA array file, or the folded
/// safetensors that diarist makes of one. Null when unknown.
const KnownFile* find_known_file(const std::string& sha256);

/// Judges folded weights by the numbers inside: kFingerprint when they carry the published ones,
/// kTestWeights for the stand-in in any container, otherwise kUnknown.
Trust judge_weights(const std::string& kind, const Weights& weights);

/// sha256 over the little-endian f32 values of one tensor.
std::string tensor_hash(const base::TensorF& tensor);

/// True for weights that need --allow-unknown-weights.
inline bool needs_permission(Trust trust) {
  return trust == Trust::kUnknown || trust == Trust::kTestWeights;
}

/// Licence of weights of this kind that carry the published fingerprint.
const char* published_licence(const std::string& kind) noexcept;

}  // namespace diarist::model
