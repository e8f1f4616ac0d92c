#include "diarist/diarizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <future>
#include <map>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "audio/source.hpp"
#include "backend/registry.hpp"
#include "base/error.hpp"
#include "base/memory.hpp"
#include "base/run_control.hpp"
#include "cluster/hints.hpp"
#include "diarist/models.hpp"
#include "model/bundle.hpp"
#include "pipeline/alive.hpp"
#include "pipeline/campplus_embedder.hpp"
#include "pipeline/device_worker.hpp"
#include "pipeline/file_queue.hpp"
#include "pipeline/finish.hpp"
#include "pipeline/inputs.hpp"
#include "pipeline/preset_choice.hpp"
#include "pipeline/replay.hpp"
#include "pipeline/session.hpp"
#include "pipeline/stopwatch.hpp"
#include "pipeline/stream_host.hpp"
#include "timeline/grid.hpp"

namespace diarist {
namespace {

using pipeline::choose_preset;
using pipeline::DeviceWorker;
using pipeline::models_folder;
using pipeline::Recording;
using pipeline::Session;

// More windows than this (an hour of them) and the distances of the clustering, 4 n^2 bytes, are
// the largest thing in memory: the session's buffers then make room for them.
constexpr int kWindowsBesideSession = 3600;

void check_options(const RunOptions& options) {
  const int step = options.step_seconds;
  if (step != 1 && step != 2 && step != 5)
    base::fail(ErrorCode::kInvalidArgument, "step of {} s: use 1, 2 or 5", step);
  cluster::check_hints(options.speakers, options.reference);
  pipeline::check_inputs(options);
}

EffectiveSettings effective_settings(const model::Preset& preset, const RunOptions& options) {
  EffectiveSettings settings;
  settings.preset = preset.name;
  settings.reference = options.reference;
  settings.step_seconds = options.step_seconds;
  settings.audio = pipeline::input_settings(options.audio);
  settings.num_speakers = options.speakers.num.value_or(0);
  settings.min_speakers = options.speakers.min.value_or(0);
  settings.max_speakers = options.speakers.max.value_or(0);
  return settings;
}

void note_bad_samples(std::int64_t count, Diarization& result) {
  if (count > 0)
    result.warnings.push_back(
        fmt::format("{} samples were NaN or infinite and were read as zero", count));
}

// Progress over all sides of a recording.
RunControl control_of_side(const RunControl& control, std::size_t side, std::size_t sides) {
  RunControl part = control;
  if (control.progress && sides > 1)
    part.progress = [&control, side, sides](Progress progress) {
      progress.done_seconds += static_cast<double>(side) * progress.total_seconds;
      progress.total_seconds *= static_cast<double>(sides);
      control.progress(progress);
    };
  return part;
}

Error error_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& known) {
    return known;
  } catch (const std::bad_alloc&) {
    return Error(ErrorCode::kOutOfMemory, "not enough memory");
  } catch (const std::exception& other) {
    return Error(ErrorCode::kInternal, other.what());
  }
}

// Decoders mostly wait for the device, so every processor may cluster.
pipeline::QueueThreads queue_threads(int threads, std::size_t files) {
  const int most = static_cast<int>(std::min<std::size_t>(files, 64));
  return {.decoders = std::clamp(threads / 4, 1, most), .finishers = std::clamp(threads, 1, most)};
}

// The last recordings are clustered by all threads, since nobody is left to work beside them.
constexpr std::size_t kLastRecordings = 3;

}  // namespace

class [[gnu::visibility("hidden")]] Diarizer::Impl final : public pipeline::StreamHost {
 public:
  explicit Impl(const DiarizerOptions& options)
      : options_(options), preset_(choose_preset(options.preset, options.models)) {
    if (options.batch < 0)
      base::fail(ErrorCode::kInvalidArgument, "batch of {} windows: use 0 or more", options.batch);
    // A GPU takes as long to wake up as the weights take to be read.
    auto workers = std::async(std::launch::async, [&] { return make_workers(); });
    bundle_ = model::load_bundle(models_folder(options.models), preset_.bundle,
                                 options.allow_unknown_weights);
    cluster_settings_ = pipeline::cluster_settings(preset_, bundle_.plda);
    workers_ = workers.get();
    pool_ = workers_.front()->backend().pool();
    if (pool_ == nullptr) {
      const int threads = workers_.front()->in_host_memory() ? workers_.front()->backend().threads()
                          : options.threads > 0              ? options.threads
                                                             : base::usable_processors();
      own_pool_ = std::make_unique<base::TaskPool>(threads);
      pool_ = own_pool_.get();
    }
    // What can fail fails here, not in the first run.
    std::vector<std::future<void>> ready;
    for (const auto& worker : workers_)
      ready.push_back(std::async(std::launch::async, [this, &worker] {
        worker->give_back(worker->take(1, options_.precision));
      }));
    for (std::future<void>& each : ready) each.get();
  }

  // One recording, side after side when its channels are split.
  Diarization run(pipeline::Inputs & inputs, std::size_t recording, const RunOptions& options,
                  const RunControl& control) {
    double total = 0;
    std::optional<pipeline::Inputs::Outcome> outcome;
    {
      const pipeline::Stopwatch watch(total);
      for (std::size_t side = 0; side < inputs.sides(); ++side) {
        const std::size_t job = recording * inputs.sides() + side;
        const std::unique_ptr<audio::Source> source = inputs.open(job, control.stop);
        Diarization result;
        result.uri = inputs.uri_of(job);
        run_stages(*source, options, control_of_side(control, side, inputs.sides()), result);
        outcome = inputs.collect(job, {.result = std::move(result), .error = {}});
      }
    }
    Diarization result = *std::move(outcome->result);
    result.timings.total = total;
    for (const std::string& warning : result.warnings)
      base::log(control, LogLevel::kWarning, warning);
    return result;
  }

  RunReport run_files(std::span<const std::filesystem::path> files, const RunOptions& options,
                      const RunControl& control, const std::function<bool(FileOutcome)>& sink);

  const std::string& preset() const noexcept { return preset_.name; }

  int block_seconds() const noexcept override {
    return preset_.block_variant ? pipeline::kBlockSeconds : 0;
  }

  void hear(audio::Source & stretch, const RunOptions& options, const std::stop_token& stop,
            Recording& recording) override {
    with_session(options, [&](std::unique_ptr<Session>& session) {
      run_networks(*session, *workers_.front(), stretch, options, {.stop = stop}, recording);
    });
  }

  Diarization conclude(Recording & recording, const std::vector<std::string>& warnings,
                       const RunOptions& options, const RunControl& control,
                       const pipeline::SettledPieces& pieces) override {
    Diarization result;
    int dim = 0;
    with_session(options, [&](std::unique_ptr<Session>& session) {
      dim = session->dim();
      if (options.replay) pipeline::check_replay(*options.replay, dim);
      describe(recording, warnings, *session, *workers_.front(), options, result);
    });
    if (control.progress) control.progress({"clustering", result.duration, result.duration});
    finish(recording, *workers_.front(), dim, options, pool_, control.stop, result, &pieces);
    return result;
  }

 private:
  std::vector<std::unique_ptr<DeviceWorker>> make_workers() const {
    std::vector<std::unique_ptr<DeviceWorker>> workers;
    for (const std::string& device : backend::expand_devices(options_.device))
      workers.push_back(std::make_unique<DeviceWorker>(
          backend::BackendOptions{.device = device,
                                  .threads = options_.threads,
                                  .target = options_.target,
                                  .max_memory = options_.max_gpu_memory},
          bundle_, preset_, options_.batch));
    return workers;
  }

  void run_stages(audio::Source & source, const RunOptions& options, const RunControl& control,
                  Diarization& result) {
    with_session(options, [&](std::unique_ptr<Session>& session) {
      run_with(session, source, options, control, result);
    });
  }

  /// Lends a session of the first device. The body may end its life.
  template <typename Body>
  void with_session(const RunOptions& options, Body&& body) {
    DeviceWorker& worker = *workers_.front();
    std::unique_ptr<Session> session = worker.take(options.step_seconds, precision_of(options));
    try {
      body(session);
    } catch (const Error& error) {
      // Nothing of a stopped run is under way in host memory, and a new session takes a second.
      if (error.code() == ErrorCode::kCancelled && worker.in_host_memory() && session)
        worker.give_back(std::move(session));
      throw;
    }
    if (session) worker.give_back(std::move(session));
  }

  void run_with(std::unique_ptr<Session> & session, audio::Source & source,
                const RunOptions& options, const RunControl& control, Diarization& result) {
    DeviceWorker& worker = *workers_.front();
    const int dim = session->dim();
    if (options.replay) pipeline::check_replay(*options.replay, dim);
    Recording recording;
    run_networks(*session, worker, source, options, control, recording);
    describe(recording, source.warnings(), *session, worker, options, result);
    if (recording.result.chunks > kWindowsBesideSession && worker.in_host_memory()) {
      session.reset();
      base::return_free_memory();
    }
    base::check_stop(control.stop);
    if (control.progress) control.progress({"clustering", result.duration, result.duration});
    finish(recording, worker, dim, options, pool_, control.stop, result);
  }

  Precision precision_of(const RunOptions& options) const {
    return options.reference ? Precision::kExact : options_.precision;
  }

  // On a device the samples are decoded ahead, by a thread of their own.
  void run_networks(Session & session, const DeviceWorker& worker, audio::Source& source,
                    const RunOptions& options, const RunControl& control, Recording& recording) {
    pipeline::BlockFeed feed(source, !worker.in_host_memory());
    if (options.keep_waveform) feed.keep_waveform();
    recording.feed = &feed;
    recording.silence_bad_windows = options.reference;
    if (control.progress)
      recording.progress = [&](double done, double total) {
        control.progress({.stage = "networks", .done_seconds = done, .total_seconds = total});
      };
    std::jthread decoder;
    if (!worker.in_host_memory()) {
      feed.expect_decoder();
      decoder = std::jthread([&feed, &control] { feed.decode_ahead(control.stop); });
    }
    struct Abandon {
      pipeline::BlockFeed& feed;
      ~Abandon() { feed.abandon(); }
    } const abandon{feed};  // before the decoder is joined
    Recording* next = &recording;
    session.run([&](bool) { return std::exchange(next, nullptr); }, [](Recording&) {},
                control.stop);
    recording.feed = nullptr;
    if (recording.error) std::rethrow_exception(recording.error);
  }

  // Everything behind the networks.
  void finish(Recording & recording, DeviceWorker & worker, int dim, const RunOptions& options,
              base::TaskPool* pool, const std::stop_token& stop, Diarization& result,
              const pipeline::SettledPieces* settled = nullptr) {
    pipeline::FinishInput input{.chunks = recording.result.chunks,
                                .step_seconds = options.step_seconds,
                                .dim = dim,
                                .duration = result.duration,
                                .activity = recording.result.activity,
                                .embeddings = recording.result.embeddings,
                                .embed_pieces = {},
                                .stop = stop};
    pipeline::ReplayedStages replayed;
    if (options.replay) {
      replayed = pipeline::replay_stages(*options.replay, input.chunks, input.step_seconds);
      input.activity = replayed.activity;
      input.embeddings = replayed.embeddings;
    }
    if (recording.result.log_mel.rows() > 0)
      input.embed_pieces = [&](auto pieces) {
        const pipeline::Stopwatch watch(result.timings.embedding);
        const auto embed = [&](auto wanted) {
          return worker.pieces(precision_of(options)).run(recording.result.log_mel, wanted, stop);
        };
        return settled == nullptr ? embed(pieces) : settled->run(pieces, dim, embed);
      };
    pipeline::finish(input, cluster_settings_, options, pool, result);
  }

  void describe(const Recording& recording, const std::vector<std::string>& warnings,
                const Session& session, DeviceWorker& worker, const RunOptions& options,
                Diarization& result) const {
    for (const std::string& warning : warnings) result.warnings.push_back(warning);
    note_bad_samples(recording.result.bad_samples, result);
    result.duration = static_cast<double>(recording.result.samples) / timeline::kSampleRate;
    result.waveform = recording.result.waveform;
    result.timings += recording.timings;
    result.timings.device_idle = recording.timings.device_idle;
    result.settings = effective_settings(preset_, options);
    result.settings.device = worker.backend().name();
    result.settings.kernels = worker.backend().kernels();
    result.settings.precision = precision_name(precision_of(options));
    result.settings.threads = pool_->threads();
    for (const ModelFileReport& file : bundle_.files)
      result.settings.models.push_back(fmt::format("{} sha256:{}", file.kind, file.sha256));
    std::map<std::string, int> kernels;
    for (const backend::Choice& choice : session.choices()) ++kernels[choice.kernel];
    for (const auto& [kernel, layers] : kernels)
      result.settings.kernel_choices.push_back(fmt::format("{}: {}", kernel, layers));
  }

  DiarizerOptions options_;
  model::Preset preset_;
  model::Bundle bundle_;
  cluster::Settings cluster_settings_;
  std::vector<std::unique_ptr<DeviceWorker>> workers_;
  // Clustering: the threads of a CPU backend, or threads of our own.
  std::unique_ptr<base::TaskPool> own_pool_;
  base::TaskPool* pool_ = nullptr;
};

RunReport Diarizer::Impl::run_files(std::span<const std::filesystem::path> files,
                                    const RunOptions& options, const RunControl& control,
                                    const std::function<bool(FileOutcome)>& sink) {
  RunReport report;
  pipeline::Inputs inputs(files, options);
  // Adds to the report and hands over; false when the sink wants no more.
  const auto deliver = [&](std::size_t i, std::optional<Diarization> result,
                           const std::exception_ptr& error) {
    FileOutcome outcome{.index = i, .file = files[i], .result = std::move(result), .error = {}};
    if (error) outcome.error = error_of(error);
    if (outcome.result) {
      for (const std::string& warning : outcome.result->warnings)
        base::log(control, LogLevel::kWarning, fmt::format("{}: {}", files[i].string(), warning));
      report.audio_seconds += std::max(0.0, outcome.result->duration - options.audio.from);
      report.stages += outcome.result->timings;
    }
    return sink(std::move(outcome));
  };
  if (workers_.front()->in_host_memory()) {
    // The networks use every thread already.
    for (std::size_t i = 0; i < files.size(); ++i) {
      std::optional<Diarization> result;
      std::exception_ptr error;
      try {
        RunControl quiet = control;  // warnings are told by deliver()
        quiet.log = {};
        result = run(inputs, i, options, quiet);
      } catch (const Error& failure) {
        if (failure.code() == ErrorCode::kCancelled) throw;
        error = std::current_exception();
      } catch (const std::bad_alloc&) {
        error = std::current_exception();
      }
      if (!deliver(i, std::move(result), error)) break;
    }
    return report;
  }

  std::vector<std::unique_ptr<Session>> sessions;
  std::vector<Session*> views;
  std::vector<pipeline::DeviceTime> before;
  for (const auto& worker : workers_) {
    sessions.push_back(worker->take(options.step_seconds, precision_of(options)));
    views.push_back(sessions.back().get());
    before.push_back(sessions.back()->device_time());
    if (options.replay) pipeline::check_replay(*options.replay, sessions.back()->dim());
  }
  // Many recordings: each is clustered by one thread, several at the same time.
  const bool few = 2 * inputs.jobs() <= static_cast<std::size_t>(pool_->threads());
  pipeline::QueueWork work;
  work.count = inputs.jobs();
  work.silence_bad_windows = options.reference;
  work.keep_waveform = options.keep_waveform;
  work.open = [&](std::size_t job) { return inputs.open(job, control.stop); };
  work.finish = [&](std::size_t job, std::size_t number, Recording& recording) {
    Diarization result;
    result.uri = inputs.uri_of(job);
    DeviceWorker& worker = *workers_[number];
    describe(recording, recording.feed->warnings(), *sessions[number], worker, options, result);
    const bool alone = few || inputs.jobs() - job <= kLastRecordings;
    finish(recording, worker, sessions[number]->dim(), options, alone ? pool_ : nullptr,
           control.stop, result);
    return result;
  };
  work.sink = [&](std::size_t job, std::optional<Diarization> result,
                  const std::exception_ptr& error) {
    std::optional<pipeline::Inputs::Outcome> outcome =
        inputs.collect(job, {.result = std::move(result), .error = error});
    return !outcome ||
           deliver(inputs.recording_of(job), std::move(outcome->result), outcome->error);
  };
  if (control.progress)
    work.progress = [&](double seconds) {
      control.progress({.stage = "networks", .done_seconds = seconds, .total_seconds = 0});
    };
  pipeline::run_queue(views, work, queue_threads(pool_->threads(), inputs.jobs()), control.stop);
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    const pipeline::DeviceTime& time = sessions[i]->device_time();
    backend::Backend& device = workers_[i]->backend();
    report.devices.push_back(
        {.name = device.name(),
         .busy = time.busy - before[i].busy,
         .wall = time.wall - before[i].wall,
         .waited_for_device = time.waited_for_device - before[i].waited_for_device,
         .waited_for_samples = time.waited_for_samples - before[i].waited_for_samples,
         .memory_bytes = device.memory_held()});
    if (!sessions[i]->failed()) workers_[i]->give_back(std::move(sessions[i]));
  }
  return report;
}

Diarizer::Diarizer(const DiarizerOptions& options) : impl_(std::make_shared<Impl>(options)) {}
Diarizer::~Diarizer() = default;
Diarizer::Diarizer(Diarizer&&) noexcept = default;
Diarizer& Diarizer::operator=(Diarizer&&) noexcept = default;

Diarization Diarizer::run(const std::filesystem::path& file, const RunOptions& options,
                          const RunControl& control) const {
  check_options(options);
  pipeline::Inputs inputs({&file, 1}, options);
  return pipeline::alive(impl_, "Diarizer").run(inputs, 0, options, control);
}

RunReport Diarizer::run_files(std::span<const std::filesystem::path> files,
                              const RunOptions& options, const RunControl& control,
                              const std::function<bool(FileOutcome)>& sink) const {
  check_options(options);
  if (files.empty()) return {};
  double seconds = 0;
  RunReport report = [&] {
    const pipeline::Stopwatch watch(seconds);
    return pipeline::alive(impl_, "Diarizer").run_files(files, options, control, sink);
  }();
  report.seconds = seconds;
  return report;
}

Diarization Diarizer::run(const AudioView& audio, const RunOptions& options,
                          const RunControl& control) const {
  check_options(options);
  pipeline::Inputs inputs(audio, options);
  return pipeline::alive(impl_, "Diarizer").run(inputs, 0, options, control);
}

std::shared_ptr<pipeline::StreamHost> Diarizer::stream_host(const RunOptions& options) const {
  pipeline::alive(impl_, "Diarizer");
  check_options(options);
  return impl_;
}

const std::string& Diarizer::preset() const noexcept {
  static const std::string kNone;
  return impl_ ? impl_->preset() : kNone;
}

Diarization cluster_stages(const NetworkOutputs& input, const DiarizerOptions& options,
                           const RunOptions& run_options) {
  check_options(run_options);
  const std::size_t pairs =
      static_cast<std::size_t>(std::max(input.chunks, 0)) * timeline::kLocalSpeakers;
  if (input.chunks < 1 || input.embedding_dim < 1 ||
      input.activity.size() != static_cast<std::size_t>(input.chunks) * timeline::kFramesPerChunk ||
      input.embeddings.size() != pairs * static_cast<std::size_t>(input.embedding_dim))
    base::fail(ErrorCode::kInvalidArgument,
               "stages do not fit: {} windows need activity [{}, 589] and embeddings [{}, 3, {}]",
               input.chunks, input.chunks, input.chunks, input.embedding_dim);
  const model::Preset& preset = choose_preset(options.preset, options.models);
  std::optional<model::PldaArrays> plda;
  if (preset.needs_plda)
    plda = model::load_plda(models_folder(options.models), preset.bundle,
                            options.allow_unknown_weights);
  Diarization result;
  const pipeline::Stopwatch watch(result.timings.total);
  result.settings = effective_settings(preset, run_options);
  result.settings.device = "none";
  result.duration = input.duration;
  base::TaskPool pool(options.threads > 0 ? options.threads : base::usable_processors());
  pipeline::finish({.chunks = input.chunks,
                    .step_seconds = run_options.step_seconds,
                    .dim = input.embedding_dim,
                    .duration = input.duration,
                    .activity = input.activity,
                    .embeddings = input.embeddings,
                    .embed_pieces = {}},
                   pipeline::cluster_settings(preset, plda), run_options, &pool, result);
  return result;
}

}  // namespace diarist
