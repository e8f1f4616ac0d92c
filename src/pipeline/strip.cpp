#include "pipeline/strip.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"

namespace diarist::pipeline {
namespace {

// Samples an item needs beyond its second: the rest of its last row's window.
constexpr std::int64_t kRawTail = 251 - 10;
constexpr std::int64_t kMelTail = 400 - 160;

std::span<const std::byte> bytes_of(std::span<const float> values) { return std::as_bytes(values); }

}  // namespace

Strip::Strip(backend::Backend& backend, backend::Queue& queue, const model::Graph& raw,
             const model::Graph& log_mel, int seconds)
    : queue_(queue), zeros_(static_cast<std::size_t>(kSecond)), capacity_seconds_(seconds) {
  const auto allocate = [&](std::int64_t values) {
    return backend.allocate(static_cast<std::size_t>(values) * sizeof(float));
  };
  samples_ = allocate(capacity_seconds_ * kSecond);
  raw_ = allocate(capacity_seconds_ * kRawPerSecond * kBands);
  log_mel_ = allocate(capacity_seconds_ * kMelPerSecond * kBands);
  raw_program_ = backend.compile(raw, {.max_items = seconds, .max_length = kSecond + kRawTail});
  log_mel_program_ =
      backend.compile(log_mel, {.max_items = seconds, .max_length = kSecond + kMelTail});
}

void Strip::restart() { begin_second_ = end_ = computed_second_ = 0; }

std::int64_t Strip::room() const noexcept { return begin() + capacity_seconds_ * kSecond - end_; }

void Strip::append(std::span<const float> samples) {
  if (static_cast<std::int64_t>(samples.size()) > room())
    base::fail(ErrorCode::kInternal, "strip: {} samples do not fit", samples.size());
  queue_.upload(*samples_, static_cast<std::size_t>(end_ - begin()) * sizeof(float),
                bytes_of(samples));
  end_ += static_cast<std::int64_t>(samples.size());
}

void Strip::pad_to(std::int64_t sample) {
  while (end_ < sample) {
    const std::int64_t count = std::min<std::int64_t>(sample - end_, kSecond);
    append(std::span<const float>(zeros_).first(static_cast<std::size_t>(count)));
  }
}

void Strip::drop_before(std::int64_t sample) {
  const std::int64_t second = sample / kSecond;
  const std::int64_t shift = second - begin_second_;
  if (shift <= 0) return;
  const auto carry = [&](backend::Buffer& buffer, std::int64_t per_second, std::int64_t values) {
    if (values <= 0) return;
    queue_.move(buffer, 0, static_cast<std::size_t>(shift * per_second) * sizeof(float),
                static_cast<std::size_t>(values) * sizeof(float));
  };
  carry(*samples_, kSecond, end_ - sample);
  const std::int64_t done = computed_second_ - second;  // whole seconds that are kept
  carry(*raw_, kRawPerSecond * kBands, done * kRawPerSecond * kBands);
  carry(*log_mel_, kMelPerSecond * kBands, done * kMelPerSecond * kBands);
  begin_second_ = second;
  computed_second_ = std::max(computed_second_, second);
  end_ = std::max(end_, sample);
}

void Strip::run(backend::Program& program, std::int64_t from, std::int64_t to, std::int64_t tail,
                backend::Buffer& target, std::int64_t rows_per_second,
                const std::stop_token& stop) {
  std::vector<std::int32_t> lengths(static_cast<std::size_t>(to - from),
                                    static_cast<std::int32_t>(kSecond + tail));
  lengths.back() = static_cast<std::int32_t>(kSecond);  // nothing follows the last second yet
  backend::Run run;
  run.items = static_cast<int>(to - from);
  run.inputs = {samples(from * kSecond, kSecond)};
  run.outputs = {
      {&target, (from - begin_second_) * rows_per_second * kBands, rows_per_second * kBands, 0}};
  run.lengths = lengths;
  run.stop = stop;
  program.run(queue_, run);
}

void Strip::compute(const std::stop_token& stop) {
  const std::int64_t to = end_ / kSecond;
  if (to <= computed_second_) return;
  run(*raw_program_, computed_second_, to, kRawTail, *raw_, kRawPerSecond, stop);
  run(*log_mel_program_, computed_second_, to, kMelTail, *log_mel_, kMelPerSecond, stop);
  computed_second_ = to - 1;
}

backend::View Strip::samples(std::int64_t first, std::int64_t stride) const {
  return {samples_.get(), first - begin(), stride, 0};
}

backend::View Strip::raw(std::int64_t first, std::int64_t stride) const {
  return {raw_.get(), (first - begin()) / 10 * kBands, stride / 10 * kBands, 0};
}

backend::View Strip::log_mel(std::int64_t first, std::int64_t stride) const {
  return {log_mel_.get(), (first - begin()) / 160 * kBands, stride / 160 * kBands, 0};
}

std::int64_t Strip::log_mel_rows() const noexcept {
  return std::max<std::int64_t>(0, (end_ - begin()) / kSecond * kMelPerSecond - 2);
}

backend::View Strip::all_log_mel() const { return {log_mel_.get(), 0, 0, log_mel_rows()}; }

void Strip::read_log_mel(std::int64_t first_row, std::span<float> out) const {
  const std::int64_t offset = (first_row - begin_second_ * kMelPerSecond) * kBands;
  queue_.download(*log_mel_, static_cast<std::size_t>(offset) * sizeof(float),
                  std::as_writable_bytes(out));
  queue_.wait();
}

}  // namespace diarist::pipeline
