#pragma once
// WeSpeaker's ResNet34 on whole chunks: features and masks in, embeddings out, in batches.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>

#include "backend/backend.hpp"
#include "diarist/embedder.hpp"
#include "model/networks.hpp"

namespace diarist::pipeline {

/// Values per chunk.
inline constexpr std::int64_t kFeatureValues = std::int64_t{Embedder::kRows} * Embedder::kBands;
inline constexpr std::int64_t kMaskValues =
    std::int64_t{Embedder::kSpeakers} * Embedder::kMaskFrames;
inline constexpr std::int64_t kChunkDim = 256;
inline constexpr std::int64_t kEmbeddingValues = Embedder::kSpeakers * kChunkDim;

/// Chunks that buffers of these lengths hold. \throws Error kInvalidArgument naming the buffer, the
/// expected and the actual length.
std::int64_t count_chunks(std::int64_t features, std::int64_t masks, std::int64_t embeddings);

/// A program and the buffers of its batch. Used by one thread at a time; must not outlive the
/// backend.
class ChunkNetwork {
 public:
  /// \param options max_items is the largest batch.
  ChunkNetwork(backend::Backend& backend, const model::Weights& weights,
               const backend::CompileOptions& options);

  /// Arrays on the host, for any number of chunks; the lengths were checked.
  void run(std::span<const float> features, std::span<const float> masks,
           std::span<float> embeddings, const std::stop_token& stop);

  /// Arrays where the program runs, on a queue of the caller; complete when it returns.
  void run(backend::Queue& queue, backend::Buffer& features, backend::Buffer& masks,
           backend::Buffer& embeddings, std::int64_t chunks);

  const backend::Program& program() const noexcept { return *program_; }
  std::size_t buffer_bytes() const noexcept;

 private:
  std::unique_ptr<backend::Queue> queue_;
  std::unique_ptr<backend::Program> program_;
  std::unique_ptr<backend::Buffer> features_, masks_, embeddings_;
  std::int64_t batch_;
};

/// One pass over all chunks with the 38 intermediates as outputs.
void run_with_taps(backend::Backend& backend, const model::Weights& weights,
                   backend::CompileOptions options, std::span<const float> features,
                   std::span<const float> masks, DeviceTensor::Kind kind, int device,
                   const std::function<void(const Tap&)>& callback);

}  // namespace diarist::pipeline
