#pragma once
// Samples and feature frames of the stretch in work, by absolute index.
//
// A batch of windows reads overlapping views of the strip; between batches the part that later
// windows still need is moved to the front. Memory is constant in the length of the recording.

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "backend/backend.hpp"

namespace diarist::pipeline {

inline constexpr std::int64_t kSecond = 16000;       // samples
inline constexpr std::int64_t kRawPerSecond = 1600;  // rows of the sinc convolution
inline constexpr std::int64_t kMelPerSecond = 100;   // rows of log-mel
inline constexpr std::int64_t kBands = 80;           // columns of both

/// Everything is aligned to whole seconds: windows start there, and both front ends have a whole
/// number of rows per second. The last second of the strip has fewer rows (no samples follow it
/// yet); it is computed again when they have come.
class Strip {
 public:
  /// \param seconds capacity.
  Strip(backend::Backend& backend, backend::Queue& queue, const model::Graph& raw,
        const model::Graph& log_mel, int seconds);

  void restart();
  /// Samples that still fit.
  std::int64_t room() const noexcept;
  std::int64_t begin() const noexcept { return begin_second_ * kSecond; }
  std::int64_t end() const noexcept { return end_; }
  void append(std::span<const float> samples);
  /// Appends zeros up to an absolute sample (a multiple of a second).
  void pad_to(std::int64_t sample);
  /// Forgets everything before an absolute sample (a multiple of a second).
  void drop_before(std::int64_t sample);
  /// Computes both front ends for all seconds present. end() must be a multiple of a second.
  void compute(const std::stop_token& stop);

  /// Views of windows that start at an absolute sample and lie `stride` samples apart.
  backend::View samples(std::int64_t first, std::int64_t stride) const;
  backend::View raw(std::int64_t first, std::int64_t stride) const;
  backend::View log_mel(std::int64_t first, std::int64_t stride) const;
  /// The whole log-mel strip as a shared value; row 0 is second begin()/kSecond.
  backend::View all_log_mel() const;
  bool in_host_memory() const noexcept { return samples_->host() != nullptr; }
  /// Log-mel rows present, counted from row 0 of all_log_mel().
  std::int64_t log_mel_rows() const noexcept;
  /// Reads `rows` log-mel rows from an absolute row on; complete when the call returns.
  void read_log_mel(std::int64_t first_row, std::span<float> out) const;

 private:
  void run(backend::Program& program, std::int64_t from, std::int64_t to, std::int64_t tail,
           backend::Buffer& target, std::int64_t rows_per_second, const std::stop_token& stop);

  backend::Queue& queue_;
  std::unique_ptr<backend::Program> raw_program_, log_mel_program_;
  std::unique_ptr<backend::Buffer> samples_, raw_, log_mel_;
  std::vector<float> zeros_;
  std::int64_t capacity_seconds_;
  std::int64_t begin_second_ = 0;
  std::int64_t end_ = 0;              // absolute sample
  std::int64_t computed_second_ = 0;  // absolute; seconds before it have all their rows
};

}  // namespace diarist::pipeline
