#include "pipeline/tape.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"

namespace diarist::pipeline {
namespace {

// Samples that an item needs beyond its second: the rest of its last row's window.
constexpr std::int64_t kRawTail = 251 - 10;
constexpr std::int64_t kMelTail = 400 - 160;

constexpr std::size_t kPiece = std::size_t{1} << 22;  // samples

}  // namespace

Tape::Tape(backend::Backend& backend, backend::Queue& queue, const model::Graph& raw,
           const model::Graph& log_mel, int seconds, int slots)
    : queue_(queue), seconds_(seconds) {
  const auto allocate = [&](std::int64_t values) {
    return backend.allocate(static_cast<std::size_t>(values) * sizeof(float));
  };
  samples_ = allocate(seconds * kSecond);
  raw_ = allocate(seconds * kRawPerSecond * kBands);
  used_.assign(static_cast<std::size_t>(slots), 0);
  for (int slot = 0; slot < slots; ++slot)
    log_mel_.push_back(allocate(seconds * kMelPerSecond * kBands));
  raw_program_ = backend.compile(raw, {.max_items = seconds, .max_length = kSecond + kRawTail});
  log_mel_program_ =
      backend.compile(log_mel, {.max_items = seconds, .max_length = kSecond + kMelTail});
}

void Tape::write(std::int64_t at, std::span<const std::int16_t> pcm16) {
  if (!floats_.empty() || at != pending_at_ + static_cast<std::int64_t>(pcm16_.size())) flush();
  if (pcm16_.empty()) pending_at_ = at;
  pcm16_.insert(pcm16_.end(), pcm16.begin(), pcm16.end());
  if (pcm16_.size() >= kPiece) flush();
}

void Tape::write(std::int64_t at, std::span<const float> samples) {
  if (!pcm16_.empty() || at != pending_at_ + static_cast<std::int64_t>(floats_.size())) flush();
  if (floats_.empty()) pending_at_ = at;
  floats_.insert(floats_.end(), samples.begin(), samples.end());
  if (floats_.size() >= kPiece) flush();
}

void Tape::write_zeros(std::int64_t at, std::int64_t count) {
  static constexpr std::array<std::int16_t, kSecond> kZeros{};
  for (std::int64_t done = 0; done < count; done += kSecond)
    write(at + done, std::span<const std::int16_t>(kZeros).first(
                         static_cast<std::size_t>(std::min(kSecond, count - done))));
}

// Devices take few large copies better than many small ones.
void Tape::flush() {
  if (!pcm16_.empty())
    queue_.upload_pcm16(*samples_, static_cast<std::size_t>(pending_at_), pcm16_);
  if (!floats_.empty())
    queue_.upload(*samples_, static_cast<std::size_t>(pending_at_) * sizeof(float),
                  std::as_bytes(std::span<const float>(floats_)));
  pcm16_.clear();
  floats_.clear();
}

void Tape::discard() {
  pcm16_.clear();
  floats_.clear();
}

void Tape::run(backend::Program& program, int used, std::int64_t tail, backend::Buffer& target,
               std::int64_t rows_per_second, const std::stop_token& stop) {
  std::vector<std::int32_t> lengths(static_cast<std::size_t>(used),
                                    static_cast<std::int32_t>(kSecond + tail));
  lengths.back() = static_cast<std::int32_t>(kSecond);  // nothing lies behind the last second
  backend::Run run;
  run.items = used;
  run.inputs = {{samples_.get(), 0, kSecond, 0}};
  run.outputs = {{&target, 0, rows_per_second * kBands, 0}};
  run.lengths = lengths;
  run.stop = stop;
  program.run(queue_, run);
}

void Tape::compute(int used, int slot, const std::stop_token& stop) {
  flush();
  run(*raw_program_, used, kRawTail, *raw_, kRawPerSecond, stop);
  run(*log_mel_program_, used, kMelTail, *log_mel_[static_cast<std::size_t>(slot)], kMelPerSecond,
      stop);
  used_[static_cast<std::size_t>(slot)] = used;
}

backend::View Tape::samples(std::span<const std::int32_t> at) const {
  return {samples_.get(), 0, kSecond, 0, at};
}

backend::View Tape::raw(std::span<const std::int32_t> at) const {
  return {raw_.get(), 0, kRawPerSecond * kBands, 0, at};
}

backend::View Tape::log_mel(int slot, std::span<const std::int32_t> at) const {
  return {log_mel_[static_cast<std::size_t>(slot)].get(), 0, kMelPerSecond * kBands, 0, at};
}

backend::View Tape::all_log_mel(int slot) const {
  const auto i = static_cast<std::size_t>(slot);
  return {log_mel_[i].get(), 0, 0, used_[i] * kMelPerSecond - 2};
}

void Tape::read_log_mel(int slot, std::int64_t first_row, std::span<float> out) {
  queue_.download(*log_mel_[static_cast<std::size_t>(slot)],
                  static_cast<std::size_t>(first_row * kBands) * sizeof(float),
                  std::as_writable_bytes(out));
}

}  // namespace diarist::pipeline
