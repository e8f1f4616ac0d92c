// Many threads on one object: every one gets what it would have got alone.

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "diarist/diarizer.hpp"
#include "diarist/formats.hpp"
#include "support/border.hpp"

namespace diarist::test {
namespace {

TEST(Threads, RunsOfOneDiarizerDontDisturbEachOther) {
  DIARIST_NEED(sample_wav());
  DIARIST_NEED(open_bundle());
  const Diarizer diarizer(small_options());
  std::vector<RunOptions> options(4, short_run());
  options[1].audio.from = 8;
  options[2].step_seconds = 2;
  options[3].speakers.num = 1;
  std::vector<std::string> wanted(options.size()), got(options.size());
  for (std::size_t i = 0; i < options.size(); ++i)
    wanted[i] = to_rttm(diarizer.run(sample_wav(), options[i]));
  EXPECT_NE(wanted[0], wanted[3]);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < options.size(); ++i)
      threads.emplace_back([&, i] { got[i] = to_rttm(diarizer.run(sample_wav(), options[i])); });
  }
  EXPECT_EQ(got, wanted);
}

// One that is stopped leaves its neighbours alone.
TEST(Threads, AStopIsForOneRunOnly) {
  DIARIST_NEED(sample_wav());
  DIARIST_NEED(open_bundle());
  const Diarizer diarizer(small_options());
  const std::string wanted = to_rttm(diarizer.run(sample_wav(), short_run()));
  std::string got;
  ErrorCode code{0};
  {
    const std::jthread other([&] { got = to_rttm(diarizer.run(sample_wav(), short_run())); });
    std::stop_source stop;
    RunControl control{.stop = stop.get_token(),
                       .progress = [&](const Progress&) { stop.request_stop(); }};
    code = code_of([&] { (void)diarizer.run(sample_wav(), short_run(), control); });
  }
  EXPECT_EQ(code, ErrorCode::kCancelled);
  EXPECT_EQ(got, wanted);
}

}  // namespace
}  // namespace diarist::test
