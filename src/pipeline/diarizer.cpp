#include "diarist/diarizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <string>
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
#include "pipeline/finish.hpp"
#include "pipeline/preset_choice.hpp"
#include "pipeline/session.hpp"
#include "pipeline/stopwatch.hpp"
#include "timeline/grid.hpp"

namespace diarist {
namespace {

using pipeline::choose_preset;
using pipeline::models_folder;
using pipeline::Session;

// More windows than this (an hour of them) and the distances of the clustering, 4 n^2 bytes, are
// the largest thing in memory: the session's buffers then make room for them.
constexpr int kWindowsBesideSession = 3600;

void check_options(const RunOptions& options) {
  const int step = options.step_seconds;
  if (step != 1 && step != 2 && step != 5)
    base::fail(ErrorCode::kInvalidArgument, "step of {} s: use 1, 2 or 5", step);
  cluster::check_hints(options.speakers, options.reference);
}

EffectiveSettings effective_settings(const model::Preset& preset, const RunOptions& options) {
  EffectiveSettings settings;
  settings.preset = preset.name;
  settings.reference = options.reference;
  settings.step_seconds = options.step_seconds;
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

}  // namespace

class Diarizer::Impl {
 public:
  explicit Impl(const DiarizerOptions& options)
      : options_(options),
        preset_(choose_preset(options.preset, options.models)),
        bundle_(model::load_bundle(models_folder(options.models), preset_.bundle,
                                   options.allow_unknown_weights)),
        cluster_settings_(pipeline::cluster_settings(preset_, bundle_.plda)),
        backend_(backend::make_backend(
            {.device = options.device, .threads = options.threads, .target = options.target})),
        pool_(backend_->threads()) {
    if (options.batch < 0)
      base::fail(ErrorCode::kInvalidArgument, "batch of {} windows: use 0 or more", options.batch);
    give_back(take({1, options.precision}));  // what can fail fails here, not in the first run
  }

  Diarization run(audio::Source& source, std::string uri, const RunOptions& options,
                  const RunControl& control) {
    Diarization result;
    result.uri = std::move(uri);
    {
      const pipeline::Stopwatch watch(result.timings.total);
      run_stages(source, options, control, result);
    }
    for (const std::string& warning : result.warnings)
      base::log(control, LogLevel::kWarning, warning);
    return result;
  }

  const std::string& preset() const noexcept { return preset_.name; }

 private:
  struct Key {
    int step_seconds;
    Precision precision;
    bool operator==(const Key&) const = default;
  };

  void run_stages(audio::Source& source, const RunOptions& options, const RunControl& control,
                  Diarization& result) {
    const Precision precision = options.reference ? Precision::kExact : options_.precision;
    std::unique_ptr<Session> session = take({options.step_seconds, precision});
    const pipeline::NetworkResult networks =
        session->run(source, options.reference, control, result.timings);
    for (const std::string& warning : source.warnings()) result.warnings.push_back(warning);
    note_bad_samples(networks.bad_samples, result);
    result.duration = static_cast<double>(networks.samples) / timeline::kSampleRate;
    describe(options, precision, result);

    pipeline::FinishInput input{.chunks = networks.chunks,
                                .step_seconds = options.step_seconds,
                                .dim = session->embedder().dim(),
                                .duration = result.duration,
                                .activity = networks.activity,
                                .embeddings = networks.embeddings,
                                .embed_pieces = {}};
    if (session->embedder().checks_turns())
      input.embed_pieces = [&](auto pieces) {
        const pipeline::Stopwatch watch(result.timings.embedding);
        if (!session) session = take({options.step_seconds, precision});
        return session->embedder().embed_pieces(networks.log_mel, pieces, control.stop);
      };
    if (networks.chunks > kWindowsBesideSession && session->in_host_memory()) {
      session.reset();
      base::return_free_memory();
    }
    base::check_stop(control.stop);
    if (control.progress) control.progress({"clustering", result.duration, result.duration});
    const double embedding_before = result.timings.embedding;
    {
      const pipeline::Stopwatch watch(result.timings.clustering);
      pipeline::finish(input, cluster_settings_, options, &pool_, result);
    }
    result.timings.clustering -= result.timings.embedding - embedding_before;
    if (session) give_back(std::move(session));
  }

  void describe(const RunOptions& options, Precision precision, Diarization& result) const {
    result.settings = effective_settings(preset_, options);
    result.settings.device = backend_->name();
    result.settings.kernels = backend_->kernels();
    result.settings.precision = precision_name(precision);
    result.settings.threads = backend_->threads();
    for (const ModelFileReport& file : bundle_.files)
      result.settings.models.push_back(fmt::format("{} sha256:{}", file.kind, file.sha256));
  }

  std::unique_ptr<Session> take(Key key) {
    {
      const std::lock_guard lock(mutex_);
      for (auto it = idle_.begin(); it != idle_.end(); ++it) {
        const pipeline::SessionOptions& options = (*it)->options();
        if (Key{options.step_seconds, options.precision} != key) continue;
        std::unique_ptr<Session> session = std::move(*it);
        idle_.erase(it);
        return session;
      }
    }
    const int windows = options_.batch > 0 ? options_.batch : backend_->preferred_items();
    return std::make_unique<Session>(
        *backend_, bundle_, preset_,
        pipeline::SessionOptions{windows, key.step_seconds, key.precision});
  }

  // A session that failed in the middle is not given back.
  void give_back(std::unique_ptr<Session> session) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(session));
  }

  DiarizerOptions options_;
  model::Preset preset_;
  model::Bundle bundle_;
  cluster::Settings cluster_settings_;
  std::unique_ptr<backend::Backend> backend_;
  base::TaskPool pool_;  // clustering; the backend has its own
  std::mutex mutex_;
  std::vector<std::unique_ptr<Session>> idle_;
};

Diarizer::Diarizer(const DiarizerOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Diarizer::~Diarizer() = default;
Diarizer::Diarizer(Diarizer&&) noexcept = default;
Diarizer& Diarizer::operator=(Diarizer&&) noexcept = default;

Diarization Diarizer::run(const std::filesystem::path& file, const RunOptions& options,
                          const RunControl& control) const {
  check_options(options);
  const std::unique_ptr<audio::Source> source =
      audio::open_file(file, {.reference = options.reference});
  return impl_->run(*source, file.stem().string(), options, control);
}

Diarization Diarizer::run(const AudioView& audio, const RunOptions& options,
                          const RunControl& control) const {
  check_options(options);
  const std::unique_ptr<audio::Source> source =
      audio::open_memory(audio, {.reference = options.reference});
  return impl_->run(*source, "", options, control);
}

const std::string& Diarizer::preset() const noexcept { return impl_->preset(); }

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
