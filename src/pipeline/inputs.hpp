#pragma once
// The recordings of a run as jobs of one source each: a job per recording, or one per side of it
// when channels are split. Everything that AudioOptions say beyond decoding happens here, so that
// devices and queues need not know.

#include <cstddef>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "audio/source.hpp"
#include "diarist/options.hpp"
#include "diarist/result.hpp"
#include "pipeline/side_source.hpp"
#include "pipeline/split_channels.hpp"

namespace diarist::pipeline {

/// \throws Error kInvalidArgument for options that contradict each other.
void check_inputs(const RunOptions& options);

InputSettings input_settings(const AudioOptions& options);

/// Times of a stretch that began at `seconds` as those of the whole recording.
void shift_times(double seconds, Diarization& result);

class Inputs {
 public:
  Inputs(std::span<const std::filesystem::path> files, const RunOptions& options);
  /// One recording in memory, which outlives the object.
  Inputs(const AudioView& audio, const RunOptions& options);

  std::size_t jobs() const noexcept { return names_.size() * sides_; }
  std::size_t sides() const noexcept { return sides_; }  ///< jobs per recording, 1 or 2
  std::size_t recording_of(std::size_t job) const noexcept { return job / sides_; }
  const std::string& uri_of(std::size_t job) const { return names_[recording_of(job)]; }

  /// From any thread; once per job. \throws what opening throws; reading throws Error kCancelled
  /// after a stop.
  std::unique_ptr<audio::Source> open(std::size_t job, const std::stop_token& stop);

  struct Outcome {
    std::optional<Diarization> result;  ///< times are those of the whole recording; or:
    std::exception_ptr error;
  };
  /// Takes what became of a job whose turn times begin at 0, in the order of the jobs. Gives the
  /// outcome of the recording with its last job.
  std::optional<Outcome> collect(std::size_t job, Outcome outcome);

 private:
  // What the two sides of a recording share while they are being opened.
  struct Shared {
    std::mutex mutex;
    std::unique_ptr<audio::SharedFile> file;
    std::exception_ptr error;
    std::size_t opened = 0;
  };

  std::unique_ptr<audio::Source> open_shared(std::size_t job, const audio::SourceOptions& options);

  std::span<const std::filesystem::path> files_;  // or:
  std::optional<AudioView> memory_;
  audio::SourceOptions options_;
  std::size_t sides_;
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<Shared>> shared_;      // per recording, when split
  std::vector<std::shared_ptr<SideLevels>> levels_;  // per job, when split
  std::array<Side, 2> done_;                         // of the recording being collected
  std::exception_ptr first_error_;
};

}  // namespace diarist::pipeline
