// Share of the multiply-add peak that blocks reach, for a machine that others use as well: bursts
// of multiply-adds and runs of a block take turns in one process, both by processor time, so that a
// slow moment slows both. usage: cpu_ratios [TARGET|all] [PART OF A NAME] [ROUNDS] [fast]
// With "fast", runs of `--precision fast` and of `exact` take turns instead, and the ratio of their
// times is printed.

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "backend/cpu/cpu_backend.hpp"
#include "fma_peak.hpp"
#include "jobs.hpp"

namespace diarist::bench {
namespace {

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// GFLOP/s of about 2 ms of multiply-adds.
double burst(std::int64_t target) {
  float sink = 0.5F;
  const double start = thread_seconds();
  const std::int64_t flop = run_fma_chains(target, 200000, &sink);
  return static_cast<double>(flop) / (thread_seconds() - start) * 1e-9;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void measure(const Named& named, const std::string& target, int rounds) {
  Job job(target, named.graph(), named.items, named.length);
  const std::int64_t bit = backend::cpu::choose_kernels(target).target;
  job.run();
  std::vector<double> milliseconds, peaks, shares;
  for (int round = 0; round < rounds; ++round) {
    const double before = burst(bit);
    const double start = thread_seconds();
    int runs = 0;
    do {
      job.run();
      ++runs;
    } while (thread_seconds() - start < 0.02);
    const double seconds = (thread_seconds() - start) / runs;
    const double peak = std::max(before, burst(bit));
    milliseconds.push_back(1e3 * seconds / named.items);
    peaks.push_back(peak);
    shares.push_back(named.gigaflop * named.items / seconds / peak);
  }
  fmt::print(
      "{:<10} {:<26} ms/item best {:8.3f} median {:8.3f}  peak {:6.1f}  share median {:.3f} best "
      "{:.3f}\n",
      target, named.name, *std::ranges::min_element(milliseconds), median(milliseconds),
      median(peaks), median(shares), *std::ranges::max_element(shares));
  std::fflush(stdout);
}

/// Milliseconds per item of at least 20 ms of runs.
double milliseconds_of(Job& job, int items) {
  const double start = thread_seconds();
  int runs = 0;
  do {
    job.run();
    ++runs;
  } while (thread_seconds() - start < 0.02);
  return 1e3 * (thread_seconds() - start) / runs / items;
}

void compare(const Named& named, const std::string& target, int rounds) {
  const model::Graph graph = named.graph();
  Job exact(target, graph, named.items, named.length);
  Job fast(target, graph, named.items, named.length, Precision::kFast);
  exact.run();
  fast.run();
  std::vector<double> of_exact, of_fast, ratios;
  for (int round = 0; round < rounds; ++round) {
    of_exact.push_back(milliseconds_of(exact, named.items));
    of_fast.push_back(milliseconds_of(fast, named.items));
    ratios.push_back(of_exact.back() / of_fast.back());
  }
  fmt::print(
      "{:<16} {:<26} ms/item exact {:8.3f} fast {:8.3f}  exact / fast median {:.2f}, {:.2f} to "
      "{:.2f}\n",
      target, named.name, median(of_exact), median(of_fast), median(ratios),
      *std::ranges::min_element(ratios), *std::ranges::max_element(ratios));
  std::fflush(stdout);
}

}  // namespace
}  // namespace diarist::bench

int main(int argc, char** argv) {
  using namespace diarist;
  const std::vector<std::string> supported = backend::cpu::cpu_targets_supported();
  const std::string target = argc > 1 ? argv[1] : supported.front();
  const std::string part = argc > 2 ? argv[2] : "";
  const int rounds = argc > 3 ? std::max(1, std::atoi(argv[3])) : 9;
  const bool fast = argc > 4 && std::string(argv[4]) == "fast";
  std::vector<std::string> targets{target};
  if (target == "all") targets = supported;
  for (const std::string& each : targets) {
    for (const bench::Named& named : bench::jobs()) {
      if (named.name.find(part) == std::string::npos) continue;
      (fast ? bench::compare : bench::measure)(named, each, rounds);
    }
  }
  return 0;
}
