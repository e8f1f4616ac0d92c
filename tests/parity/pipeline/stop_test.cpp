// A stop is obeyed within a tenth of a second at any moment of a run, and leaves a Diarizer that
// works as before.

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "diarist/diarizer.hpp"
#include "diarist/error.hpp"
#include "recordings.hpp"
#include "support/standin_bundle.hpp"

namespace diarist {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Of all threads of this process: other processes don't slow it down.
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Stopped {
  double wall = 0;       // from the request to the return, seconds
  double processor = 0;  // what all threads worked meanwhile
};

bool measures() { return std::getenv("DIARIST_STOPS") != nullptr; }

/// A part of the sample with two speakers; all of it for figures.
RunOptions stretch() {
  return measures() ? RunOptions{} : RunOptions{.audio = {.from = 5, .to = 17}};
}

/// Runs and asks for a stop after some seconds. None when the run was over before.
std::optional<Stopped> stop_after(const Diarizer& diarizer, double seconds) {
  std::stop_source source;
  Clock::time_point asked;
  double worked = 0;
  std::jthread asker([&](const std::stop_token& over) {
    const auto until = Clock::now() + std::chrono::duration<double>(seconds);
    while (Clock::now() < until && !over.stop_requested())
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    worked = processor_seconds();
    asked = Clock::now();
    source.request_stop();
  });
  RunControl control;
  control.stop = source.get_token();
  try {
    diarizer.run(test::recording("sample"), stretch(), control);
    return std::nullopt;
  } catch (const Error& error) {
    const double wall_end = processor_seconds();
    const Clock::time_point end = Clock::now();
    asker.join();
    EXPECT_EQ(error.code(), ErrorCode::kCancelled) << error.what();
    return Stopped{std::chrono::duration<double>(end - asked).count(), wall_end - worked};
  }
}

DiarizerOptions options_of(const std::string& preset) {
  const bool standin = preset == "community-1";
  return {.preset = preset,
          .models = standin ? test::standin_models() : test::models_folder(),
          .threads = 2,
          .allow_unknown_weights = standin};
}

class Stop : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    DIARIST_NEED(test::models_folder() / "open");
    DIARIST_NEED(test::recording("sample"));
    if (GetParam() == "community-1") {
      DIARIST_NEED(test::standin_weights());
      DIARIST_NEED(test::data("plda"));
    }
  }
};

// DIARIST_STOPS=50 measures: docs/performance.md. The bound of the test is loose: it counts the
// processor time of both threads, and what a stop waits for runs that much longer on a machine that
// others use, or under a sanitizer.
TEST_P(Stop, AtAnyMomentIsObeyedSoon) {
  const int stops = measures() ? std::max(1, std::atoi(std::getenv("DIARIST_STOPS"))) : 8;
  const Diarizer diarizer(options_of(GetParam()));
  const Clock::time_point start = Clock::now();
  const std::string whole = to_rttm(diarizer.run(test::recording("sample"), stretch()));
  const double seconds = seconds_since(start);
  std::vector<double> wall, processor;
  for (int i = 0; i < stops; ++i) {
    const auto stopped = stop_after(diarizer, seconds * (i + 0.5) / stops);
    if (!stopped) continue;
    wall.push_back(stopped->wall);
    processor.push_back(stopped->processor);
  }
  ASSERT_GE(2 * wall.size(), static_cast<std::size_t>(stops)) << "most runs ended before the stop";
  std::ranges::sort(wall);
  std::ranges::sort(processor);
  const double median = processor[processor.size() / 2];
  if (measures())
    std::cout << GetParam() << ": " << wall.size() << " stops of " << seconds << " s, wall median "
              << wall[wall.size() / 2] << " worst " << wall.back() << ", processor median "
              << median << " worst " << processor.back() << "\n";
  EXPECT_LT(median, 0.3);
  EXPECT_LT(processor.back(), 2.0);
  EXPECT_EQ(to_rttm(diarizer.run(test::recording("sample"), stretch())), whole)
      << "after the stops";
}

TEST_P(Stop, BeforeTheRunAndInEveryReportOfProgress) {
  const Diarizer diarizer(options_of(GetParam()));
  std::vector<std::string> stages;
  RunControl control;
  control.progress = [&](const Progress& progress) {
    if (stages.empty() || stages.back() != progress.stage) stages.emplace_back(progress.stage);
  };
  const std::string whole = to_rttm(diarizer.run(test::recording("sample"), stretch(), control));
  ASSERT_GE(stages.size(), 2U);
  for (const std::string& stage : stages) {
    std::stop_source source;
    control.stop = source.get_token();
    control.progress = [&](const Progress& progress) {
      if (progress.stage == stage) source.request_stop();
    };
    try {
      diarizer.run(test::recording("sample"), stretch(), control);
      ADD_FAILURE() << "not stopped in " << stage;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCancelled) << stage << ": " << error.what();
    }
  }
  control.progress = {};
  try {  // the token is stopped already
    diarizer.run(test::recording("sample"), stretch(), control);
    ADD_FAILURE() << "not stopped before the run";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled) << error.what();
  }
  control.stop = {};
  EXPECT_EQ(to_rttm(diarizer.run(test::recording("sample"), stretch(), control)), whole);
}

INSTANTIATE_TEST_SUITE_P(Presets, Stop, testing::Values("open", "open-lite", "community-1"),
                         [](const auto& each) {
                           return each.param == "open"        ? "open"
                                  : each.param == "open-lite" ? "lite"
                                                              : "community";
                         });

}  // namespace
}  // namespace diarist
