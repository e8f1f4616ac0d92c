#include "pipeline/tape.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace diarist::pipeline {
namespace {

// Samples that an item needs beyond its second: the rest of its last row's window.
constexpr std::int64_t kRawTail = 251 - 10;
constexpr std::int64_t kMelTail = 400 - 160;

}  // namespace

Tape::Tape(backend::Backend& backend, backend::Queue& queue, const model::Graph& raw,
           const model::Graph& log_mel, int seconds, int slots)
    : queue_(queue), seconds_(seconds), zeros_(static_cast<std::size_t>(kSecond)) {
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
  queue_.upload_pcm16(*samples_, static_cast<std::size_t>(at), pcm16);
}

void Tape::write(std::int64_t at, std::span<const float> samples) {
  queue_.upload(*samples_, static_cast<std::size_t>(at) * sizeof(float), std::as_bytes(samples));
}

void Tape::write_zeros(std::int64_t at, std::int64_t count) {
  for (std::int64_t done = 0; done < count; done += kSecond)
    write(at + done, std::span<const std::int16_t>(zeros_).first(
                         static_cast<std::size_t>(std::min(kSecond, count - done))));
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
