#pragma once
// The samples of one batch on the device, and their feature rows.
//
// A batch holds stretches of one recording or of several, one after the other, each from a whole
// second on. Both front ends have a whole number of rows per second, and a window's rows end before
// its last samples do: what lies behind a stretch never reaches the rows of its windows.

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

/// Samples and sinc rows serve the batch whose segmentation is queued last; log-mel rows have
/// `slots` copies, since embeddings are queued while the next batch is segmented already.
class Tape {
 public:
  Tape(backend::Backend& backend, backend::Queue& queue, const model::Graph& raw,
       const model::Graph& log_mel, int seconds, int slots);

  int seconds() const noexcept { return seconds_; }
  /// Writes samples at a sample of the tape; they go to the device with compute(), or before it in
  /// large pieces.
  void write(std::int64_t at, std::span<const std::int16_t> pcm16);
  void write(std::int64_t at, std::span<const float> samples);
  void write_zeros(std::int64_t at, std::int64_t count);
  /// Both front ends over the first `used` seconds. One run each; log-mel goes to `slot`.
  void compute(int used, int slot, const std::stop_token& stop);
  /// Forgets what was written since the last compute().
  void discard();

  /// Views of windows that start at the given seconds.
  backend::View samples(std::span<const std::int32_t> at) const;
  backend::View raw(std::span<const std::int32_t> at) const;
  backend::View log_mel(int slot, std::span<const std::int32_t> at) const;
  /// A slot's rows as a shared value: those of the seconds last computed there.
  backend::View all_log_mel(int slot) const;
  /// Queues a copy of rows to the host, from a row of the slot on.
  void read_log_mel(int slot, std::int64_t first_row, std::span<float> out);
  bool in_host_memory() const noexcept { return samples_->host() != nullptr; }

 private:
  void flush();
  void run(backend::Program& program, int used, std::int64_t tail, backend::Buffer& target,
           std::int64_t rows_per_second, const std::stop_token& stop);

  backend::Queue& queue_;
  int seconds_;
  std::unique_ptr<backend::Program> raw_program_, log_mel_program_;
  std::unique_ptr<backend::Buffer> samples_, raw_;
  std::vector<std::unique_ptr<backend::Buffer>> log_mel_;
  std::vector<int> used_;            // seconds per slot
  std::vector<std::int16_t> pcm16_;  // written, but not on their way yet; one of the two
  std::vector<float> floats_;
  std::int64_t pending_at_ = 0;  // where they belong
};

}  // namespace diarist::pipeline
