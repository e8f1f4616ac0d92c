#pragma once
// Variational Bayes clustering of voice prints with a speaker-level Gaussian prior (pipeline.md 8).

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

namespace diarist::base {
class TaskPool;
}

namespace diarist::cluster {

struct VbxSettings {
  double fa = 0.07;  // weight of the observations
  double fb = 0.8;   // weight of the speaker priors
  int max_iterations = 20;
  double epsilon = 1e-4;  // least gain of the lower bound for another iteration
  double initial_smoothing = 7.0;
  /// Columns whose responsibilities add up to less are left out of further rounds; 0: none. With
  /// 1e-6 they can't be the label of any row, nor become it: a row's label has at least 1/S.
  double faded = 0;
  std::stop_token stop;  // looked at several times per round, every few milliseconds
};

struct VbxResult {
  std::size_t speakers = 0;              // S: columns, those of the initial labels
  std::vector<double> responsibilities;  // [T, S], rows sum to 1; columns left out are zero
  std::vector<double> priors;            // [S]
  std::vector<double> elbo;              // lower bound after every iteration
};

/// \param features [T, D] with within-class covariance 1.
/// \param phi [D] between-class variances.
/// \param labels [T] initial clusters, 0 .. S-1.
/// \throws Error kCancelled.
VbxResult vbx(std::span<const double> features, std::span<const double> phi,
              std::span<const std::int32_t> labels, const VbxSettings& settings,
              base::TaskPool* pool);

}  // namespace diarist::cluster
