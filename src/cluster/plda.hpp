#pragma once
// PLDA features of community-1 (pipeline.md 8, models.md (d)). All f64.

#include <span>
#include <stop_token>
#include <vector>

namespace diarist::base {
class TaskPool;
}

namespace diarist::cluster {

/// Parameters of the transform. Sizes: mean1 [256], lda [256,128], mean2 [128], mu [128],
/// tr [128,128], psi [128] in decreasing order.
struct Plda {
  std::vector<double> mean1, lda, mean2, mu, tr, psi;

  /// Checks sizes and finiteness, and sorts psi (with the rows of tr) if it is not decreasing.
  /// \throws Error kBadModel.
  void check_and_sort();

  /// embeddings [T, 256] -> features [T, 128]; `whitened` [T, 128] is the step before
  /// ("post_xvec"), null when nobody wants it. \throws Error kCancelled.
  void features(std::span<const float> embeddings, std::vector<double>* whitened,
                std::vector<double>& features, base::TaskPool* pool = nullptr,
                const std::stop_token& stop = {}) const;
};

}  // namespace diarist::cluster
