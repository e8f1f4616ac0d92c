#include "diarist/embedder.hpp"

#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <mutex>
#include <utility>

#include "audio/source.hpp"
#include "backend/registry.hpp"
#include "base/error.hpp"
#include "base/run_control.hpp"
#include "model/embedding_weights.hpp"
#include "pipeline/alive.hpp"
#include "pipeline/chunk_network.hpp"
#include "pipeline/dlpack_tensor.hpp"
#include "pipeline/preset_choice.hpp"
#include "pipeline/sample_feed.hpp"
#include "pipeline/span_embedder.hpp"
#include "timeline/grid.hpp"

namespace diarist {
namespace {

using Kind = DeviceTensor::Kind;
using pipeline::alive;
using pipeline::ChunkNetwork;
using pipeline::PieceNetwork;

constexpr const char* kResnet = "wespeaker-resnet34";
constexpr int kMostChunks = 4096;  // of a batch: more than any device gains from

model::EmbeddingWeights load_weights(const EmbedderOptions& options) {
  if (options.weights.empty()) {
    const model::Preset& preset = pipeline::choose_preset(options.preset, options.models);
    return model::load_embedding(pipeline::models_folder(options.models) / preset.bundle,
                                 options.allow_unknown_weights);
  }
  return model::load_named_embedding(options.weights, options.allow_unknown_weights);
}

bool is_gpu(const std::string& device) { return device.rfind("cuda", 0) == 0; }

// Wishes that only GPUs can meet are refused elsewhere, instead of being ignored.
EmbedderOptions checked(EmbedderOptions options) {
  if (options.batch < 0 || options.batch > kMostChunks)
    base::fail(ErrorCode::kInvalidArgument,
               "batch of {} chunks: use 1 to {}, or 0 for the device's own", options.batch,
               kMostChunks);
  if (!is_gpu(options.device) && !options.tune_file.empty())
    base::fail(ErrorCode::kInvalidArgument,
               "{}: a tune file holds choices for a GPU; leave it out for the device {}",
               options.tune_file.string(), options.device);
  return options;
}

// Number of the GPU in "cuda:N"; of "cuda" the first.
int gpu_number(const std::string& name) {
  int number = 0;
  if (const std::size_t colon = name.find(':'); colon != std::string::npos)
    std::from_chars(name.data() + colon + 1, name.data() + name.size(), number);
  return number;
}

struct Samples {
  std::vector<float> values;  // 16 kHz mono, NaN and infinite ones as zero
  std::vector<std::string> warnings;
};

Samples read_all(audio::Source& source, const std::stop_token& stop) {
  constexpr std::size_t kBlock = 16000;
  pipeline::SampleFeed feed(source);
  Samples samples;
  for (std::size_t count = kBlock; count == kBlock;) {
    base::check_stop(stop);
    const std::size_t start = samples.values.size();
    samples.values.resize(start + kBlock);
    count = feed.take(std::span(samples.values).subspan(start));
    samples.values.resize(start + count);
  }
  samples.warnings = source.warnings();
  if (feed.bad_count() > 0)
    samples.warnings.push_back(
        fmt::format("{} samples were NaN or infinite and were read as zero", feed.bad_count()));
  return samples;
}

void check_same_place(const DeviceTensor& tensor, const char* name, Kind kind, int device) {
  const auto words = [](Kind k, int d) {
    return k == Kind::kHost ? std::string("the host") : fmt::format("GPU {}", d);
  };
  if (tensor.kind != kind || (kind == Kind::kCuda && tensor.device != device))
    base::fail(ErrorCode::kInvalidArgument, "{}: lies on {}, needed is memory of {}", name,
               words(tensor.kind, tensor.device), words(kind, device));
  if (tensor.data == nullptr && tensor.elements != 0)
    base::fail(ErrorCode::kInvalidArgument, "{}: {} values at no address", name, tensor.elements);
}

}  // namespace

class [[gnu::visibility("hidden")]] Embedder::Impl {
 public:
  explicit Impl(const EmbedderOptions& options)
      : options_(checked(options)),
        weights_(load_weights(options)),
        backend_(backend::make_backend(
            {.device = options.device, .threads = options.threads, .target = options.target})),
        kind_(is_gpu(backend_->name()) ? Kind::kCuda : Kind::kHost),
        gpu_(kind_ == Kind::kCuda ? gpu_number(backend_->name()) : 0),
        batch_(options.batch > 0 ? options.batch : backend_->preferred_items()),
        precision_(options.precision.value_or(kind_ == Kind::kCuda ? Precision::kFast
                                                                   : Precision::kExact)) {
    give_back(take());  // what can fail fails here, not in the first call
  }

  int dim() const { return is_resnet() ? static_cast<int>(pipeline::kChunkDim) : 192; }

  EmbedderInfo info() {
    std::unique_ptr<Worker> worker = take();
    const backend::Program& program =
        is_resnet() ? worker->chunks->program() : worker->pieces->program();
    EmbedderInfo info;
    info.network = weights_.kind;
    info.weights = fmt::format("{}, sha256:{}, {}", weights_.report.source, weights_.report.sha256,
                               trust_name(weights_.report.trust));
    info.dim = dim();
    info.device = backend_->name();
    info.kernels = backend_->kernels();
    info.features_device = backend_->name();
    info.precision = precision_name(precision_);
    info.threads = backend_->threads();
    info.batch = batch_;
    info.plans = program.plans();
    info.buffer_bytes =
        is_resnet() ? worker->chunks->buffer_bytes() : worker->pieces->buffer_bytes();
    info.workspace_bytes = program.workspace_bytes();
    for (const backend::Choice& choice : program.choices())
      info.layers.push_back({choice.node, choice.kernel, choice.reason});
    give_back(std::move(worker));
    return info;
  }

  std::vector<float> features(const AudioView& audio, FeatureMean mean) {
    const std::unique_ptr<audio::Source> source = audio::open_memory(audio);
    Samples samples = read_all(*source, {});
    const std::int64_t count = static_cast<std::int64_t>(samples.values.size());
    const std::int64_t rows = pipeline::whole_rows(count);
    if (count > timeline::kChunkSamples || rows < 1)
      base::fail(ErrorCode::kInvalidArgument,
                 "features of {:.3f} s of audio: a chunk has 0.025 s to 10 s; {}",
                 static_cast<double>(count) / timeline::kSampleRate,
                 rows < 1 ? "give more of it" : "cut it, or use embed()");
    samples.values.resize(timeline::kChunkSamples, 0.0F);
    std::vector<float> result(static_cast<std::size_t>(pipeline::kFeatureValues));
    std::unique_ptr<Worker> worker = take();
    features_of(*worker).run(samples.values, result, {});
    give_back(std::move(worker));
    pipeline::remove_mean(result, mean == FeatureMean::kChunk ? kRows : rows);
    return result;
  }

  void forward(std::span<const float> features, std::span<const float> masks,
               std::span<float> embeddings, const std::stop_token& stop) {
    need_resnet("forward");
    pipeline::count_chunks(static_cast<std::int64_t>(features.size()),
                           static_cast<std::int64_t>(masks.size()),
                           static_cast<std::int64_t>(embeddings.size()));
    std::unique_ptr<Worker> worker = take();
    worker->chunks->run(features, masks, embeddings, stop);
    give_back(std::move(worker));
  }

  void forward(const DeviceTensor& features, const DeviceTensor& masks,
               const DeviceTensor& embeddings, std::optional<void*> stream) {
    need_resnet("forward");
    const std::int64_t chunks =
        pipeline::count_chunks(features.elements, masks.elements, embeddings.elements);
    check_same_place(features, "features", kind_, gpu_);
    check_same_place(masks, "masks", kind_, gpu_);
    check_same_place(embeddings, "embeddings", kind_, gpu_);
    const std::unique_ptr<backend::Queue> queue =
        stream.has_value() ? backend_->make_queue_on(*stream) : backend_->make_queue();
    const auto wrap = [&](const DeviceTensor& tensor) {
      return backend_->wrap(tensor.data, static_cast<std::size_t>(tensor.elements) * sizeof(float));
    };
    if (chunks == 0) return;
    const auto from = wrap(features), under = wrap(masks), to = wrap(embeddings);
    std::unique_ptr<Worker> worker = take();
    worker->chunks->run(*queue, *from, *under, *to, chunks);
    give_back(std::move(worker));
  }

  dlpack::ManagedTensor* forward(const dlpack::ManagedTensor& features,
                                 const dlpack::ManagedTensor& masks, std::optional<void*> stream) {
    need_resnet("forward");
    const DeviceTensor from = pipeline::borrow(features, "features", {{-1, kRows, kBands}});
    const DeviceTensor under =
        pipeline::borrow(masks, "masks", {{-1, kMaskFrames}, {-1, kSpeakers, kMaskFrames}});
    const std::int64_t chunks = from.elements / pipeline::kFeatureValues;
    const std::int64_t values = chunks * pipeline::kEmbeddingValues;
    pipeline::count_chunks(from.elements, under.elements, values);
    check_same_place(under, "masks", from.kind, from.device);
    const std::vector<std::int64_t> shape = {chunks * kSpeakers, pipeline::kChunkDim};
    if (from.kind == Kind::kHost && kind_ != Kind::kHost) {
      if (stream.has_value())
        base::fail(ErrorCode::kInvalidArgument,
                   "features: lie on the host, where there is no stream; leave the stream out");
      auto result = std::make_shared<std::vector<float>>(static_cast<std::size_t>(values));
      forward({from.data, static_cast<std::size_t>(from.elements)},
              {under.data, static_cast<std::size_t>(under.elements)}, *result, {});
      return pipeline::hand_over(result->data(), {dlpack::kCpu, 0}, shape, result);
    }
    // The result's memory needs its backend, which needs nothing of this object.
    struct Result {
      std::shared_ptr<backend::Backend> backend;
      std::unique_ptr<backend::Buffer> buffer;
    };
    auto result = std::make_shared<Result>();
    result->backend = backend_;
    result->buffer = backend_->allocate(static_cast<std::size_t>(values) * sizeof(float));
    const DeviceTensor to{.data = static_cast<float*>(result->buffer->address()),
                          .elements = values,
                          .kind = kind_,
                          .device = gpu_};
    forward(from, under, to, stream);
    const dlpack::Device device{kind_ == Kind::kHost ? dlpack::kCpu : dlpack::kCuda, gpu_};
    return pipeline::hand_over(to.data, device, shape, result);
  }

  void forward_with_taps(std::span<const float> features, std::span<const float> masks,
                         const std::function<void(const Tap&)>& callback) {
    need_resnet("forward_with_taps");
    const std::int64_t given = static_cast<std::int64_t>(features.size());
    const std::int64_t chunks =
        pipeline::count_chunks(given, static_cast<std::int64_t>(masks.size()),
                               given / pipeline::kFeatureValues * pipeline::kEmbeddingValues);
    if (chunks < 1 || chunks > batch_)
      base::fail(ErrorCode::kInvalidArgument,
                 "features: {} chunks given, 1 to {} (one batch) can be tapped at once", chunks,
                 batch_);
    pipeline::run_with_taps(*backend_, weights_.weights, compile_options(), features, masks, kind_,
                            gpu_, callback);
  }

  std::vector<float> embed(audio::Source & source, std::span<const TimeSpan> spans,
                           const RunControl& control) {
    const Samples samples = read_all(source, control.stop);
    for (const std::string& warning : samples.warnings)
      base::log(control, LogLevel::kWarning, warning);
    std::unique_ptr<Worker> worker = take();
    const auto vectors = [&](std::span<float> rows, std::span<const std::int64_t> lengths,
                             std::span<float> found, const std::stop_token& stop) {
      if (is_resnet()) {
        pipeline::piece_vectors(*worker->chunks, rows, lengths, found, stop);
      } else {
        worker->pieces->run(rows, lengths, found, stop);
      }
    };
    std::vector<float> result =
        pipeline::embed_spans(samples.values, spans, dim(), features_of(*worker), vectors, control);
    give_back(std::move(worker));
    return result;
  }

 private:
  // Plans and buffers of one call at a time. One of the networks; features on first use.
  struct Worker {
    std::unique_ptr<ChunkNetwork> chunks;
    std::unique_ptr<PieceNetwork> pieces;
    std::unique_ptr<pipeline::ChunkFeatures> features;
  };

  bool is_resnet() const { return weights_.kind == kResnet; }

  void need_resnet(const char* call) const {
    if (is_resnet()) return;
    base::fail(ErrorCode::kUnsupported,
               "{}: {} has neither chunks nor masks; use embed(), or a preset with WeSpeaker's "
               "ResNet34 (community-1, pyannote-3.1)",
               call, weights_.kind);
  }

  backend::CompileOptions compile_options() {
    return {.max_items = batch_,
            .precision = precision_,
            .kernel_only = options_.kernel_only,
            .record = options_.graph,
            .tune_file = options_.tune_file,
            .log = log_once()};
  }

  // A program says once what its user should know; here every worker has a program of its own.
  std::function<void(LogLevel, std::string_view)> log_once() {
    if (!options_.log) return {};
    return [this](LogLevel level, std::string_view text) {
      if (!told_.exchange(true)) options_.log(level, text);
    };
  }

  pipeline::ChunkFeatures& features_of(Worker & worker) {
    if (worker.features == nullptr)
      worker.features = std::make_unique<pipeline::ChunkFeatures>(
          *backend_, is_resnet() ? model::wespeaker_features() : model::campplus_features(),
          batch_);
    return *worker.features;
  }

  std::unique_ptr<Worker> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Worker> worker = std::move(idle_.back());
        idle_.pop_back();
        return worker;
      }
    }
    auto worker = std::make_unique<Worker>();
    if (is_resnet()) {
      worker->chunks =
          std::make_unique<ChunkNetwork>(*backend_, weights_.weights, compile_options());
    } else {
      worker->pieces =
          std::make_unique<PieceNetwork>(*backend_, weights_.weights, batch_, precision_);
    }
    return worker;
  }

  // A worker that failed in the middle is not given back.
  void give_back(std::unique_ptr<Worker> worker) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(worker));
  }

  EmbedderOptions options_;
  std::atomic<bool> told_ = false;
  model::EmbeddingWeights weights_;
  // Workers die before the backend whose memory they hold; DLPack results keep theirs alive.
  std::shared_ptr<backend::Backend> backend_;
  Kind kind_;
  int gpu_;
  int batch_;
  Precision precision_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> idle_;
};

Embedder::Embedder(const EmbedderOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Embedder::~Embedder() = default;
Embedder::Embedder(Embedder&&) noexcept = default;
Embedder& Embedder::operator=(Embedder&&) noexcept = default;

int Embedder::dim() const noexcept { return impl_ ? impl_->dim() : 0; }

EmbedderInfo Embedder::info() const { return alive(impl_, "Embedder").info(); }

std::vector<float> Embedder::features(const AudioView& audio, FeatureMean mean) const {
  return alive(impl_, "Embedder").features(audio, mean);
}

void Embedder::forward(std::span<const float> features, std::span<const float> masks,
                       std::span<float> embeddings, const std::stop_token& stop) const {
  alive(impl_, "Embedder").forward(features, masks, embeddings, stop);
}

void Embedder::forward(const DeviceTensor& features, const DeviceTensor& masks,
                       const DeviceTensor& embeddings, std::optional<void*> stream) const {
  alive(impl_, "Embedder").forward(features, masks, embeddings, stream);
}

dlpack::ManagedTensor* Embedder::forward(const dlpack::ManagedTensor& features,
                                         const dlpack::ManagedTensor& masks,
                                         std::optional<void*> stream) const {
  return alive(impl_, "Embedder").forward(features, masks, stream);
}

void Embedder::forward_with_taps(std::span<const float> features, std::span<const float> masks,
                                 const std::function<void(const Tap&)>& callback) const {
  alive(impl_, "Embedder").forward_with_taps(features, masks, callback);
}

std::vector<float> Embedder::embed(const AudioView& audio, std::span<const TimeSpan> spans,
                                   const RunControl& control) const {
  const std::unique_ptr<audio::Source> source = audio::open_memory(audio);
  return alive(impl_, "Embedder").embed(*source, spans, control);
}

std::vector<float> Embedder::embed(const std::filesystem::path& file,
                                   std::span<const TimeSpan> spans, const RunControl& control,
                                   const AudioOptions& audio) const {
  if (audio.split_channels)
    base::fail(ErrorCode::kInvalidArgument,
               "embeddings are made of one channel at a time; ask for channel 1, then for channel "
               "2");
  const std::unique_ptr<audio::Source> source =
      audio::open_file(file, {.audio = audio, .stop = control.stop});
  std::vector<TimeSpan> decoded(spans.begin(), spans.end());  // from where decoding begins
  for (TimeSpan& span : decoded) {
    if (span.start < audio.from)
      base::fail(ErrorCode::kInvalidArgument,
                 "the turn from {:.3f} to {:.3f} s begins before {:.3f} s, where the stretch asked "
                 "for does",
                 span.start, span.end, audio.from);
    span.start -= audio.from;
    span.end -= audio.from;
  }
  return alive(impl_, "Embedder").embed(*source, decoded, control);
}

}  // namespace diarist
