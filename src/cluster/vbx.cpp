#include "cluster/vbx.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "base/run_control.hpp"
#include "cluster/kernels.hpp"
#include "cluster/matrix.hpp"
#include "cluster/parallel.hpp"

namespace diarist::cluster {
namespace {

constexpr std::size_t kRowBlock = 64;       // rows per task
constexpr std::size_t kColumnBlock = 64;    // speakers per task
constexpr std::size_t kSpeakerBlock = 16;   // speakers per task, where each takes logarithms
constexpr std::size_t kRowsPerLook = 1024;  // rows moved before the next look at the stop token

// Softmax of smoothing * one-hot(label).
std::vector<double> smoothed_labels(std::span<const std::int32_t> labels, std::size_t speakers,
                                    double smoothing, const std::stop_token& stop) {
  const double other = std::exp(-smoothing);
  const double total = 1.0 + static_cast<double>(speakers - 1) * other;
  std::vector<double> gamma;
  gamma.reserve(labels.size() * speakers);
  for (std::size_t t = 0; t < labels.size(); ++t) {
    if (t % kRowsPerLook == 0) base::check_stop(stop);
    gamma.insert(gamma.end(), speakers, other / total);
    gamma[t * speakers + static_cast<std::size_t>(labels[t])] = 1.0 / total;
  }
  return gamma;
}

std::vector<double> column_sums(const std::vector<double>& gamma, std::size_t speakers,
                                base::TaskPool* pool, const std::stop_token& stop) {
  std::vector<double> sums(speakers, 0.0);
  parallel_for(pool, (speakers + kColumnBlock - 1) / kColumnBlock, stop, [&](std::size_t block) {
    const std::size_t first = block * kColumnBlock;
    const std::size_t last = std::min(speakers, first + kColumnBlock);
    for (std::size_t start = 0; start < gamma.size(); start += speakers)
      for (std::size_t s = first; s < last; ++s) sums[s] += gamma[start + s];
  });
  return sums;
}

// Eight sums of every eighth number, then those in order: a single chain of additions would take
// longer than the exponentials.
double interleaved_sum(const std::vector<double>& values) {
  constexpr std::size_t kChains = 8;
  double sums[kChains] = {};
  std::size_t i = 0;
  for (; i + kChains <= values.size(); i += kChains)
    for (std::size_t c = 0; c < kChains; ++c) sums[c] += values[i + c];
  for (std::size_t c = 0; i + c < values.size(); ++c) sums[c] += values[i + c];
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

// rho = x * sqrt(phi); the constant of a row is the log density up to the speaker's part.
struct Observations {
  std::vector<double> rho, constant;
};

Observations observations(std::span<const double> features, std::span<const double> phi,
                          base::TaskPool* pool, const std::stop_token& stop) {
  const std::size_t dim = phi.size();
  const std::size_t rows = features.size() / dim;
  Observations result{{}, std::vector<double>(rows)};
  resize_in_parts(result.rho, rows * dim, stop);
  std::vector<double> root(dim);
  std::transform(phi.begin(), phi.end(), root.begin(),
                 [](double value) { return std::sqrt(value); });
  parallel_for(pool, (rows + kRowBlock - 1) / kRowBlock, stop, [&](std::size_t block) {
    const std::size_t last = std::min(rows, (block + 1) * kRowBlock);
    for (std::size_t t = block * kRowBlock; t < last; ++t) {
      double square = 0;
      for (std::size_t d = 0; d < dim; ++d) {
        const double x = features[t * dim + d];
        square += x * x;
        result.rho[t * dim + d] = x * root[d];
      }
      result.constant[t] =
          -0.5 * (square + static_cast<double>(dim) * std::log(2.0 * std::numbers::pi));
    }
  });
  return result;
}

// Columns are moved together when a quarter of them has faded: moving costs as much as one round.
constexpr std::size_t kWorthMoving = 4;

// Leaves out columns that have faded, where that pays. \return columns that are left.
std::size_t drop_faded(double faded, std::vector<double>& gamma, std::vector<double>& weights,
                       std::vector<double>& priors, std::vector<std::size_t>& kept,
                       const std::stop_token& stop) {
  const std::size_t before = kept.size();
  std::vector<std::size_t> alive;
  for (std::size_t s = 0; s < before; ++s)
    if (!(weights[s] < faded)) alive.push_back(s);
  if (alive.empty() || (before - alive.size()) * kWorthMoving < before) return before;
  const std::size_t rows = gamma.size() / before;
  // Forwards and in place: no cell is written before it was read.
  for (std::size_t t = 0; t < rows; ++t) {
    if (t % kRowsPerLook == 0) base::check_stop(stop);
    for (std::size_t s = 0; s < alive.size(); ++s)
      gamma[t * alive.size() + s] = gamma[t * before + alive[s]];
  }
  gamma.resize(rows * alive.size());
  for (std::size_t s = 0; s < alive.size(); ++s) {
    weights[s] = weights[alive[s]];
    priors[s] = priors[alive[s]];
    kept[s] = kept[alive[s]];
  }
  weights.resize(alive.size());
  priors.resize(alive.size());
  kept.resize(alive.size());
  return alive.size();
}

// Puts the columns back to their places among all; those that faded are zero.
void spread(const std::vector<std::size_t>& kept, std::size_t all, std::vector<double>& gamma,
            std::vector<double>& priors, const std::stop_token& stop) {
  if (kept.size() == all) return;
  const std::size_t rows = gamma.size() / kept.size();
  std::vector<double> wide_priors(all, 0.0);
  for (std::size_t s = 0; s < kept.size(); ++s) wide_priors[kept[s]] = priors[s];
  // Backwards and in place, so that there are no two of the largest array.
  resize_in_parts(gamma, rows * all, stop);
  std::vector<double> row(kept.size());
  for (std::size_t t = rows; t > 0; --t) {
    if (t % kRowsPerLook == 0) base::check_stop(stop);
    double* const wide = &gamma[(t - 1) * all];
    std::copy_n(&gamma[(t - 1) * kept.size()], kept.size(), row.begin());
    std::fill_n(wide, all, 0.0);
    for (std::size_t s = 0; s < kept.size(); ++s) wide[kept[s]] = row[s];
  }
  priors = std::move(wide_priors);
}

}  // namespace

VbxResult vbx(std::span<const double> features, std::span<const double> phi,
              std::span<const std::int32_t> labels, const VbxSettings& settings,
              base::TaskPool* pool) {
  const std::size_t rows = labels.size();
  const std::size_t dim = phi.size();
  if (rows == 0 || features.size() != rows * dim)
    base::fail(ErrorCode::kInternal, "VBx with {} feature values for {} rows of {}",
               features.size(), rows, dim);
  const std::size_t all =
      static_cast<std::size_t>(*std::max_element(labels.begin(), labels.end())) + 1;
  std::size_t speakers = all;  // columns that are still there
  std::vector<std::size_t> kept(all);
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  const double ratio = settings.fa / settings.fb;

  const Observations seen = observations(features, phi, pool, settings.stop);
  VbxResult result;
  result.speakers = all;
  result.responsibilities =
      smoothed_labels(labels, speakers, settings.initial_smoothing, settings.stop);
  result.priors.assign(speakers, 1.0 / static_cast<double>(speakers));
  std::vector<double>& gamma = result.responsibilities;
  std::vector<double> alpha(speakers * dim), alpha_transposed(dim * speakers);
  std::vector<double> speaker_term(speakers), log_prior(speakers), row_evidence(rows);
  std::vector<double> weights = column_sums(gamma, speakers, pool, settings.stop);

  for (int iteration = 0; iteration < settings.max_iterations; ++iteration) {
    multiply({gamma.data(), 1, speakers}, seen.rho.data(), alpha.data(), speakers, rows, dim, pool,
             settings.stop);
    parallel_for(pool, (speakers + kSpeakerBlock - 1) / kSpeakerBlock, [&](std::size_t block) {
      const std::size_t last = std::min(speakers, (block + 1) * kSpeakerBlock);
      for (std::size_t s = block * kSpeakerBlock; s < last; ++s) {
        double term = 0;
        for (std::size_t d = 0; d < dim; ++d) {
          const double inverse = 1.0 / (1.0 + ratio * weights[s] * phi[d]);
          double& cell = alpha[s * dim + d];
          const double mean = ratio * inverse * cell;
          alpha_transposed[d * speakers + s] = mean;
          term += (inverse + mean * mean) * phi[d];
          cell = std::log(inverse) - inverse - mean * mean + 1.0;  // its part of the lower bound
        }
        speaker_term[s] = 0.5 * term;
        log_prior[s] = std::log(result.priors[s] + 1e-8);
      }
    });
    double speaker_bound = 0;
    for (std::size_t i = 0; i < speakers * dim; ++i) speaker_bound += alpha[i];
    // The responsibilities have played their part; the log densities take their place.
    multiply({seen.rho.data(), dim, 1}, alpha_transposed.data(), gamma.data(), rows, dim, speakers,
             pool, settings.stop);
    parallel_for(pool, (rows + kRowBlock - 1) / kRowBlock, settings.stop, [&](std::size_t block) {
      const std::size_t last = std::min(rows, (block + 1) * kRowBlock);
      std::vector<double> powers(speakers);
      for (std::size_t t = block * kRowBlock; t < last; ++t) {
        double* p = &gamma[t * speakers];
        for (std::size_t s = 0; s < speakers; ++s)
          p[s] = settings.fa * (p[s] - speaker_term[s] + seen.constant[t]) + log_prior[s];
        const double most = *std::max_element(p, p + speakers);
        exponentials(p, most, speakers, powers.data());
        const double evidence = most + std::log(interleaved_sum(powers));
        exponentials(p, evidence, speakers, p);
        row_evidence[t] = evidence;
      }
    });
    weights = column_sums(gamma, speakers, pool, settings.stop);
    result.priors = weights;
    double total = 0;
    for (const double prior : result.priors) total += prior;
    for (double& prior : result.priors) prior /= total;
    double elbo = 0;
    for (const double evidence : row_evidence) elbo += evidence;
    elbo += settings.fb * 0.5 * speaker_bound;
    result.elbo.push_back(elbo);
    if (iteration > 0 && elbo - result.elbo[result.elbo.size() - 2] < settings.epsilon) break;
    speakers = drop_faded(settings.faded, gamma, weights, result.priors, kept, settings.stop);
  }
  spread(kept, all, gamma, result.priors, settings.stop);
  return result;
}

}  // namespace diarist::cluster
