#include "pipeline/inputs.hpp"

#include <cmath>
#include <utility>

#include "audio/bytes.hpp"
#include "base/error.hpp"
#include "diarist/waveform.hpp"

namespace diarist::pipeline {

void shift_times(double seconds, Diarization& result) {
  if (seconds == 0) return;
  for (std::vector<Turn>* turns : {&result.turns, &result.exclusive_turns})
    for (Turn& turn : *turns) {
      turn.start += seconds;
      turn.end += seconds;
    }
  result.duration += seconds;
  if (!result.waveform) return;
  // Silence where nothing was read.
  Waveform whole = *result.waveform;
  const auto skipped = static_cast<std::size_t>(std::lround(seconds * Waveform::kLevelsPerSecond));
  whole.duration += seconds;
  whole.peak.insert(whole.peak.begin(), skipped, 0);
  whole.power.insert(whole.power.begin(), skipped, 0);
  result.waveform = std::make_shared<const Waveform>(std::move(whole));
}

void check_inputs(const RunOptions& options) {
  audio::check_audio_options(options.audio);
  if (!options.audio.split_channels) return;
  if (options.audio.channel != 0)
    base::fail(ErrorCode::kInvalidArgument,
               "one channel is asked for and splitting as well; leave one of the two out");
  if (options.keep_stages)
    base::fail(ErrorCode::kInvalidArgument,
               "stages are kept of one channel at a time; ask for channel 1, then for channel 2");
}

InputSettings input_settings(const AudioOptions& options) {
  InputSettings settings;
  if (options.raw) settings.raw = audio::raw_text(*options.raw);
  settings.track = options.track;
  settings.channel = options.channel;
  settings.split_channels = options.split_channels;
  settings.from = options.from;
  settings.to = options.to.value_or(0);
  settings.container_clock = options.container_clock;
  return settings;
}

Inputs::Inputs(std::span<const std::filesystem::path> files, const RunOptions& options)
    : files_(files),
      options_{.reference = options.reference, .audio = options.audio},
      sides_(options.audio.split_channels ? 2 : 1) {
  for (const std::filesystem::path& file : files) names_.push_back(audio::recording_name(file));
  if (sides_ == 1) return;
  for (std::size_t i = 0; i < files.size(); ++i) shared_.push_back(std::make_unique<Shared>());
  levels_.resize(jobs());
}

Inputs::Inputs(const AudioView& audio, const RunOptions& options)
    : memory_(audio),
      options_{.reference = options.reference, .audio = options.audio},
      sides_(options.audio.split_channels ? 2 : 1),
      names_(1),
      levels_(sides_) {}

std::unique_ptr<audio::Source> Inputs::open(std::size_t job, const std::stop_token& stop) {
  audio::SourceOptions options = options_;
  options.stop = stop;
  if (sides_ > 1) options.audio.channel = 1 + static_cast<int>(job % sides_);
  std::unique_ptr<audio::Source> source;
  if (memory_) {
    source = audio::open_memory(*memory_, options);
  } else if (sides_ == 1) {
    source = audio::open_file(files_[job], options);
  } else {
    source = open_shared(job, options);
  }
  if (sides_ == 1) return source;
  levels_[job] = std::make_shared<SideLevels>();
  return std::make_unique<SideSource>(std::move(source), levels_[job]);
}

std::unique_ptr<audio::Source> Inputs::open_shared(std::size_t job,
                                                   const audio::SourceOptions& options) {
  Shared& shared = *shared_[recording_of(job)];
  const std::lock_guard lock(shared.mutex);
  if (!shared.file && !shared.error) {
    try {
      shared.file = std::make_unique<audio::SharedFile>(files_[recording_of(job)], options.stop);
    } catch (...) {
      shared.error = std::current_exception();  // a pipe can't be opened again
    }
  }
  if (shared.error) std::rethrow_exception(shared.error);
  const bool last = ++shared.opened == sides_;
  const std::unique_ptr<audio::SharedFile> dropped = last ? std::move(shared.file) : nullptr;
  return (last ? dropped : shared.file)->open(options);
}

std::optional<Inputs::Outcome> Inputs::collect(std::size_t job, Outcome outcome) {
  if (sides_ > 1) {
    const std::size_t side = job % sides_;
    if (side == 0) first_error_ = nullptr;
    if (outcome.error && !first_error_) first_error_ = outcome.error;
    if (outcome.result)
      done_[side] = {.result = *std::move(outcome.result), .levels = std::move(levels_[job])};
    if (side + 1 < sides_) return std::nullopt;
    outcome = {};
    if (first_error_) {
      outcome.error = std::exchange(first_error_, nullptr);
    } else {
      outcome.result = merge_sides(std::exchange(done_, {}));
    }
  }
  if (outcome.result) shift_times(options_.audio.from, *outcome.result);
  return outcome;
}

}  // namespace diarist::pipeline
