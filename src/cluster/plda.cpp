#include "cluster/plda.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "base/error.hpp"
#include "cluster/matrix.hpp"
#include "cluster/parallel.hpp"
#include "cluster/rows.hpp"

namespace diarist::cluster {
namespace {

constexpr std::size_t kEmbedding = 256;
constexpr std::size_t kFeature = 128;
constexpr std::size_t kRowBlock = 128;  // rows per task

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

void Plda::features(std::span<const float> embeddings, std::vector<double>* whitened,
                    std::vector<double>& features, base::TaskPool* pool,
                    const std::stop_token& stop) const {
  if (embeddings.size() % kEmbedding != 0)
    base::fail(ErrorCode::kInvalidArgument, "{} embedding values are not rows of {}",
               embeddings.size(), kEmbedding);
  const std::size_t rows = embeddings.size() / kEmbedding;
  if (whitened != nullptr) resize_in_parts(*whitened, rows * kFeature, stop);
  resize_in_parts(features, rows * kFeature, stop);
  // x = tr (b - mu), so B of the product is tr transposed.
  std::vector<double> tr_transposed(tr.size());
  for (std::size_t i = 0; i < kFeature; ++i)
    for (std::size_t j = 0; j < kFeature; ++j)
      tr_transposed[j * kFeature + i] = tr[i * kFeature + j];
  const double embedding_scale = std::sqrt(static_cast<double>(kEmbedding));
  const double feature_scale = std::sqrt(static_cast<double>(kFeature));
  parallel_for(pool, (rows + kRowBlock - 1) / kRowBlock, stop, [&](std::size_t block) {
    const std::size_t first = block * kRowBlock;
    const std::size_t count = std::min(kRowBlock, rows - first);
    std::vector<double> centred(count * kEmbedding), white(count * kFeature),
        shifted(count * kFeature);
    const float* embedding = &embeddings[first * kEmbedding];
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t d = 0; d < kEmbedding; ++d)
        centred[i * kEmbedding + d] = static_cast<double>(embedding[i * kEmbedding + d]) - mean1[d];
    normalize_rows(centred, kEmbedding);
    for (double& value : centred) value *= embedding_scale;

    multiply({centred.data(), kEmbedding, 1}, lda.data(), white.data(), count, kEmbedding, kFeature,
             nullptr);
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t d = 0; d < kFeature; ++d) white[i * kFeature + d] -= mean2[d];
    normalize_rows(white, kFeature);
    for (double& value : white) value *= feature_scale;
    if (whitened != nullptr)
      std::copy(white.begin(), white.end(),
                whitened->begin() + static_cast<std::ptrdiff_t>(first * kFeature));

    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t d = 0; d < kFeature; ++d)
        shifted[i * kFeature + d] = white[i * kFeature + d] - mu[d];
    multiply({shifted.data(), kFeature, 1}, tr_transposed.data(), &features[first * kFeature],
             count, kFeature, kFeature, nullptr);
  });
}

}  // namespace diarist::cluster
