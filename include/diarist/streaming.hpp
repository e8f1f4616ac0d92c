#pragma once
/// \file
/// Who spoke when, of audio that is still arriving.

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>

#include "diarist/audio.hpp"
#include "diarist/diarizer.hpp"
#include "diarist/export.hpp"
#include "diarist/options.hpp"
#include "diarist/result.hpp"
#include "diarist/run_control.hpp"

namespace diarist {

/// The samples that will be pushed.
struct StreamFormat {
  int sample_rate = 16000;  ///< in Hz, 1000 to 1536000
  int channels = 1;         ///< interleaved, 1 to 1024; mixed to mono by their mean
};

/// How far a Stream is. Seconds are seconds of the audio pushed.
struct StreamProgress {
  double heard_seconds = 0;  ///< pushed so far
  /// To the end of the last window that the networks are through with. Windows are 10 s long and
  /// begin every RunOptions::step_seconds; "open-lite" does those of ten seconds at a time.
  double seen_seconds = 0;
};

/// One recording in pieces: push what arrives, ask who has spoken so far, and finish. The networks
/// work on a thread of the stream's own while audio arrives.
///
///     diarist::Stream stream(diarizer, {.sample_rate = 48000, .channels = 2});
///     while (read(samples)) stream.push(samples);
///     diarist::Diarization result = stream.finish();
///
/// finish() gives the bytes that Diarizer::run() gives for the same samples, whatever the pieces
/// were. A stream shares the weights, threads and device of its Diarizer and keeps them alive: the
/// Diarizer itself may be moved or destroyed. Several streams, and runs beside them, are allowed.
///
/// All functions may be called from many threads at the same time; where pieces are pushed by
/// several threads, their order is that of the calls. Errors of the stream's own thread are thrown
/// by the next call; then, and after finish(), only progress() and destruction are of use. In a
/// child of fork() every call is an Error kUnsupported. Destruction without finish() stops the
/// networks within 0.1 s on processors.
class DIARIST_API Stream {
 public:
  /// At most so many seconds wait for the networks; then push() waits too.
  static constexpr int kMostWaitingSeconds = 60;

  /// \throws Error kInvalidArgument for a format or options that can't be, and kUnsupported for
  /// split_channels.
  explicit Stream(const Diarizer& diarizer, const StreamFormat& format = {},
                  const RunOptions& options = {});
  ~Stream();
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;

  /// Takes a copy of the next samples, whole frames of any number. Returns at once unless the
  /// machine is slower than the audio: with more than kMostWaitingSeconds of it unseen, it waits.
  /// NaN and infinite samples are read as zero and counted in a warning.
  /// \throws Error kInvalidArgument for parts of frames and after finish(); kCancelled on a stop
  /// while it waits: then a part of the samples is in (StreamProgress::heard_seconds).
  void push(std::span<const float> samples, const std::stop_token& stop = {});
  /// 16-bit samples, each of which counts as value / 32768.
  void push(std::span<const std::int16_t> samples, const std::stop_token& stop = {});
  /// Either, also channel after channel, of the stream's own rate and number of channels.
  void push(const AudioView& audio, const std::stop_token& stop = {});

  /// Who has spoken so far: what Diarizer::run() would say had the recording ended with what was
  /// pushed before this call. Waits until the networks have seen it. Resamplers hold back some
  /// milliseconds, stereo up to a second: Diarization::duration tells how far it reaches.
  ///
  /// Names are those of the snapshot before where an assignment of the new speakers to the old
  /// ones, by the most seconds in common, finds one; others get numbers that were not in use.
  /// finish() names by first turn, as Diarizer::run() does. \throws Error kCancelled on a stop; the
  /// stream goes on.
  Diarization snapshot(const RunControl& control = {});

  /// Says that no more samples follow, and gives the result. Afterwards nothing may be called but
  /// progress(). \throws Error kCancelled on a stop; finish() may be called again.
  Diarization finish(const RunControl& control = {});

  StreamProgress progress() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace diarist
