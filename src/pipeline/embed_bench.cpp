// Figures of the speaker embedding: see diarist/tuning.hpp.

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "backend/profiling.hpp"
#include "backend/registry.hpp"
#include "base/error.hpp"
#include "base/run_control.hpp"
#include "diarist/tuning.hpp"
#include "model/embedding_weights.hpp"
#include "pipeline/bench_batch.hpp"
#include "pipeline/random_resnet.hpp"

namespace diarist {
namespace {

using Clock = std::chrono::steady_clock;
using backend::Profiler;
using pipeline::BenchBatch;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

TimeSummary summary(const std::vector<double>& milliseconds) {
  return {median(milliseconds), *std::min_element(milliseconds.begin(), milliseconds.end())};
}

// A backend, the network's graph and the wishes, checked.
class Bench {
 public:
  Bench(const BenchOptions& options, const RunControl& control)
      : options_(options), control_(control) {
    for (const int batch : options.batches)
      if (batch < 1 || batch > kMostItems)
        base::fail(ErrorCode::kInvalidArgument, "batch {}; give 1 to {}", batch, kMostItems);
    if (!(options.seconds >= 0 && options.seconds <= 3600))
      base::fail(ErrorCode::kInvalidArgument, "{} seconds; give 0 to 3600", options.seconds);
    const bool named_gpu = options.device.rfind("cuda", 0) == 0;
    if (options.family != KernelFamily::kAny && (!named_gpu || !options.target.empty()))
      base::fail(ErrorCode::kUnsupported, "{} has no kernel family {}; leave it out",
                 options.device, kernel_family_name(options.family));
    // On a GPU the target is the family.
    backend_ = backend::make_backend({.device = options.device,
                                      .threads = options.threads,
                                      .target = options.family == KernelFamily::kAny
                                                    ? options.target
                                                    : kernel_family_name(options.family)});
    gpu_ = named_gpu;
    profiler_ = backend::find_profiler(*backend_);
    if (!gpu_ && !options.tune_file.empty())
      base::fail(ErrorCode::kInvalidArgument,
                 "{}: a tune file holds choices for a GPU; leave it out for the device {}",
                 options.tune_file.string(), options.device);
    if (options.weights.empty()) {
      weights_ = "random (He)";
      graph_ = model::resnet34_network(pipeline::random_resnet34());
    } else {
      const model::EmbeddingWeights loaded =
          model::load_named_embedding(options.weights, options.allow_unknown_weights);
      if (loaded.kind != "wespeaker-resnet34")
        base::fail(ErrorCode::kUnsupported,
                   "{}: {} is not measured here; give WeSpeaker ResNet34 weights or none",
                   options.weights.string(), loaded.kind);
      weights_ = options.weights.string();
      graph_ = model::resnet34_network(loaded.weights);
    }
  }

  backend::Backend& backend() { return *backend_; }
  const model::Graph& graph() const { return graph_; }
  const std::string& weights() const { return weights_; }
  Profiler* profiler() { return profiler_; }
  /// A GPU queues work, and may record a batch's.
  bool gpu() const noexcept { return gpu_; }

  /// \throws Error kUnsupported when there is none.
  Profiler& need_profiler(const char* what) {
    if (profiler_ == nullptr)
      base::fail(ErrorCode::kUnsupported, "{} on {}: only GPUs have it; use --device cuda", what,
                 backend_->name());
    return *profiler_;
  }

  std::vector<int> batches() const {
    if (!options_.batches.empty()) return options_.batches;
    return gpu_ ? std::vector<int>{1, 32, 128} : std::vector<int>{1, 2};
  }

  std::vector<Precision> precisions() const {
    if (!options_.precisions.empty()) return options_.precisions;
    return gpu_ ? std::vector<Precision>{Precision::kFast, Precision::kExact}
                : std::vector<Precision>{Precision::kExact};
  }

  backend::CompileOptions compile_options(int items, Precision precision, bool record) const {
    backend::CompileOptions compile;
    compile.max_items = items;
    compile.precision = precision;
    compile.kernel_only = options_.kernel_only;
    compile.record = record;
    compile.tune_file = options_.tune_file;
    compile.log = control_.log;
    return compile;
  }

  std::unique_ptr<backend::Program> compile(int items, Precision precision, bool record) {
    return backend_->compile(graph_, compile_options(items, precision, record));
  }

  backend::Measuring measuring() const { return {options_.seconds, control_.stop}; }

 private:
  static constexpr int kMostItems = 4096;
  const BenchOptions& options_;
  const RunControl& control_;
  std::unique_ptr<backend::Backend> backend_;
  Profiler* profiler_ = nullptr;
  bool gpu_ = false;
  std::string weights_;
  model::Graph graph_;
};

// Embeddings of chunk 0 and chunk 1 by the double reference.
std::vector<float> reference_embeddings(const Bench& bench) {
  const std::unique_ptr<backend::Backend> reference =
      backend::make_backend({.device = "reference"});
  const auto program = reference->compile(bench.graph(), {.max_items = 2});
  const auto queue = reference->make_queue();
  BenchBatch batch(*reference, 2);
  batch.upload(*queue);
  program->run(*queue, batch.run());
  batch.download(*queue);
  queue->wait();
  return {batch.embeddings().begin(), batch.embeddings().end()};
}

// Measures one row on one program.
class RowBench {
 public:
  RowBench(Bench& bench, const BenchOptions& options, const RunControl& control, int items,
           Precision precision, bool graph)
      : bench_(bench),
        control_(control),
        seconds_(options.seconds),
        program_(bench.compile(items, precision, graph)),
        queue_(bench.backend().make_queue()),
        batch_(bench.backend(), items) {
    row_.batch = items;
    row_.precision = precision;
    row_.records = bench.gpu();
    row_.graph = graph;
  }

  BenchRow run(const std::vector<float>& reference) {
    pass();  // loads code, records, fills caches
    latencies();
    load();
    row_.buffer_bytes = batch_.bytes();
    row_.workspace_bytes = program_->workspace_bytes();
    row_.plans = program_->plans();
    if (bench_.profiler() != nullptr) row_.device_bytes = bench_.profiler()->device_bytes();
    if (!reference.empty()) compare(reference);
    return row_;
  }

 private:
  // Everything from host to host, with a second look at the result.
  void pass() {
    base::check_stop(control_.stop);
    batch_.upload(*queue_);
    program_->run(*queue_, batch_.run());
    do {
      batch_.download(*queue_);
    } while (program_->settle(*queue_, batch_.run()));
  }

  void latencies() {
    std::vector<double> h2d, compute, d2h;
    const Clock::time_point start = Clock::now();
    const auto step = [&](std::vector<double>& times, auto&& work) {
      const Clock::time_point begin = Clock::now();
      work();
      queue_->wait();
      times.push_back(1e3 * seconds_since(begin));
    };
    constexpr std::size_t kLeast = 3, kMost = 1000;
    do {
      base::check_stop(control_.stop);
      step(h2d, [&] { batch_.upload(*queue_); });
      step(compute, [&] { program_->run(*queue_, batch_.run()); });
      program_->settle(*queue_, batch_.run());
      step(d2h, [&] { batch_.download(*queue_); });
    } while (seconds_ > 0 && compute.size() < kMost &&
             (compute.size() < kLeast || seconds_since(start) < seconds_ / 4));
    row_.h2d = summary(h2d);
    row_.compute = summary(compute);
    row_.d2h = summary(d2h);
  }

  // Batches back to back: a few in the queue, so that the device never waits for the host.
  void load() {
    constexpr int kQueuedChunks = 512, kSamples = 3;
    // A CPU works while run() is called.
    const int group = row_.records ? std::clamp(kQueuedChunks / row_.batch, 4, 64) : 1;
    std::vector<double> clocks, watts;
    std::int64_t runs = 0;
    const Clock::time_point start = Clock::now();
    double elapsed = 0;
    do {
      base::check_stop(control_.stop);
      for (int i = 0; i < group; ++i) program_->run(*queue_, batch_.run());
      runs += group;
      // While the device works, in the second half of the load.
      const double next = seconds_ * (0.5 + 0.2 * static_cast<double>(clocks.size()));
      if (bench_.profiler() != nullptr && elapsed >= next && clocks.size() < kSamples) {
        const DeviceState state = bench_.profiler()->state();
        clocks.push_back(state.clock_mhz);
        watts.push_back(state.power_watts);
      }
      queue_->wait();
      elapsed = seconds_since(start);
    } while (elapsed < seconds_);
    program_->settle(*queue_, batch_.run());
    row_.seconds = elapsed;
    row_.chunks_per_second = static_cast<double>(runs * row_.batch) / elapsed;
    row_.state = {median(clocks), median(watts)};
  }

  // Every position against the reference of its chunk; a batch of one sees both chunks.
  void compare(const std::vector<float>& reference) {
    constexpr std::size_t kChunk = 3 * 256;
    row_.checked = true;
    row_.worst_cosine = 1;
    for (int turn = 0; turn < (row_.batch == 1 ? 2 : 1); ++turn) {
      if (turn == 1) batch_.swap_chunks();
      pass();
      for (int i = 0; i < row_.batch; ++i) {
        const int chunk = BenchBatch::chunk_at(turn + i);
        const double cosine = pipeline::worst_cosine(
            batch_.embeddings().subspan(static_cast<std::size_t>(i) * kChunk, kChunk),
            std::span(reference).subspan(static_cast<std::size_t>(chunk) * kChunk, kChunk));
        row_.worst_cosine = pipeline::worse(row_.worst_cosine, cosine);
      }
    }
  }

  Bench& bench_;
  const RunControl& control_;
  double seconds_;
  std::unique_ptr<backend::Program> program_;
  std::unique_ptr<backend::Queue> queue_;
  BenchBatch batch_;
  BenchRow row_;
};

}  // namespace

const char* kernel_family_name(KernelFamily family) noexcept {
  constexpr const char* kNames[] = {"any", "hopper", "portable", "fp32", "library"};
  return kNames[static_cast<int>(family)];
}

double ProfileReport::total_ms() const {
  double sum = 0;
  for (const LayerProfile& row : rows) sum += row.milliseconds;
  return sum;
}

double ProfileReport::floor_ms() const {
  double sum = 0;
  for (const LayerProfile& row : rows) sum += row.floor_ms;
  return sum;
}

BenchReport bench_embed(const BenchOptions& options, const RunControl& control) {
  Bench bench(options, control);
  BenchReport report;
  report.device = bench.backend().name();
  report.kernels = bench.backend().kernels();
  report.weights = bench.weights();
  std::vector<float> reference;
  for (const Precision precision : bench.precisions())
    for (const int batch : bench.batches())
      for (const bool graph : {true, false}) {
        if (graph && !bench.gpu()) continue;
        base::log(control, LogLevel::kInfo,
                  fmt::format("{}, batch {}{}", precision_name(precision), batch,
                              graph ? ", recorded" : ""));
        // What the device can't do is refused here, before the reference takes its seconds.
        RowBench row(bench, options, control, batch, precision, graph);
        if (options.check && reference.empty()) {
          base::log(control, LogLevel::kInfo,
                    "reference embeddings of two chunks in double precision");
          reference = reference_embeddings(bench);
        }
        report.rows.push_back(row.run(reference));
      }
  return report;
}

std::vector<ProfileReport> profile_embed(const BenchOptions& options, const RunControl& control) {
  Bench bench(options, control);
  Profiler& profiler = bench.need_profiler("a profile of single launches");
  std::vector<ProfileReport> reports;
  for (const Precision precision : bench.precisions())
    for (const int items : bench.batches()) {
      base::check_stop(control.stop);
      const auto program = bench.compile(items, precision, /*record=*/false);
      const auto queue = bench.backend().make_queue();
      BenchBatch batch(bench.backend(), items);
      batch.upload(*queue);
      queue->wait();
      ProfileReport report;
      report.device = bench.backend().kernels();
      report.batch = items;
      report.precision = precision;
      report.rows = profiler.profile(*program, *queue, batch.run(), bench.measuring());
      report.state = profiler.state();
      const backend::DevicePeaks peaks = profiler.peaks();
      report.flops_peak = precision == Precision::kTf32 ? peaks.tf32_flops : peaks.half_flops;
      report.bytes_peak = peaks.bytes;
      reports.push_back(std::move(report));
    }
  return reports;
}

std::vector<AlgorithmRow> embed_algorithms(const BenchOptions& options, const RunControl& control) {
  Bench bench(options, control);
  return bench.need_profiler("a comparison of algorithms")
      .algorithms(bench.graph(),
                  bench.compile_options(bench.batches().back(), bench.precisions().front(), false),
                  bench.measuring());
}

std::vector<FusionRow> embed_fusion(const BenchOptions& options, const RunControl& control) {
  Bench bench(options, control);
  return bench.need_profiler("a comparison of fused and plain convolutions")
      .fusion(bench.graph(),
              bench.compile_options(bench.batches().back(), bench.precisions().front(), false),
              bench.measuring());
}

std::vector<std::string> tune_embed(const BenchOptions& options, const std::filesystem::path& out,
                                    const RunControl& control) {
  if (!options.tune_file.empty())
    base::fail(ErrorCode::kInvalidArgument, "tuning starts from nothing; leave {} out",
               options.tune_file.string());
  Bench bench(options, control);
  Profiler& profiler = bench.need_profiler("tuning");
  const std::vector<int> batches = bench.batches();
  const int largest = *std::max_element(batches.begin(), batches.end());
  std::vector<std::string> lines;
  for (const Precision precision : bench.precisions()) {
    base::log(control, LogLevel::kInfo, fmt::format("tuning {}", precision_name(precision)));
    for (std::string& line :
         profiler.tune(bench.graph(), bench.compile_options(largest, precision, false), batches,
                       bench.measuring()))
      lines.push_back(std::move(line));
  }
  profiler.write_tune_file(out);
  return lines;
}

std::vector<std::string> check_tune_file(const BenchOptions& options,
                                         const std::filesystem::path& file) {
  const std::unique_ptr<backend::Backend> backend = backend::make_backend(
      {.device = options.device, .threads = options.threads, .target = options.target});
  Profiler* profiler = backend::find_profiler(*backend);
  if (profiler == nullptr)
    base::fail(ErrorCode::kUnsupported, "{} reads no tune files; use --device cuda",
               backend->name());
  return profiler->check_tune_file(file);
}

}  // namespace diarist
