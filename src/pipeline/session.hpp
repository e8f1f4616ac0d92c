#pragma once
// One worker's queue, buffers and programs: from samples to activity and embeddings.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "backend/backend.hpp"
#include "diarist/run_control.hpp"
#include "model/bundle.hpp"
#include "pipeline/pair_embedder.hpp"
#include "pipeline/recording.hpp"
#include "pipeline/tape.hpp"

namespace diarist::pipeline {

struct SessionOptions {
  int windows = 8;  // per batch
  int step_seconds = 1;
  Precision precision = Precision::kExact;
};

/// Seconds of a session's runs.
struct DeviceTime {
  double busy = 0;                ///< the device's, on queued work
  double wall = 0;                ///< from the first batch to the last
  double waited_for_device = 0;   ///< of the session's thread: the device was behind
  double waited_for_samples = 0;  ///< or the decoder was
};

/// Takes one recording after the other and packs their windows into batches of one size. While the
/// device segments a batch, the host decides what of the one before is embedded. All buffers are
/// allocated at construction; memory does not grow with the recordings except for their results.
/// Used by one thread at a time; must not outlive backend and bundle.
class Session {
 public:
  /// \throws Error kOutOfMemory when the device is too small for such batches.
  Session(backend::Backend& backend, const model::Bundle& bundle, const model::Preset& preset,
          const SessionOptions& options);
  ~Session();

  /// The next recording to work on, or null. `wait`: nothing is left to do without it; otherwise
  /// only one whose samples are at hand. Null in spite of `wait`: there are no more.
  using Next = std::function<Recording*(bool wait)>;
  /// A recording is complete, or has an error. The session does not touch it any more.
  using Done = std::function<void(Recording&)>;

  /// Works until there are no more recordings. Errors of a recording are handed back with it; what
  /// is thrown (kCancelled, kDeviceLost, ...) concerns all recordings not handed back.
  void run(const Next& next, const Done& done, const std::stop_token& stop);

  int dim() const noexcept { return embedder_->dim(); }
  bool checks_turns() const noexcept { return embedder_->checks_turns(); }
  /// False when the buffers lie on a device and don't crowd the host.
  bool in_host_memory() const noexcept { return tape_.in_host_memory(); }
  const SessionOptions& options() const noexcept { return options_; }
  /// Kernels of all programs.
  std::vector<backend::Choice> choices() const;
  /// True after run() threw: the session is of no more use.
  bool failed() const noexcept { return failed_; }
  /// Of all runs so far.
  const DeviceTime& device_time() const noexcept { return device_time_; }

 private:
  struct Batch;

  /// \param idle no batch is under way: there is time to wait for a recording.
  void fill(Batch& batch, bool idle, const Next& next, const Done& done,
            const std::stop_token& stop);
  int add_windows(Recording& recording, Batch& batch, const std::stop_token& stop);
  void pull(Recording& recording, std::int64_t until, const std::stop_token& stop);
  void write_stretch(const Recording& recording, std::int64_t first, std::int64_t seconds,
                     std::int64_t at);
  void segment(Batch& batch, const std::stop_token& stop);
  void embed(Batch& batch, const std::stop_token& stop);
  void collect(Batch& batch, const Done& done);
  void keep_log_mel(const PairRange& range, int slot);
  void finish_recording(Recording& recording, const Done& done);

  SessionOptions options_;
  std::unique_ptr<backend::Queue> queue_;
  Tape tape_;
  std::unique_ptr<backend::Program> segmentation_;
  std::vector<std::unique_ptr<backend::Buffer>> masks_;  // per slot
  std::unique_ptr<backend::Buffer> classes_;
  std::unique_ptr<PairEmbedder> embedder_;
  std::vector<std::unique_ptr<Batch>> batches_;  // one per slot
  Recording* current_ = nullptr;                 // taken, but not closed
  DeviceTime device_time_;
  bool failed_ = false;
};

}  // namespace diarist::pipeline
