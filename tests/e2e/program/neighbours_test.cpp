// The program beside others: the instruction set and the threads that were asked for and no
// others, and as much processor time beside neighbours as alone.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "diarist/info.hpp"
#include "support/program.hpp"
#include "support/support.hpp"

namespace diarist::test {
namespace {

std::filesystem::path sample() { return sample_folder() / "sample.wav"; }

class Neighbours : public testing::Test {
 protected:
  void SetUp() override {
    DIARIST_NEED(models_folder() / "open");
    DIARIST_NEED(sample());
  }

  static std::vector<std::string> words(const std::vector<std::string>& more) {
    std::vector<std::string> all = {"run",  "--preset", "open-lite",
                                    "--to", "11",       sample().string()};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

std::string kernels_of(const ProgramResult& result) {
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << result.out;
  return json.is_discarded() ? "" : json.at("settings").at("kernels").get<std::string>();
}

TEST_F(Neighbours, EverySetOfThisMachineRunsWhenForced) {
  std::string turns;
  for (const std::string& set : build_info().cpu_targets_supported) {
    EXPECT_EQ(kernels_of(run_program(words({"--format", "json", "--cpu-target", set}))),
              set + " (Highway)");
    const ProgramResult forced = run_program(words({}), {{"DIARIST_CPU_TARGET", set}});
    EXPECT_EQ(forced.exit_code, 0) << forced.err;
    if (turns.empty()) turns = forced.out;
    EXPECT_EQ(forced.out, turns) << set;
    EXPECT_EQ(kernels_of(run_program(words({"--format", "json"}), {{"DIARIST_CPU_TARGET", set}})),
              set + " (Highway)");
  }
  // The option is said later than the environment.
  const std::vector<std::string> sets = build_info().cpu_targets_supported;
  EXPECT_EQ(kernels_of(run_program(words({"--format", "json", "--cpu-target", sets.back()}),
                                   {{"DIARIST_CPU_TARGET", sets.front()}})),
            sets.back() + " (Highway)");
}

TEST_F(Neighbours, SetsThatCanNotRunAreRefusedWithThoseThatCan) {
  const BuildInfo build = build_info();
  std::vector<std::string> refused = {"Z80", "avx2", "AVX2 "};
  for (const std::string& set : build.cpu_targets_compiled)
    if (std::ranges::find(build.cpu_targets_supported, set) == build.cpu_targets_supported.end())
      refused.push_back(set);
  for (const char* set : {"NEON", "SVE", "AVX2", "WASM"})
    if (std::ranges::find(build.cpu_targets_compiled, set) == build.cpu_targets_compiled.end())
      refused.emplace_back(set);
  for (const std::string& set : refused) {
    for (const bool option : {true, false}) {
      const ProgramResult result = option ? run_program(words({"--cpu-target", set}))
                                          : run_program(words({}), {{"DIARIST_CPU_TARGET", set}});
      EXPECT_NE(result.exit_code, 0) << set;
      EXPECT_TRUE(result.out.empty()) << set;
      for (const std::string& usable : build.cpu_targets_supported)
        EXPECT_NE(result.err.find(usable), std::string::npos) << set << ": " << result.err;
    }
  }
}

/// Most threads that a child of this process had at a time, seen from outside.
class ThreadWatch {
 public:
  ThreadWatch() : watcher_([this](const std::stop_token& stop) { watch(stop); }) {}
  int most() {
    watcher_.request_stop();
    watcher_.join();
    return most_;
  }

 private:
  void watch(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::vector<std::string> children;
      for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream list(task.path() / "children");
        for (std::string child; list >> child;) children.push_back(child);
      }
      for (const std::string& child : children) {
        std::error_code ignored;
        int count = 0;
        for (std::filesystem::directory_iterator at("/proc/" + child + "/task", ignored), end;
             !ignored && at != end; at.increment(ignored))
          ++count;
        most_ = std::max(most_, count);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  int most_ = 0;
  std::jthread watcher_;
};

TEST_F(Neighbours, ThereAreNoMoreThreadsThanAskedFor) {
  if (!std::filesystem::exists("/proc/self/task/" + std::to_string(getpid()) + "/children"))
    GTEST_SKIP() << "this kernel does not list children";
  for (const int threads : {1, 6, 16}) {
    ThreadWatch watch;
    const ProgramResult result = run_program(words({"--threads", std::to_string(threads)}));
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const int most = watch.most();
    // One more waits for signals; while the model loads, its two files and two networks have a
    // thread each.
    EXPECT_LE(most, threads + 4) << threads;
    EXPECT_GE(most, threads + 1) << threads;
  }
}

double seconds_of_children() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Threads that wait for each other awake take time that grows with the neighbours.
TEST_F(Neighbours, FourBesideEachOtherWorkNoMoreThanOneAfterTheOther) {
  constexpr int kProcesses = 4;
  const auto once = [] {
    return run_program({"run", "--preset", "open-lite", "--threads", "4", sample().string()});
  };
  double start = seconds_of_children();
  std::string expected;
  for (int i = 0; i < kProcesses; ++i) expected = once().out;
  const double alone = seconds_of_children() - start;
  start = seconds_of_children();
  std::vector<std::string> found(kProcesses);
  {
    std::vector<std::jthread> starters;
    for (std::string& out : found) starters.emplace_back([&out, &once] { out = once().out; });
  }
  const double together = seconds_of_children() - start;
  RecordProperty("alone", std::to_string(alone));
  RecordProperty("together", std::to_string(together));
  if (std::getenv("DIARIST_SHOW") != nullptr)
    std::cout << "processor time one after the other " << alone << " s, together " << together
              << " s\n";
  for (const std::string& out : found) EXPECT_EQ(out, expected);
  // Caches are shared, and two threads of one core slow each other down: both are far below twice.
  EXPECT_LT(together, 2 * alone + 0.5);
}

}  // namespace
}  // namespace diarist::test
