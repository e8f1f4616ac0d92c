#pragma once
// A recording in pieces: the networks run over settled parts of it while it arrives; what is not
// settled is heard again, as a recording of its own, whenever somebody asks.

#include <sys/types.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "audio/intake.hpp"
#include "diarist/options.hpp"
#include "diarist/result.hpp"
#include "diarist/run_control.hpp"
#include "diarist/streaming.hpp"
#include "pipeline/piece_memory.hpp"
#include "pipeline/recording.hpp"
#include "pipeline/stable_names.hpp"
#include "pipeline/stream_host.hpp"
#include "pipeline/stream_store.hpp"
#include "pipeline/turnstile.hpp"

namespace diarist::pipeline {

/// What Stream says of its functions holds for these.
class LiveStream {
 public:
  LiveStream(std::shared_ptr<StreamHost> host, const StreamFormat& format,
             const RunOptions& options);

  /// A child of fork() has this object, but not its thread: it must not be destroyed there.
  bool elsewhere() const noexcept { return getpid() != process_; }

  template <typename Sample>
  void push(std::span<const Sample> samples, const std::stop_token& stop);
  void push(const AudioView& audio, const std::stop_token& stop);
  Diarization snapshot(const RunControl& control);
  Diarization finish(const RunControl& control);
  StreamProgress progress() const;

 private:
  void check_process() const;
  void check_usable() const;
  void check_open() const;
  void wait_for_room(const std::stop_token& stop);
  std::span<const float> as_floats(std::span<const float> samples) { return samples; }
  std::span<const float> as_floats(std::span<const std::int16_t> samples);
  void end(const std::stop_token& stop);
  void work(const std::stop_token& stop);
  bool work_once(const std::stop_token& stop);
  void fail(std::exception_ptr error);
  void hear(std::span<const float> samples, const std::stop_token& stop, Recording& recording);
  StreamView wait_for_view(const RunControl& control);
  Diarization so_far(const std::vector<std::string>& warnings, const RunControl& control);

  const pid_t process_ = getpid();
  const std::shared_ptr<StreamHost> host_;
  const StreamFormat format_;
  const RunOptions options_;
  PieceMemory pieces_;

  Turnstile hearing_;  // the networks

  Turnstile pushing_;  // of the next three; before mutex_
  audio::Intake intake_;
  std::vector<float> ready_;   // a piece at 16 kHz
  std::vector<float> floats_;  // a piece that came in 16 bits

  mutable std::mutex mutex_;  // of everything below
  std::condition_variable_any changed_;
  StreamStore store_;
  StableNames names_;
  std::int64_t frames_ = 0;  // pushed
  bool ended_ = false;       // no more samples follow
  bool finished_ = false;    // and the result was given
  std::exception_ptr error_;

  std::jthread worker_;  // ends before anything else dies
};

}  // namespace diarist::pipeline
