// diarist::Stream: a recording in pieces.

#include <nanobind/stl/optional.h>

#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "bindings.hpp"
#include "diarist/streaming.hpp"
#include "engine.hpp"
#include "errors.hpp"
#include "job.hpp"
#include "samples.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace diarist::python {

namespace {

// Calls hold a share, so that close() may come from another thread in the middle of them.
class LiveStream {
 public:
  LiveStream(const Engine& engine, int sample_rate, int channels, const RunOptions& options)
      : sample_rate_(sample_rate) {
    const nb::gil_scoped_release release;
    stream_ = std::make_shared<Stream>(
        *engine.diarizer, StreamFormat{.sample_rate = sample_rate, .channels = channels}, options);
  }
  ~LiveStream() { close(); }
  LiveStream(const LiveStream&) = delete;
  LiveStream& operator=(const LiveStream&) = delete;

  void push(AnyArray array, std::optional<bool> channels_first, const Stopper* stop) {
    const std::shared_ptr<Stream> stream = open();
    const Samples samples(std::move(array), sample_rate_, channels_first);
    const StreamProgress now = stream->progress();
    // With room for sure no thread is needed that waits in place of this one.
    if (now.heard_seconds - now.seen_seconds < Stream::kMostWaitingSeconds / 2 &&
        seconds_of(samples.view()) < Stream::kMostWaitingSeconds / 4) {
      const nb::gil_scoped_release release;
      stream->push(samples.view(), stop != nullptr ? stop->source.get_token() : std::stop_token());
      return;
    }
    Job([&](const RunControl& control,
            const Job::Sink&) { stream->push(samples.view(), control.stop); },
        {}, stop)
        .finish();
  }

  Diarization snapshot(nb::object progress, const Stopper* stop) {
    return ask([](Stream& stream, const RunControl& control) { return stream.snapshot(control); },
               {std::move(progress), nb::none()}, stop);
  }

  Diarization finish(nb::object progress, nb::object log, const Stopper* stop) {
    return ask([](Stream& stream, const RunControl& control) { return stream.finish(control); },
               {std::move(progress), std::move(log)}, stop);
  }

  StreamProgress progress() const { return open()->progress(); }

  // Waits until the networks have stopped, unless another thread is in a call.
  void close() {
    std::shared_ptr<Stream> last = std::exchange(stream_, nullptr);
    if (!last) return;
    const nb::gil_scoped_release release;
    last.reset();
  }

  bool closed() const { return stream_ == nullptr; }

 private:
  static double seconds_of(const AudioView& audio) {
    const std::size_t values = audio.pcm16.empty() ? audio.samples.size() : audio.pcm16.size();
    return static_cast<double>(values) / audio.channels / audio.sample_rate;
  }

  std::shared_ptr<Stream> open() const {
    if (!stream_) fail_argument("this stream was closed; make another one");
    return stream_;
  }

  template <typename Ask>
  Diarization ask(Ask&& question, Callbacks callbacks, const Stopper* stop) {
    const std::shared_ptr<Stream> stream = open();
    std::optional<Diarization> result;
    Job job(
        [&](const RunControl& control, const Job::Sink&) { result = question(*stream, control); },
        std::move(callbacks), stop);
    job.finish();
    return *std::move(result);
  }

  int sample_rate_;
  std::shared_ptr<Stream> stream_;  // guarded by the GIL
};

}  // namespace

void bind_stream(nb::module_& module) {
  nb::class_<LiveStream>(module, "LiveStream")
      .def(nb::init<const Engine&, int, int, const RunOptions&>(), "engine"_a, "sample_rate"_a,
           "channels"_a, "options"_a)
      .def("push", &LiveStream::push, "samples"_a, "channels_first"_a = nb::none(),
           "stop"_a = nb::none())
      .def("snapshot", &LiveStream::snapshot, "progress"_a = nb::none(), "stop"_a = nb::none())
      .def("finish", &LiveStream::finish, "progress"_a = nb::none(), "log"_a = nb::none(),
           "stop"_a = nb::none())
      .def_prop_ro("heard", [](const LiveStream& self) { return self.progress().heard_seconds; })
      .def_prop_ro("seen", [](const LiveStream& self) { return self.progress().seen_seconds; })
      .def_prop_ro("closed", &LiveStream::closed)
      .def("close", &LiveStream::close);
}

}  // namespace diarist::python
