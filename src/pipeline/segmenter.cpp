#include "diarist/segmenter.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "audio/source.hpp"
#include "base/error.hpp"
#include "base/run_control.hpp"
#include "pipeline/alive.hpp"
#include "pipeline/block_feed.hpp"
#include "pipeline/device_worker.hpp"
#include "pipeline/inputs.hpp"
#include "pipeline/preset_choice.hpp"
#include "pipeline/recording.hpp"
#include "pipeline/session.hpp"
#include "timeline/grid.hpp"

namespace diarist {
namespace {

static_assert(Segmentation::kFrames == timeline::kFramesPerChunk);
static_assert(Segmentation::kSpeakers == timeline::kLocalSpeakers);
static_assert(Segmentation::kWindowSeconds * timeline::kSampleRate == timeline::kChunkSamples);

// One device: a recording is not spread over several.
std::string single_device(const std::string& name) {
  if (name == "cuda") return "cuda:0";
  if (name.find(',') != std::string::npos)
    base::fail(ErrorCode::kInvalidArgument, "{}: a Segmenter works on one device; name one", name);
  return name;
}

RunOptions checked(const SegmentOptions& options) {
  const int step = options.step_seconds;
  if (step != 1 && step != 2 && step != 5)
    base::fail(ErrorCode::kInvalidArgument, "step of {} s: use 1, 2 or 5", step);
  if (options.audio.split_channels)
    base::fail(ErrorCode::kInvalidArgument,
               "a Segmenter reads one channel at a time; ask for channel 1, then for channel 2");
  RunOptions run;
  run.step_seconds = step;
  run.reference = options.reference;
  run.audio = options.audio;
  pipeline::check_inputs(run);
  return run;
}

}  // namespace

class [[gnu::visibility("hidden")]] Segmenter::Impl {
 public:
  explicit Impl(const SegmenterOptions& options)
      : preset_(pipeline::choose_preset(options.preset, options.models)) {
    if (options.batch < 0)
      base::fail(ErrorCode::kInvalidArgument, "batch of {} windows: use 0 or more", options.batch);
    // Nothing behind the segmentation is made.
    preset_.embedding_kind.clear();
    bundle_ = model::load_bundle(pipeline::models_folder(options.models), preset_.bundle,
                                 options.allow_unknown_weights);
    worker_ = std::make_unique<pipeline::DeviceWorker>(
        backend::BackendOptions{.device = single_device(options.device),
                                .threads = options.threads,
                                .target = options.target},
        bundle_, preset_, options.batch);
    worker_->give_back(worker_->take(1, Precision::kExact));  // what can fail fails here
  }

  Segmentation run(pipeline::Inputs & inputs, const RunOptions& options,
                   const RunControl& control) {
    const std::unique_ptr<audio::Source> source = inputs.open(0, control.stop);
    std::unique_ptr<pipeline::Session> session =
        worker_->take(options.step_seconds, Precision::kExact);
    pipeline::BlockFeed feed(*source, !worker_->in_host_memory());
    pipeline::Recording recording;
    recording.feed = &feed;
    recording.silence_bad_windows = options.reference;
    if (control.progress)
      recording.progress = [&](double done, double total) {
        control.progress({.stage = "networks", .done_seconds = done, .total_seconds = total});
      };
    pipeline::Recording* next = &recording;
    session->run([&](bool) { return std::exchange(next, nullptr); }, [](pipeline::Recording&) {},
                 control.stop);
    if (!session->failed()) worker_->give_back(std::move(session));
    if (recording.error) std::rethrow_exception(recording.error);

    Segmentation result;
    result.windows = recording.result.chunks;
    result.step_seconds = options.step_seconds;
    result.duration = static_cast<double>(recording.result.samples) / timeline::kSampleRate;
    result.activity = std::move(recording.result.activity);
    result.warnings = source->warnings();
    if (const std::int64_t bad = recording.result.bad_samples; bad > 0)
      result.warnings.push_back(
          fmt::format("{} samples were NaN or infinite and were read as zero", bad));
    for (const std::string& warning : result.warnings)
      base::log(control, LogLevel::kWarning, warning);
    return result;
  }

 private:
  model::Preset preset_;  // a copy without embedding
  model::Bundle bundle_;
  std::unique_ptr<pipeline::DeviceWorker> worker_;
};

double Segmentation::time_of(int window, int frame) const noexcept {
  return timeline::Grid::middle(frame) + static_cast<double>(window) * step_seconds;
}

Segmenter::Segmenter(const SegmenterOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Segmenter::~Segmenter() = default;
Segmenter::Segmenter(Segmenter&&) noexcept = default;
Segmenter& Segmenter::operator=(Segmenter&&) noexcept = default;

Segmentation Segmenter::run(const std::filesystem::path& file, const SegmentOptions& options,
                            const RunControl& control) const {
  const RunOptions run = checked(options);
  pipeline::Inputs inputs({&file, 1}, run);
  return pipeline::alive(impl_, "Segmenter").run(inputs, run, control);
}

Segmentation Segmenter::run(const AudioView& audio, const SegmentOptions& options,
                            const RunControl& control) const {
  const RunOptions run = checked(options);
  pipeline::Inputs inputs(audio, run);
  return pipeline::alive(impl_, "Segmenter").run(inputs, run, control);
}

}  // namespace diarist
