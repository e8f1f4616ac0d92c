// Blocks and networks of the CPU backend on one thread, per instruction set. Counters: GFLOP/s, and
// "peak", the share of the multiply-adds that one core was measured to be able to do.

#include <benchmark/benchmark.h>

#include <iostream>
#include <string>

#include "backend/cpu/cpu_backend.hpp"
#include "fma_peak.hpp"
#include "jobs.hpp"

namespace diarist::bench {
namespace {

void measure(benchmark::State& state, const Named& named, const std::string& target) {
  Job job(target, named.graph(), named.items, named.length);
  for (auto _ : state) job.run();
  const double flop = named.gigaflop * 1e9 * named.items;
  const auto rate = [](double value) {
    return benchmark::Counter(value, benchmark::Counter::kIsIterationInvariantRate);
  };
  state.counters["ms_per_item"] =
      benchmark::Counter(named.items * 1e-3, benchmark::Counter::kIsIterationInvariantRate |
                                                 benchmark::Counter::kInvert);
  if (flop == 0) return;
  state.counters["GFLOP/s"] = rate(flop * 1e-9);
  state.counters["peak"] = rate(flop * 1e-9 / fma_peak(backend::cpu::choose_target(target)));
}

}  // namespace
}  // namespace diarist::bench

int main(int argc, char** argv) {
  using namespace diarist;
  benchmark::Initialize(&argc, argv);
  for (const std::string& target : backend::cpu::cpu_targets_supported()) {
    std::cerr << "multiply-adds of " << target << ": "
              << bench::fma_peak(backend::cpu::choose_target(target)) << " GFLOP/s per core\n";
    for (const bench::Named& named : bench::jobs()) {
      benchmark::RegisterBenchmark(
          (named.name + "/" + target).c_str(),
          [named, target](benchmark::State& state) { bench::measure(state, named, target); })
          ->Unit(benchmark::kMillisecond);
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
