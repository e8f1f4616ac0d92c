#pragma once
// The rules around the clustering algorithms: training subset, requested numbers, assignment
// (pipeline.md 6 to 9, 11, 18; campplus.md, preset "open", steps 4 to 8).

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "cluster/plda.hpp"
#include "diarist/options.hpp"

namespace diarist::base {
class TaskPool;
}

namespace diarist::cluster {

enum class Method {
  kVbxPlda,        // community-1
  kAgglomerative,  // pyannote-3.1
  kVbxIsotropic,   // open, open-lite
};

struct Settings {
  Method method = Method::kVbxPlda;
  SpeakerHints hints;
  bool reference = false;            // requested numbers as the reference treats them
  std::shared_ptr<const Plda> plda;  // kVbxPlda only
};

struct Input {
  int chunks = 0;
  int dim = 0;
  std::span<const std::uint8_t> activity;  // [C, 589] bits
  std::span<const float> embeddings;       // [C, 3, D]; NaN row = no vector
};

struct Result {
  std::vector<std::int32_t> hard;  // [C, 3]; -2 = unassigned or inactive
  std::vector<double> centroids;   // [K, D]; a row of NaN when there was nothing to train on
  int clusters = 0;                // K
  int max_count = 0;               // cap of the frame count; 0 = none
  std::vector<std::string> warnings;
  // Intermediates for parity tests and --save-stages.
  std::vector<std::int32_t> train_chunk, train_speaker;  // [T]
  std::vector<std::int32_t> initial_labels;              // [T] after linkage
  std::vector<double> responsibilities;                  // [T, S0] VBx gamma
  std::vector<double> priors;                            // [S0] VBx pi
  std::vector<double> elbo;                              // one per iteration
  std::vector<double> features;                          // [T, 128] PLDA features (kVbxPlda)
  std::vector<std::int32_t> hard_before_inactive;        // [C, 3] before inactive pairs became -2
};

/// \param pool threads; null: none. Never changes the result.
/// \throws Error kInvalidArgument for contradicting hints; kUnsupported where the reference has no
///     result for this recording; kCancelled.
Result assign_speakers(const Input& input, const Settings& settings, base::TaskPool* pool = nullptr,
                       const std::stop_token& stop = {});

}  // namespace diarist::cluster
