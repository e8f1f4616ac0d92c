#include "pipeline/bench_batch.hpp"

#include <algorithm>
#include <cmath>

#include "model/topology.hpp"
#include "pipeline/random_resnet.hpp"

namespace diarist::pipeline {
namespace {

constexpr std::int64_t kFeatures = std::int64_t{998} * 80;
constexpr std::int64_t kMasks = std::int64_t{3} * 589;
constexpr std::int64_t kEmbeddings = std::int64_t{3} * model::kResnet34Size;

std::size_t count(int items, std::int64_t each) {
  return static_cast<std::size_t>(items) * static_cast<std::size_t>(each);
}

}  // namespace

BenchBatch::BenchBatch(backend::Backend& backend, int items)
    : items_(items),
      features_(count(items, kFeatures)),
      masks_(count(items, kMasks)),
      embeddings_(count(items, kEmbeddings)),
      device_features_(backend.allocate(features_.size() * sizeof(float))),
      device_masks_(backend.allocate(masks_.size() * sizeof(float))),
      device_embeddings_(backend.allocate(embeddings_.size() * sizeof(float))) {
  run_.items = items;
  run_.inputs = {{device_features_.get(), 0, kFeatures, 0}, {device_masks_.get(), 0, kMasks, 0}};
  run_.outputs = {{device_embeddings_.get(), 0, kEmbeddings, 0}};
  fill(0);
}

void BenchBatch::fill(int first) {
  for (int chunk = 0; chunk < 2; ++chunk) {
    const std::vector<float> features = random_features(chunk), masks = example_masks(chunk);
    for (int i = 0; i < items_; ++i) {
      if (chunk_at(first + i) != chunk) continue;
      std::copy(features.begin(), features.end(),
                features_.begin() + static_cast<std::ptrdiff_t>(i) * kFeatures);
      std::copy(masks.begin(), masks.end(),
                masks_.begin() + static_cast<std::ptrdiff_t>(i) * kMasks);
    }
  }
}

void BenchBatch::swap_chunks() {
  first_ = 1 - first_;
  fill(first_);
}

void BenchBatch::upload(backend::Queue& queue) {
  queue.upload(*device_features_, 0, std::as_bytes(std::span(features_)));
  queue.upload(*device_masks_, 0, std::as_bytes(std::span(masks_)));
}

void BenchBatch::download(backend::Queue& queue) {
  queue.download(*device_embeddings_, 0, std::as_writable_bytes(std::span(embeddings_)));
}

std::size_t BenchBatch::bytes() const noexcept {
  return device_features_->bytes() + device_masks_->bytes() + device_embeddings_->bytes();
}

double worse(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::nan("");
  return std::min(a, b);
}

double worst_cosine(std::span<const float> a, std::span<const float> b) {
  constexpr std::size_t kDim = model::kResnet34Size;
  double worst = 1;
  for (std::size_t row = 0; row + kDim <= a.size(); row += kDim) {
    double dot = 0, aa = 0, bb = 0;
    for (std::size_t i = row; i < row + kDim; ++i) {
      dot += double{a[i]} * double{b[i]};
      aa += double{a[i]} * double{a[i]};
      bb += double{b[i]} * double{b[i]};
    }
    worst = worse(worst, dot / std::sqrt(aa * bb));
  }
  return worst;
}

}  // namespace diarist::pipeline
