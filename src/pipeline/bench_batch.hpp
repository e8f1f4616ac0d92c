#pragma once
// One batch of the speaker embedding on one backend, as the measurements use it.

#include <memory>
#include <span>
#include <vector>

#include "backend/backend.hpp"

namespace diarist::pipeline {

/// Buffers with features and masks of `items` chunks, alternating between chunk 0 and chunk 1, and
/// the embeddings [items, 3, 256].
class BenchBatch {
 public:
  BenchBatch(backend::Backend& backend, int items);

  void upload(backend::Queue& queue);
  /// Complete after queue.wait().
  void download(backend::Queue& queue);
  const backend::Run& run() const noexcept { return run_; }
  std::size_t bytes() const noexcept;
  std::span<const float> embeddings() const noexcept { return embeddings_; }
  /// Chunk 0 or 1, whose numbers stand at a position.
  static int chunk_at(int position) noexcept { return position % 2; }
  /// Puts chunk 1 at position 0 (and 0 at 1, ...), so that a batch of one sees both.
  void swap_chunks();

 private:
  void fill(int first);

  int items_;
  int first_ = 0;
  std::vector<float> features_, masks_, embeddings_;
  std::unique_ptr<backend::Buffer> device_features_, device_masks_, device_embeddings_;
  backend::Run run_;
};

/// The smaller one; NaN when one is NaN.
double worse(double a, double b);

/// Smallest cosine between rows of 256. \pre equal lengths.
double worst_cosine(std::span<const float> a, std::span<const float> b);

}  // namespace diarist::pipeline
