// Every stage of a run by itself, on one thread and the best instruction set. Counters: how much
// real time a core gets through, and items (windows, vectors, turns, samples) per second.

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "jobs.hpp"
#include "stages.hpp"

namespace diarist::bench {
namespace {

constexpr int kHour = 3600;  // windows, one second apart

struct Stage {
  std::string name;
  std::function<Call()> prepare;
  double audio_seconds;  // that one call stands for
  std::int64_t items;    // of one call
};

/// One of the networks of jobs(). A window stands for one second, the default step.
Stage network(const std::string& stage, const std::string& job, double audio_seconds, int items) {
  return {stage + "/" + job,
          [job]() -> Call {
            for (const Named& named : jobs())
              if (named.name == job)
                return [run = std::make_shared<Job>("", named.graph(), named.items, named.length)] {
                  run->run();
                };
            base::fail(ErrorCode::kInternal, "there is no job {}", job);
          },
          audio_seconds, items};
}

/// An hour of four people; made once, since that takes longer than most stages.
const Talk& hour(int dim) {
  static const Talk kSmall = std::make_shared<const Conversation>(conversation(kHour, 4, 192));
  static const Talk kLarge = std::make_shared<const Conversation>(conversation(kHour, 4, 256));
  return dim == 192 ? kSmall : kLarge;
}

std::int64_t vectors(int dim) {
  return static_cast<std::int64_t>(rows_of(*hour(dim)).speaker.size());
}

std::vector<Stage> stages() {
  using cluster::Method;
  const auto clustering = [](const char* name, int dim, Method method) {
    return Stage{std::string("clustering/") + name,
                 [dim, method] { return find_speakers(hour(dim), method); }, kHour, vectors(dim)};
  };
  return {
      {"decode/wav_48k_stereo", [] { return read_wav(60, 2, 48000); }, 60, 60 * 48000},
      {"resample/44100_soxr", [] { return resample(60, 44100, false); }, 60, 60 * 44100},
      {"resample/44100_reference", [] { return resample(60, 44100, true); }, 60, 60 * 44100},
      network("features", "log_mel_10s", 10, 998),
      network("features", "sinc_10s", 10, 15975),
      network("segmentation", "segmentation_12_windows", 12, 12),
      network("segmentation", "segmentation_1_window", 1, 1),
      network("embedding", "resnet34", 1, 1),
      network("embedding", "campplus_998", 1, 1),
      {"activity/one_hour", [] { return find_activity(hour(192)); }, kHour, kHour},
      {"linkage/one_hour", [] { return link(hour(192)); }, kHour, vectors(192)},
      {"vbx/one_hour_20_iterations", [] { return run_vbx(hour(192), 128, 20); }, kHour,
       vectors(192)},
      clustering("open", 192, Method::kVbxIsotropic),
      clustering("community-1", 256, Method::kVbxPlda),
      clustering("pyannote-3.1", 256, Method::kAgglomerative),
      {"reconstruction/one_hour", [] { return make_turns(hour(192)); }, kHour, kHour},
      {"formats/one_hour", [] { return write_formats(hour(192)); }, kHour, 1},
  };
}

void measure(benchmark::State& state, const Stage& stage) {
  const Call call = stage.prepare();
  for (auto _ : state) call();
  state.SetItemsProcessed(state.iterations() * stage.items);
  state.counters["x_real_time"] =
      benchmark::Counter(stage.audio_seconds, benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace
}  // namespace diarist::bench

int main(int argc, char** argv) {
  using namespace diarist;
  benchmark::Initialize(&argc, argv);
  for (const bench::Stage& stage : bench::stages()) {
    benchmark::RegisterBenchmark(stage.name.c_str(), [stage](benchmark::State& state) {
      bench::measure(state, stage);
    })->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
