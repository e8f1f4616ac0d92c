#include "pipeline/live_stream.hpp"

#include <algorithm>
#include <new>
#include <system_error>
#include <type_traits>
#include <utility>

#include "audio/source.hpp"
#include "base/error.hpp"
#include "base/run_control.hpp"
#include "pipeline/inputs.hpp"
#include "pipeline/stopwatch.hpp"

namespace diarist::pipeline {
namespace {

double seconds_of(std::int64_t samples) {
  return static_cast<double>(samples) / static_cast<double>(kSecond);
}

audio::IntakeOptions intake_options(const RunOptions& options) {
  return {.name = "audio in memory",
          .wrong_channels = ErrorCode::kInvalidArgument,
          .reference = options.reference,
          .audio = options.audio};
}

void check_format(const StreamFormat& format, const RunOptions& options) {
  audio::check_samples(format.sample_rate, format.channels, options.audio);
  if (options.audio.split_channels)
    base::fail(ErrorCode::kUnsupported,
               "a stream can't split channels; give every channel a stream of its own, or diarize "
               "the complete recording");
  audio::Intake(intake_options(options)).check_channels(format.channels);
}

}  // namespace

LiveStream::LiveStream(std::shared_ptr<StreamHost> host, const StreamFormat& format,
                       const RunOptions& options)
    : host_(std::move(host)),
      format_(format),
      options_(options),
      intake_(intake_options(options)),
      store_(options.step_seconds, host_->block_seconds(), options.keep_waveform) {
  check_format(format, options);
  try {
    worker_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
  } catch (const std::system_error& error) {
    base::fail(ErrorCode::kOutOfMemory, "no thread can be started for the stream: {}",
               error.what());
  }
}

template <typename Sample>
void LiveStream::push(std::span<const Sample> samples, const std::stop_token& stop) {
  check_process();
  const auto channels = static_cast<std::size_t>(format_.channels);
  if (samples.size() % channels != 0)
    base::fail(ErrorCode::kInvalidArgument,
               "audio of a stream: {} samples are not whole frames of {} channels", samples.size(),
               channels);
  const Turnstile::Turn pushing(pushing_, stop);
  check_open();  // also when there is nothing to push
  // A second at a time, so that what waits is not much more than was promised.
  const std::size_t most = channels * static_cast<std::size_t>(format_.sample_rate);
  while (!samples.empty()) {
    wait_for_room(stop);
    const auto piece = samples.first(std::min(samples.size(), most));
    samples = samples.subspan(piece.size());
    ready_.clear();
    intake_.push({as_floats(piece), format_.channels, format_.sample_rate}, ready_);
    {
      const std::lock_guard lock(mutex_);
      frames_ += static_cast<std::int64_t>(piece.size() / channels);
      store_.append(ready_);
    }
    changed_.notify_all();
  }
}

void LiveStream::push(const AudioView& audio, const std::stop_token& stop) {
  if (audio.sample_rate != format_.sample_rate || audio.channels != format_.channels)
    base::fail(ErrorCode::kInvalidArgument,
               "audio of a stream: {} Hz and {} channels were said, {} Hz and {} channels came",
               format_.sample_rate, format_.channels, audio.sample_rate, audio.channels);
  if (!audio.samples.empty() && !audio.pcm16.empty())
    base::fail(ErrorCode::kInvalidArgument,
               "audio of a stream: samples are given both as floats and in 16 bits; give one of "
               "them");
  const auto push_all = [&](auto samples) {
    const auto channels = static_cast<std::size_t>(audio.channels);
    if (!audio.planar || channels == 1 || samples.size() % channels != 0)
      return push(samples, stop);
    std::vector<std::remove_const_t<typename decltype(samples)::element_type>> interleaved;
    interleaved.reserve(samples.size());
    const std::size_t frames = samples.size() / channels;
    for (std::size_t frame = 0; frame < frames; ++frame)
      for (std::size_t channel = 0; channel < channels; ++channel)
        interleaved.push_back(samples[channel * frames + frame]);
    push(decltype(samples)(interleaved), stop);
  };
  if (audio.pcm16.empty())
    push_all(audio.samples);
  else
    push_all(audio.pcm16);
}

Diarization LiveStream::snapshot(const RunControl& control) {
  check_process();
  Diarization result = so_far({}, control);
  const std::lock_guard lock(mutex_);
  names_.apply(result);
  return result;
}

Diarization LiveStream::finish(const RunControl& control) {
  check_process();
  end(control.stop);
  Diarization result = so_far(intake_.warnings(), control);
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    store_.clear();
  }
  changed_.notify_all();
  for (const std::string& warning : result.warnings)
    base::log(control, LogLevel::kWarning, warning);
  return result;
}

StreamProgress LiveStream::progress() const {
  if (elsewhere()) return {};
  const std::lock_guard lock(mutex_);
  return {.heard_seconds = static_cast<double>(frames_) / format_.sample_rate,
          .seen_seconds = store_.seen() > 0 ? options_.audio.from + seconds_of(store_.seen()) : 0};
}

void LiveStream::check_process() const {
  if (elsewhere())
    base::fail(ErrorCode::kUnsupported,
               "this Stream was made before fork(): its thread stayed in the parent process; "
               "make it after fork()");
}

// \pre mutex_ is held.
void LiveStream::check_usable() const {
  if (error_) std::rethrow_exception(error_);
  if (finished_)
    base::fail(ErrorCode::kInvalidArgument,
               "this Stream is finished; make another one for the next recording");
}

void LiveStream::check_open() const {
  const std::lock_guard lock(mutex_);
  check_usable();
  if (ended_)
    base::fail(ErrorCode::kInvalidArgument,
               "finish() was called: this Stream takes no more samples");
}

void LiveStream::wait_for_room(const std::stop_token& stop) {
  constexpr std::int64_t kMost = Stream::kMostWaitingSeconds * std::int64_t{kSecond};
  const auto room = [&] { return store_.heard() - store_.seen() < kMost; };
  std::unique_lock lock(mutex_);
  if (!changed_.wait(lock, stop, [&] { return error_ || room(); })) base::check_stop(stop);
  check_usable();
}

std::span<const float> LiveStream::as_floats(std::span<const std::int16_t> samples) {
  floats_.resize(samples.size());
  std::transform(samples.begin(), samples.end(), floats_.begin(), [](std::int16_t sample) {
    return static_cast<float>(sample) * (1.0F / 32768.0F);
  });
  return floats_;
}

// The last samples out of mixer and resampler.
void LiveStream::end(const std::stop_token& stop) {
  const Turnstile::Turn pushing(pushing_, stop);
  {
    const std::lock_guard lock(mutex_);
    check_usable();
    if (ended_) return;
  }
  ready_.clear();
  intake_.finish(ready_);
  {
    const std::lock_guard lock(mutex_);
    store_.append(ready_);
    ended_ = true;
  }
  changed_.notify_all();
}

// The stream's own thread.
void LiveStream::work(const std::stop_token& stop) {
  try {
    while (work_once(stop)) {
    }
  } catch (const std::bad_alloc&) {
    fail(std::make_exception_ptr(Error(ErrorCode::kOutOfMemory, "not enough memory")));
  } catch (const Error&) {
    if (!stop.stop_requested()) fail(std::current_exception());
  } catch (const std::exception& error) {
    fail(std::make_exception_ptr(Error(ErrorCode::kInternal, error.what())));
  }
}

void LiveStream::fail(std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
  }
  changed_.notify_all();
}

// False when there will be nothing more to do.
bool LiveStream::work_once(const std::stop_token& stop) {
  StreamPart part;
  std::vector<float> samples;
  {
    std::unique_lock lock(mutex_);
    const auto next = [&] { return part = store_.next(store_.heard()), part.settled > 0; };
    changed_.wait(lock, stop, [&] { return next() || ended_; });
    if (part.settled == 0 || stop.stop_requested()) return false;
    const std::span<const float> span = store_.samples(part);
    samples.assign(span.begin(), span.end());
  }
  Recording recording;
  hear(samples, stop, recording);
  {
    const std::lock_guard lock(mutex_);
    store_.settle(part, recording);
  }
  changed_.notify_all();
  return true;
}

// One stretch at a time: a stream needs the buffers of one session only.
void LiveStream::hear(std::span<const float> samples, const std::stop_token& stop,
                      Recording& recording) {
  const Turnstile::Turn hearing(hearing_, stop);
  const Stopwatch watch(recording.timings.total);
  RunOptions options = options_;
  options.keep_waveform = false;
  host_->hear(*audio::open_memory({.samples = samples, .sample_rate = kSecond}), options, stop,
              recording);
}

StreamView LiveStream::wait_for_view(const RunControl& control) {
  std::unique_lock lock(mutex_);
  check_usable();
  const std::int64_t end = store_.heard();
  const auto complete = [&] { return store_.next(end).settled == 0; };
  while (!complete()) {
    const std::int64_t seen = store_.seen();
    const bool changed = changed_.wait(
        lock, control.stop, [&] { return error_ || finished_ || store_.seen() != seen; });
    if (!changed) base::check_stop(control.stop);
    check_usable();
    if (!control.progress) continue;
    const Progress progress = {.stage = "networks",
                               .done_seconds = seconds_of(store_.seen()),
                               .total_seconds = seconds_of(end)};
    lock.unlock();
    control.progress(progress);
    lock.lock();
    check_usable();
  }
  return store_.view(end);
}

Diarization LiveStream::so_far(const std::vector<std::string>& warnings,
                               const RunControl& control) {
  StreamView view = wait_for_view(control);
  if (!view.tail.empty()) {
    Recording tail;
    hear(view.tail, control.stop, tail);
    add_tail(tail, view.recording);
  }
  base::check_stop(control.stop);
  double seconds = 0;
  Diarization result;
  {
    const Stopwatch watch(seconds);
    result = host_->conclude(view.recording, warnings, options_, control,
                             {.memory = pieces_, .rows = view.settled_rows});
  }
  result.timings.total += seconds;
  shift_times(options_.audio.from, result);
  return result;
}

template void LiveStream::push(std::span<const float>, const std::stop_token&);
template void LiveStream::push(std::span<const std::int16_t>, const std::stop_token&);

}  // namespace diarist::pipeline
