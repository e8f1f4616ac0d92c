#include "backend/cuda/cuda_profiler.hpp"

#include <algorithm>
#include <chrono>

#include "backend/cuda/check.hpp"
#include "backend/cuda/choice/profile.hpp"
#include "backend/cuda/device_facts.hpp"
#include "backend/cuda/embedding_pass.hpp"
#include "backend/cuda/embedding_program.hpp"
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
}

DeviceState CudaProfiler::state() const {
  return meter_ != nullptr ? meter_->state() : DeviceState{};
}

TuneIdentity CudaProfiler::identity() const {
  return {facts_.name, facts_.architecture, facts_.multiprocessors,
          meter_ != nullptr ? meter_->driver_version() : "", kernel_set_hash()};
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
    EmbeddingPass pass(model, candidate.items, store, buffers);
    const std::vector<float> numbers = plausible_features(998 * 80);
    const DeviceMemory features = to_device<float>(device_, numbers, "features");
    pass.prepare(features.as<float>(), 0, candidate.items, queue.stream());
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
    Events events(2);
    int runs = 3;
    for (;;) {  // longer until the time is worth reading
      events.record(0, queue.stream());
      for (int i = 0; i < runs; ++i) check(launch->run(queue.stream()), name.c_str());
      events.record(1, queue.stream());
      queue.wait();
      const double milliseconds = events.milliseconds(0, 1);
      result.milliseconds = milliseconds / runs;
      if (milliseconds >= 1000 * measuring.seconds || runs > 100000) break;
      const double factor = 1000 * measuring.seconds / std::max(milliseconds, 0.01);
      runs = std::max(2 * runs, static_cast<int>(runs * std::min(factor * 1.1, 1000.0)));
    }
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
  return time_candidates(facts_, layers, choice, [&](const Candidate& candidate) {
    return time(graph, layers, candidate, measuring);
  });
}

std::vector<std::string> CudaProfiler::tune(const model::Graph& graph,
                                            const CompileOptions& options,
                                            std::span<const int> batches,
                                            const Measuring& measuring) {
  const std::vector<ConvLayer> layers = conv_layers(graph);
  const std::vector<TuneEntry> entries = tune_trunk(
      facts_, layers, mode_of(options.precision), batches, options.kernel_only,
      [&](const Candidate& candidate) { return time(graph, layers, candidate, measuring); });
  std::vector<std::string> lines;
  for (const TuneEntry& entry : entries) {
    lines.push_back(entry_text(entry));
    tuned_.push_back(entry);
  }
  return lines;
}

void CudaProfiler::write(const std::filesystem::path& file) const {
  write_tune_file({identity(), tuned_}, file);
}

}  // namespace diarist::backend::cuda
