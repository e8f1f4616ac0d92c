// Whatever the number of threads and whoever else runs: the same bytes on every instruction set,
// the same turns on all of them, and no work beyond the work.

#include <time.h>

#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "diarist/audio.hpp"
#include "diarist/diarizer.hpp"
#include "diarist/info.hpp"
#include "recordings.hpp"

namespace diarist {
namespace {

std::string everything(const Diarization& result) {
  std::string text = to_rttm(result) + to_rttm(result, true);
  const auto add = [&](const auto& values) {
    text.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0]));
  };
  add(result.stages->activity);
  add(result.stages->embeddings);
  add(result.stages->hard_clusters);
  add(result.stages->counts);
  return text;
}

DiarizerOptions options_of(const std::string& preset, int threads, const std::string& target) {
  return {.preset = preset, .models = test::models_folder(), .threads = threads, .target = target};
}

// Both speakers of the sample and a change between them; three windows.
const RunOptions kStretch{.keep_stages = true, .audio = {.from = 6, .to = 18}};

class Sets : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    DIARIST_NEED(test::models_folder() / "open");
    DIARIST_NEED(test::recording("sample"));
  }
};

TEST_P(Sets, AnyNumberOfThreadsGivesTheBytesAndAnySetTheTurns) {
  std::map<std::string, std::string> turns;
  const std::vector<std::string> sets = build_info().cpu_targets_supported;
  for (const std::string& target : sets) {
    std::string one;
    std::vector<int> numbers = {1, 2, 3, 5, 16};
    if (target != sets.front() && target != "AVX2") numbers = {1, 5};  // slow sets, the same split
    for (const int threads : numbers) {
      const Diarizer diarizer(options_of(GetParam(), threads, target));
      const Diarization result = diarizer.run(test::recording("sample"), kStretch);
      ASSERT_EQ(result.settings.kernels, target + " (Highway)") << "another set was run";
      ASSERT_EQ(result.settings.threads, threads);
      ASSERT_FALSE(result.turns.empty());
      if (threads == 1) {
        one = everything(result);
        turns[target] = to_rttm(result);
      }
      EXPECT_EQ(everything(result), one) << target << " with " << threads << " threads";
    }
  }
  for (const auto& [target, rttm] : turns)
    EXPECT_EQ(rttm, turns.begin()->second) << target << " and " << turns.begin()->first;
}

INSTANTIATE_TEST_SUITE_P(Presets, Sets, testing::Values("open", "open-lite"),
                         [](const auto& test) { return test.param == "open" ? "open" : "lite"; });

TEST(SideBySide, CallersAndDiarizersDoNotDisturbEachOther) {
  DIARIST_NEED(test::models_folder() / "open");
  DIARIST_NEED(test::recording("sample"));
  const Diarizer lite(options_of("open-lite", 2, "")), other(options_of("open-lite", 3, ""));
  const std::string alone = everything(lite.run(test::recording("sample"), kStretch));
  std::vector<std::string> found(4);
  {
    std::vector<std::jthread> callers;
    for (std::size_t i = 0; i < found.size(); ++i)
      callers.emplace_back([&, i] {
        found[i] = everything((i % 2 == 0 ? lite : other).run(test::recording("sample"), kStretch));
      });
  }
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], alone) << "caller " << i;
}

TEST(SideBySide, ADiarizerAtRestSleeps) {
  DIARIST_NEED(test::models_folder() / "open");
  DIARIST_NEED(test::recording("sample"));
  const Diarizer diarizer(options_of("open-lite", 8, ""));
  diarizer.run(test::recording("sample"), kStretch);
  const auto seconds = [] {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  };
  const double before = seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_LT(seconds() - before, 0.05);  // eight threads that waited awake would take 0.5 and more
}

}  // namespace
}  // namespace diarist
