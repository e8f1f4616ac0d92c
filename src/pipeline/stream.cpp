#include "diarist/streaming.hpp"

#include <utility>

#include "pipeline/alive.hpp"
#include "pipeline/live_stream.hpp"

namespace diarist {

class [[gnu::visibility("hidden")]] Stream::Impl final : public pipeline::LiveStream {
  using LiveStream::LiveStream;
};

Stream::Stream(const Diarizer& diarizer, const StreamFormat& format, const RunOptions& options)
    : impl_(std::make_unique<Impl>(diarizer.stream_host(options), format, options)) {}

Stream::~Stream() {
  if (!impl_ || !impl_->elsewhere()) return;
  // Nobody will ever leave the locks that the thread held or waited for.
  [[maybe_unused]] const Impl* const left = impl_.release();
}

Stream::Stream(Stream&&) noexcept = default;

Stream& Stream::operator=(Stream&& other) noexcept {
  if (this != &other) {
    const Stream old(std::move(*this));
    impl_ = std::move(other.impl_);
  }
  return *this;
}

void Stream::push(std::span<const float> samples, const std::stop_token& stop) {
  pipeline::alive(impl_, "Stream").push(samples, stop);
}

void Stream::push(std::span<const std::int16_t> samples, const std::stop_token& stop) {
  pipeline::alive(impl_, "Stream").push(samples, stop);
}

void Stream::push(const AudioView& audio, const std::stop_token& stop) {
  pipeline::alive(impl_, "Stream").push(audio, stop);
}

Diarization Stream::snapshot(const RunControl& control) {
  return pipeline::alive(impl_, "Stream").snapshot(control);
}

Diarization Stream::finish(const RunControl& control) {
  return pipeline::alive(impl_, "Stream").finish(control);
}

StreamProgress Stream::progress() const noexcept {
  return impl_ ? impl_->progress() : StreamProgress{};
}

}  // namespace diarist
