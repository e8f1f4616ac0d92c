#include "pipeline/span_embedder.hpp"

#include <algorithm>
#include <numeric>

#include "base/run_control.hpp"
#include "pipeline/tape.hpp"
#include "timeline/grid.hpp"

namespace diarist::pipeline {
namespace {

using timeline::kChunkSamples;

constexpr int kPieceDim = 192;

std::unique_ptr<backend::Buffer> at_least(backend::Backend& backend,
                                          std::unique_ptr<backend::Buffer> buffer,
                                          std::size_t bytes) {
  if (buffer != nullptr && buffer->bytes() >= bytes) return buffer;
  buffer.reset();  // the old one makes room first
  return backend.allocate(bytes);
}

// A running average that leaves a single vector as it is.
class Average {
 public:
  explicit Average(std::span<float> target) : target_(target), sum_(target.size()) {}

  void add(std::span<const float> vector, std::int64_t weight) {
    for (std::size_t i = 0; i < sum_.size(); ++i)
      sum_[i] += static_cast<double>(weight) * static_cast<double>(vector[i]);
    total_ += weight;
    for (std::size_t i = 0; i < sum_.size(); ++i)
      target_[i] =
          total_ == weight ? vector[i] : static_cast<float>(sum_[i] / static_cast<double>(total_));
  }

 private:
  std::span<float> target_;
  std::vector<double> sum_;
  std::int64_t total_ = 0;
};

}  // namespace

ChunkFeatures::ChunkFeatures(backend::Backend& backend, const model::Graph& graph, int max_items)
    : backend_(backend),
      queue_(backend.make_queue()),
      program_(backend.compile(graph, {.max_items = max_items, .max_length = kChunkSamples})),
      max_items_(max_items) {}

void ChunkFeatures::run(std::span<const float> samples, std::span<float> rows,
                        const std::stop_token& stop) {
  samples_ = at_least(backend_, std::move(samples_), samples.size_bytes());
  rows_ = at_least(backend_, std::move(rows_), rows.size_bytes());
  queue_->upload(*samples_, 0, std::as_bytes(samples));
  const std::vector<std::int32_t> lengths(samples.size() / kChunkSamples, kChunkSamples);
  backend::Run run;
  run.items = static_cast<int>(lengths.size());
  run.inputs = {{samples_.get(), 0, kChunkSamples, 0}};
  run.outputs = {{rows_.get(), 0, kFeatureValues, 0}};
  run.lengths = lengths;
  run.stop = stop;
  program_->run(*queue_, run);
  queue_->download(*rows_, 0, std::as_writable_bytes(rows));
  queue_->wait();
}

PieceNetwork::PieceNetwork(backend::Backend& backend, const model::Weights& weights, int max_items,
                           Precision precision)
    : queue_(backend.make_queue()),
      runner_(backend, *queue_, model::campplus_network(weights), max_items, kPieceDim, precision),
      rows_(
          backend.allocate(static_cast<std::size_t>(max_items * kFeatureValues) * sizeof(float))) {}

void PieceNetwork::run(std::span<const float> rows, std::span<const std::int64_t> lengths,
                       std::span<float> vectors, const std::stop_token& stop) {
  queue_->upload(*rows_, 0, std::as_bytes(rows));
  std::vector<std::vector<std::int32_t>> lists(lengths.size());
  for (std::size_t i = 0; i < lists.size(); ++i) {
    lists[i].resize(static_cast<std::size_t>(lengths[i]));
    std::iota(lists[i].begin(), lists[i].end(), static_cast<std::int32_t>(i) * kRowsPerWindow);
  }
  runner_.run(
      {rows_.get(), 0, 0, static_cast<std::int64_t>(lengths.size()) * kRowsPerWindow}, lists,
      [&](std::size_t item, std::span<const float> values) {
        std::copy(values.begin(), values.end(),
                  vectors.begin() + static_cast<std::ptrdiff_t>(item) * kPieceDim);
      },
      stop);
}

std::size_t PieceNetwork::buffer_bytes() const noexcept { return rows_->bytes(); }

void piece_vectors(ChunkNetwork& network, std::span<float> rows,
                   std::span<const std::int64_t> lengths, std::span<float> vectors,
                   const std::stop_token& stop) {
  const std::size_t pieces = lengths.size();
  std::vector<float> masks(pieces * kMaskValues, 0.0F);
  std::vector<float> embeddings(pieces * kEmbeddingValues);
  for (std::size_t i = 0; i < pieces; ++i) {
    remove_mean(rows.subspan(i * kFeatureValues, kFeatureValues), lengths[i]);
    // Only the first of the three masks is used.
    std::fill_n(masks.begin() + static_cast<std::ptrdiff_t>(i * kMaskValues),
                mask_frames(lengths[i]), 1.0F);
  }
  network.run(rows, masks, embeddings, stop);
  for (std::size_t i = 0; i < pieces; ++i)
    std::copy_n(embeddings.begin() + static_cast<std::ptrdiff_t>(i * kEmbeddingValues), kChunkDim,
                vectors.begin() + static_cast<std::ptrdiff_t>(i * kChunkDim));
}

std::vector<float> embed_spans(std::span<const float> samples, std::span<const TimeSpan> spans,
                               int dim, ChunkFeatures& features, const PieceVectors& vectors,
                               const RunControl& control) {
  const CutSpans cut = cut_spans(spans, static_cast<std::int64_t>(samples.size()));
  for (const std::string& warning : cut.warnings) base::log(control, LogLevel::kWarning, warning);
  const std::size_t width = static_cast<std::size_t>(dim);
  std::vector<float> result((spans.empty() ? 1 : spans.size()) * width);
  std::vector<Average> averages;
  for (std::size_t i = 0; i < result.size(); i += width)
    averages.emplace_back(std::span(result).subspan(i, width));

  std::int64_t total = 0, done = 0;  // samples
  for (const Piece& piece : cut.pieces) total += piece.samples;
  const std::size_t group = static_cast<std::size_t>(features.max_items());
  std::vector<float> chunks, rows, found;
  std::vector<std::int64_t> lengths;
  for (std::size_t first = 0; first < cut.pieces.size(); first += group) {
    base::check_stop(control.stop);
    const std::span<const Piece> pieces =
        std::span(cut.pieces).subspan(first, std::min(group, cut.pieces.size() - first));
    chunks.assign(pieces.size() * kChunkSamples, 0.0F);
    rows.resize(pieces.size() * kFeatureValues);
    found.resize(pieces.size() * width);
    lengths.clear();
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      std::copy_n(samples.begin() + static_cast<std::ptrdiff_t>(pieces[i].first), pieces[i].samples,
                  chunks.begin() + static_cast<std::ptrdiff_t>(i * kChunkSamples));
      lengths.push_back(whole_rows(pieces[i].samples));
      done += pieces[i].samples;
    }
    features.run(chunks, rows, control.stop);
    vectors(rows, lengths, found, control.stop);
    for (std::size_t i = 0; i < pieces.size(); ++i)
      averages[pieces[i].span].add(std::span<const float>(found).subspan(i * width, width),
                                   lengths[i]);
    if (control.progress)
      control.progress({.stage = "embedding",
                        .done_seconds = static_cast<double>(done) / timeline::kSampleRate,
                        .total_seconds = static_cast<double>(total) / timeline::kSampleRate});
  }
  return result;
}

}  // namespace diarist::pipeline
