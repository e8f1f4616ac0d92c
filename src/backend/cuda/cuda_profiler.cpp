#include "backend/cuda/cuda_profiler.hpp"

#include <cuda_fp16.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "backend/cuda/check.hpp"
#include "backend/cuda/choice/profile.hpp"
#include "backend/cuda/device_facts.hpp"
#include "backend/cuda/embedding_pass.hpp"
#include "backend/cuda/embedding_program.hpp"
#include "backend/cuda/library/map_passes.hpp"
#include "base/run_control.hpp"

namespace diarist::backend::cuda {
namespace {

// Numbers of the size of log-mel features, the same in every run.
std::vector<float> plausible_features(std::size_t count) {
  std::vector<float> numbers(count);
  std::uint32_t state = 1;
  for (float& x : numbers) {
    state = state * 1664525U + 1013904223U;
    x = (static_cast<float>(state >> 8) / 16777216.0F - 0.5F) * 8.0F;
  }
  return numbers;
}

// Milliseconds of one call, over calls that fill the time of a measurement.
template <typename Call>
double repeated(CudaQueue& queue, const Measuring& measuring, Call call) {
  Events events(2);
  const double wanted = 1000 * measuring.seconds;
  for (int runs = 3;;) {
    base::check_stop(measuring.stop);
    events.record(0, queue.stream());
    for (int i = 0; i < runs; ++i) call();
    events.record(1, queue.stream());
    queue.wait();
    const double milliseconds = events.milliseconds(0, 1);
    if (milliseconds >= wanted || runs > 100000) return milliseconds / runs;
    const double factor = std::min(1.1 * wanted / std::max(milliseconds, 0.01), 1000.0);
    runs = std::max(2 * runs, static_cast<int>(runs * factor));
  }
}

// Numbers as a ReLU leaves them: zeros would draw less power and run faster.
std::vector<std::byte> plausible_map(bool halves, std::size_t numbers) {
  std::vector<std::byte> bytes(numbers * (halves ? 2 : 4));
  std::vector<float> values = plausible_features(numbers);
  for (std::size_t i = 0; i < numbers; ++i) {
    const float x = std::max(values[i], 0.0F);
    if (halves) {
      const __half half = __float2half_rn(x);
      std::memcpy(&bytes[2 * i], &half, 2);
    } else {
      std::memcpy(&bytes[4 * i], &x, 4);
    }
  }
  return bytes;
}

// Maps for one convolution of a library trunk.
struct LibraryMaps {
  LibraryMaps(const EmbeddingModel& model, int index, int items, CudaQueue& queue) {
    const LayerShape& shape = model.layers()[static_cast<std::size_t>(index)].shape;
    const std::vector<std::byte> numbers =
        plausible_map(model.format() == MapFormat::kHalf, std::size_t{1} << 22);
    const auto map = [&](int channels, int frequency, int time) {
      const std::size_t bytes =
          static_cast<std::size_t>(channels) * static_cast<std::size_t>(frequency) *
          static_cast<std::size_t>(time) * static_cast<std::size_t>(items) * model.number_bytes();
      DeviceMemory memory(model.device(), bytes, "map");
      for (std::size_t at = 0; at < bytes; at += numbers.size())
        check(cudaMemcpyAsync(memory.as<std::byte>() + at, numbers.data(),
                              std::min(numbers.size(), bytes - at), cudaMemcpyHostToDevice,
                              queue.stream()),
              "map");
      return memory;
    };
    input = map(shape.cin, shape.frequency, shape.time);
    output = map(shape.cout, shape.out_frequency(), shape.out_time());
    if (shape.residual) residual = map(shape.cout, shape.out_frequency(), shape.out_time());
    args = {input.data(), model.weights(index).weights.data(), model.weights(index).bias.data(),
            residual.data(), output.data()};
    out.map = output.data();
    out.halves = model.format() == MapFormat::kHalf;
    out.items = items;
    out.values = std::int64_t{shape.cout} * shape.out_frequency() * shape.out_time();
  }
  DeviceMemory input, residual, output;
  LibraryArgs args;
  MapArgs out;
};

int leader_of(const TrunkChoice& choice, int layer) {
  return choice.layers[static_cast<std::size_t>(layer)].launched_by;
}

}  // namespace

Mode mode_of(Precision precision) {
  switch (precision) {
    case Precision::kFast:
      return Mode::kFast;
    case Precision::kTf32:
      return Mode::kTf32;
    default:
      return Mode::kExact;
  }
}

CudaProfiler::CudaProfiler(int device)
    : device_(device), facts_(device_facts(device)), known_peaks_(known_peaks(facts_)) {
  char bus[32] = {};
  if (cudaDeviceGetPCIBusId(bus, sizeof(bus), device) == cudaSuccess)
    meter_ = DeviceMeter::open(bus);
  session_ = std::make_unique<TuneSession>(
      facts_, meter_ != nullptr ? meter_->driver_version() : std::string());
}

DeviceState CudaProfiler::state() const {
  return meter_ != nullptr ? meter_->state() : DeviceState{};
}

std::vector<LayerProfile> CudaProfiler::profile(Program& program, Queue& queue, const Run& run,
                                                const Measuring& measuring) const {
  auto& embedding = static_cast<EmbeddingProgram&>(program);
  const EmbeddingModel& model = embedding.model();
  const auto start = std::chrono::steady_clock::now();
  embedding.times(queue, run, 1);
  const std::chrono::duration<double> once = std::chrono::steady_clock::now() - start;
  const int repeats =
      std::clamp(static_cast<int>(measuring.seconds / std::max(once.count(), 1e-4)), 5, 500);
  base::check_stop(measuring.stop);
  const std::vector<LaunchTime> times = embedding.times(queue, run, repeats);
  const TrunkChoice choice = model.choice_for(run.items);
  const std::size_t trunk = launches_of(model.layers(), choice, model.mode(), run.items).size();
  std::vector<double> milliseconds;
  for (std::size_t i = 1; i <= trunk; ++i) milliseconds.push_back(times[i].milliseconds);
  std::vector<LayerProfile> rows;
  const auto time = static_cast<double>(model.layers().front().shape.time);
  LaunchCost features;
  features.bytes = run.items * 80 * time * (4 + static_cast<double>(model.number_bytes()));
  rows.push_back(profile_row("features", times[0].kernel, features, times[0].milliseconds,
                             known_peaks_.float_flops, known_peaks_.bytes));
  for (LayerProfile& row :
       profile_rows(model.layers(), choice, model.mode(), run.items, milliseconds, known_peaks_))
    rows.push_back(std::move(row));
  const HeadWeights& head = model.heads().back();
  const base::Shape& map = model.values()[static_cast<std::size_t>(head.map)].shape;
  const base::Shape& masks = model.values()[static_cast<std::size_t>(head.masks)].shape;
  const LaunchCost pooling =
      pooling_cost(static_cast<int>(map[0]), static_cast<int>(map[1]), static_cast<int>(map[2]),
                   model.format(), head.speakers, static_cast<int>(masks[1]), run.items);
  rows.push_back(profile_row("pooling", times[trunk + 1].kernel, pooling,
                             times[trunk + 1].milliseconds, known_peaks_.float_flops,
                             known_peaks_.bytes));
  rows.push_back(profile_row("head", times[trunk + 2].kernel,
                             head_cost(head.statistics, head.dim, head.speakers * run.items),
                             times[trunk + 2].milliseconds, known_peaks_.float_flops,
                             known_peaks_.bytes));
  return rows;
}

CandidateTime CudaProfiler::time(const model::Graph& graph, const std::vector<ConvLayer>& layers,
                                 const Candidate& candidate, const Measuring& measuring) const {
  base::check_stop(measuring.stop);
  const DeviceGuard guard(device_);
  CandidateTime result;
  try {
    ModelOptions options;
    options.choice.mode = candidate.mode;
    options.choice.items = candidate.items;
    for (const int index : candidate.layers)
      options.tuned.push_back({layers[static_cast<std::size_t>(index)].shape, candidate.mode,
                               candidate.items, candidate.kernel, candidate.variant, 0});
    const EmbeddingModel model(device_, graph, options);
    const int leader = leader_of(model.choice(), candidate.layers.back());
    PassBuffers buffers(model, candidate.items);
    ActivationStore store(device_);
    CudaQueue queue(device_);
    std::unique_ptr<LibraryConvolutions> library;
    if (model.uses_library())
      library = std::make_unique<LibraryConvolutions>(device_, candidate.mode, candidate.items);
    EmbeddingPass pass(model, candidate.items, store, buffers, library.get());
    const std::vector<float> numbers = plausible_features(998 * 80);
    const DeviceMemory features = to_device<float>(device_, numbers, "features");
    pass.prepare(features.as<float>(), 0, nullptr, candidate.items, queue.stream());
    pass.run(queue.stream(), false);
    queue.wait();
    const std::vector<Launch>& launches = pass.launches();
    const std::string& name = layers[static_cast<std::size_t>(leader)].name;
    const auto launch = std::find_if(launches.begin(), launches.end(),
                                     [&](const Launch& l) { return l.layer == name; });
    if (launch == launches.end()) {
      result.problem = "launched with another layer";
      return result;
    }
    if (library != nullptr) result.workspace_bytes = library->workspace_bytes();
    result.milliseconds =
        repeated(queue, measuring, [&] { check(launch->run(queue.stream()), name.c_str()); });
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kDeviceLost) throw;
    result.problem = error.what();
  }
  return result;
}

std::vector<AlgorithmRow> CudaProfiler::algorithms(const model::Graph& graph,
                                                   const CompileOptions& options,
                                                   const Measuring& measuring) const {
  const std::vector<ConvLayer> layers = conv_layers(graph);
  ChoiceOptions choice;
  choice.mode = mode_of(options.precision);
  choice.items = options.max_items;
  choice.kernel_only = options.kernel_only;
  std::vector<AlgorithmRow> rows = time_candidates(
      facts_, layers, choice,
      [&](const Candidate& candidate) { return time(graph, layers, candidate, measuring); });
  if (!options.kernel_only) add_library_rows(graph, options, measuring, rows);
  return rows;
}

void CudaProfiler::add_library_rows(const model::Graph& graph, const CompileOptions& options,
                                    const Measuring& measuring,
                                    std::vector<AlgorithmRow>& rows) const {
  const DeviceGuard guard(device_);
  const int items = options.max_items;
  ModelOptions wanted;
  wanted.choice.mode = mode_of(options.precision);
  wanted.choice.family = Family::kLibrary;
  wanted.choice.items = items;
  std::unique_ptr<EmbeddingModel> model;
  std::unique_ptr<LibraryConvolutions> library;
  try {
    model = std::make_unique<EmbeddingModel>(device_, graph, wanted);
    library = std::make_unique<LibraryConvolutions>(device_, model->mode(), items);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUnsupported) throw;
    rows.push_back({"all", "library", 0, 0, false, error.what()});
    return;
  }
  CudaQueue queue(device_);
  std::vector<LayerShape> seen;
  for (std::size_t i = 0; i < model->layers().size(); ++i) {
    const ConvLayer& layer = model->layers()[i];
    if (layer.shape.stem() || std::find(seen.begin(), seen.end(), layer.shape) != seen.end())
      continue;
    seen.push_back(layer.shape);
    const LibraryMaps maps(*model, static_cast<int>(i), items, queue);
    for (const LibraryCandidate& candidate : library->candidates(layer, items)) {
      AlgorithmRow row;
      row.shape = shape_text(layer.shape);
      row.kernel =
          "library " + algorithm_name(candidate.algorithm) + ", " + math_name(candidate.math);
      row.workspace_bytes = candidate.workspace_bytes;
      row.problem = candidate.problem;
      if (row.problem.empty()) {
        try {
          const auto plan =
              library->trial(layer, items, candidate.algorithm, maps.args, queue.stream());
          row.milliseconds =
              repeated(queue, measuring, [&] { library->run(*plan, maps.args, queue.stream()); });
        } catch (const Error& error) {
          if (error.code() != ErrorCode::kUnsupported) throw;
          row.problem = error.what();
        }
      }
      rows.push_back(std::move(row));
    }
  }
}

std::vector<FusionRow> CudaProfiler::fusion(const model::Graph& graph,
                                            const CompileOptions& options,
                                            const Measuring& measuring) const {
  const DeviceGuard guard(device_);
  ModelOptions wanted;
  wanted.choice.mode = mode_of(options.precision);
  wanted.choice.family = Family::kLibrary;
  wanted.choice.items = options.max_items;
  const EmbeddingModel model(device_, graph, wanted);
  const int items = options.max_items;
  LibraryConvolutions library(device_, model.mode(), items);
  CudaQueue queue(device_);
  std::vector<FusionRow> rows;
  std::vector<LayerShape> seen;
  for (std::size_t i = 0; i < model.layers().size(); ++i) {
    const ConvLayer& layer = model.layers()[i];
    const LayerShape& shape = layer.shape;
    if (shape.stem() || shape.stride_f != 1 ||
        std::find(seen.begin(), seen.end(), shape) != seen.end())
      continue;
    seen.push_back(shape);
    const LibraryMaps maps(model, static_cast<int>(i), items, queue);
    const LibraryArgs& args = maps.args;
    const LibraryPlan& plan = library.plan(layer, items, args, queue.stream());
    FusionRow row;
    row.shape = shape_text(shape);
    row.fused_ms = repeated(queue, measuring, [&] { library.run(plan, args, queue.stream()); });
    row.plain_ms = repeated(queue, measuring, [&] {
      library.run_plain(plan, args, queue.stream());
      check(launch_epilogue(maps.out, args.bias, args.residual, shape.cout, true, queue.stream()),
            "epilogue");
    });
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<std::string> CudaProfiler::tune(const model::Graph& graph,
                                            const CompileOptions& options,
                                            std::span<const int> batches,
                                            const Measuring& measuring) {
  const std::vector<ConvLayer> layers = conv_layers(graph);
  return session_->tune(
      layers, mode_of(options.precision), batches, options.kernel_only,
      [&](const Candidate& candidate) { return time(graph, layers, candidate, measuring); });
}

void CudaProfiler::write(const std::filesystem::path& file) const { session_->write(file); }

}  // namespace diarist::backend::cuda
