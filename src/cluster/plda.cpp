#include "cluster/plda.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "base/error.hpp"
#include "cluster/matrix.hpp"
#include "cluster/rows.hpp"

namespace diarist::cluster {
namespace {

constexpr std::size_t kEmbedding = 256;
constexpr std::size_t kFeature = 128;

void check(std::string_view name, const std::vector<double>& values, std::size_t size) {
  if (values.size() != size)
    base::fail(ErrorCode::kBadModel, "PLDA array {} has {} values, not {}; import the bundle again",
               name, values.size(), size);
  if (!std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); }))
    base::fail(ErrorCode::kBadModel,
               "PLDA array {} holds values that are not finite; import the bundle again", name);
}

}  // namespace

void Plda::check_and_sort() {
  check("mean1", mean1, kEmbedding);
  check("lda", lda, kEmbedding * kFeature);
  check("mean2", mean2, kFeature);
  check("mu", mu, kFeature);
  check("tr", tr, kFeature * kFeature);
  check("psi", psi, kFeature);
  if (!std::all_of(psi.begin(), psi.end(), [](double value) { return value >= 0; }))
    base::fail(ErrorCode::kBadModel, "PLDA array psi holds a negative variance");
  if (std::is_sorted(psi.begin(), psi.end(), std::greater<>())) return;
  std::vector<std::size_t> order(kFeature);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [this](std::size_t a, std::size_t b) { return psi[a] > psi[b]; });
  const std::vector<double> old_psi = psi, old_tr = tr;
  for (std::size_t i = 0; i < kFeature; ++i) {
    psi[i] = old_psi[order[i]];
    std::copy_n(&old_tr[order[i] * kFeature], kFeature, &tr[i * kFeature]);
  }
}

void Plda::features(std::span<const float> embeddings, std::vector<double>& whitened,
                    std::vector<double>& features) const {
  if (embeddings.size() % kEmbedding != 0)
    base::fail(ErrorCode::kInvalidArgument, "{} embedding values are not rows of {}",
               embeddings.size(), kEmbedding);
  const std::size_t rows = embeddings.size() / kEmbedding;
  std::vector<double> centred(rows * kEmbedding);
  for (std::size_t i = 0; i < centred.size(); ++i)
    centred[i] = static_cast<double>(embeddings[i]) - mean1[i % kEmbedding];
  normalize_rows(centred, kEmbedding);
  const double embedding_scale = std::sqrt(static_cast<double>(kEmbedding));
  for (double& value : centred) value *= embedding_scale;

  whitened.resize(rows * kFeature);
  multiply({centred.data(), kEmbedding, 1}, lda.data(), whitened.data(), rows, kEmbedding, kFeature,
           nullptr);
  for (std::size_t i = 0; i < whitened.size(); ++i) whitened[i] -= mean2[i % kFeature];
  normalize_rows(whitened, kFeature);
  const double feature_scale = std::sqrt(static_cast<double>(kFeature));
  for (double& value : whitened) value *= feature_scale;

  // x = tr (b - mu), so B of the product is tr transposed.
  std::vector<double> shifted(whitened.size()), tr_transposed(tr.size());
  for (std::size_t i = 0; i < shifted.size(); ++i) shifted[i] = whitened[i] - mu[i % kFeature];
  for (std::size_t i = 0; i < kFeature; ++i)
    for (std::size_t j = 0; j < kFeature; ++j)
      tr_transposed[j * kFeature + i] = tr[i * kFeature + j];
  features.resize(rows * kFeature);
  multiply({shifted.data(), kFeature, 1}, tr_transposed.data(), features.data(), rows, kFeature,
           kFeature, nullptr);
}

}  // namespace diarist::cluster
