#include <memory>
#include <utility>

#include "capi/engines.hpp"
#include "capi/guard.hpp"
#include "capi/handles.hpp"
#include "capi/options.hpp"
#include "capi/result.hpp"
#include "capi/run_control.hpp"
#include "diarist/streaming.hpp"

namespace diarist::capi {
namespace {

/// A stream and what its calls look at.
struct LiveStream {
  LiveStream(const Diarizer& diarizer, const StreamFormat& format,
             const diarist_run_options& options)
      : control(control_of(options)), stream(diarizer, format, options_of(options)) {}

  const RunControl control;
  Stream stream;
};

using Streams = Handles<HandleKind::kStream, diarist_stream, LiveStream>;
}  // namespace
}  // namespace diarist::capi

using diarist::capi::guarded;
using diarist::capi::new_result;
using diarist::capi::not_null;
using diarist::capi::Streams;

extern "C" {

diarist_status diarist_stream_create(diarist_diarizer* diarizer, int32_t sample_rate,
                                     int32_t channels, const diarist_run_options* options,
                                     diarist_stream** stream) {
  return guarded([&] {
    not_null(stream, "stream") = nullptr;
    const auto engine = diarist::capi::Diarizers::get(diarizer);
    *stream = Streams::add(std::make_shared<diarist::capi::LiveStream>(
        *engine, diarist::StreamFormat{.sample_rate = sample_rate, .channels = channels},
        diarist::capi::run_options_of(options)));
  });
}

diarist_status diarist_stream_push(diarist_stream* stream, const diarist_audio* audio) {
  return guarded([&] {
    const auto live = Streams::get(stream);
    live->stream.push(diarist::capi::audio_of(audio), live->control.stop);
  });
}

diarist_status diarist_stream_snapshot(diarist_stream* stream, diarist_result** result) {
  return guarded([&] {
    not_null(result, "result") = nullptr;
    const auto live = Streams::get(stream);
    *result = new_result(live->stream.snapshot(live->control));
  });
}

diarist_status diarist_stream_finish(diarist_stream* stream, diarist_result** result) {
  return guarded([&] {
    not_null(result, "result") = nullptr;
    const auto live = Streams::get(stream);
    *result = new_result(live->stream.finish(live->control));
  });
}

diarist_status diarist_stream_progress(diarist_stream* stream, double* heard_seconds,
                                       double* seen_seconds) {
  return guarded([&] {
    not_null(heard_seconds, "heard_seconds") = 0;
    not_null(seen_seconds, "seen_seconds") = 0;
    const diarist::StreamProgress now = Streams::get(stream)->stream.progress();
    *heard_seconds = now.heard_seconds;
    *seen_seconds = now.seen_seconds;
  });
}

diarist_status diarist_stream_destroy(diarist_stream* stream) {
  return guarded([&] { Streams::drop(stream); });
}

}  // extern "C"
