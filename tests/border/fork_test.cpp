// A child of fork() has no threads but one: what was made before gives a typed error, what is made
// there works, and nothing hangs.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>

#include "diarist/diarist.h"
#include "diarist/diarizer.hpp"
#include "diarist/formats.hpp"
#include "support/border.hpp"

namespace diarist::test {
namespace {

// Exit code of a child that runs `body`; killed after a minute.
int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    int code = 99;
    try {
      code = body();
    } catch (...) {
      code = 98;
    }
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(Fork, WhatHasThreadsIsUnsupportedInTheChild) {
  DIARIST_NEED(sample_wav());
  DIARIST_NEED(open_bundle());
  auto diarizer = std::make_unique<Diarizer>(small_options(2));
  const std::string wanted = to_rttm(diarizer->run(sample_wav(), short_run()));
  EXPECT_EQ(in_child([&] {
              try {
                (void)diarizer->run(sample_wav(), short_run());
                return 1;
              } catch (const Error& error) {
                if (error.code() != ErrorCode::kUnsupported) return 2;
                if (std::string(error.what()).find("fork()") == std::string::npos) return 3;
              }
              diarizer.reset();  // does not wait for threads that are elsewhere
              // One of its own works.
              const Diarizer own(small_options(2));
              return to_rttm(own.run(sample_wav(), short_run())) == wanted ? 0 : 4;
            }),
            0);
  EXPECT_EQ(to_rttm(diarizer->run(sample_wav(), short_run())), wanted);  // the parent's lives on
}

TEST(Fork, WithOneThreadThereIsNothingToMiss) {
  DIARIST_NEED(sample_wav());
  DIARIST_NEED(open_bundle());
  const Diarizer diarizer(small_options(1));
  const std::string wanted = to_rttm(diarizer.run(sample_wav(), short_run()));
  EXPECT_EQ(
      in_child([&] { return to_rttm(diarizer.run(sample_wav(), short_run())) == wanted ? 0 : 1; }),
      0);
}

TEST(Fork, HandlesOfCInTheChild) {
  DIARIST_NEED(sample_wav());
  DIARIST_NEED(open_bundle());
  const std::string models = models_folder().string(), file = sample_wav().string();
  diarist_options options;
  ASSERT_EQ(diarist_options_init(&options, sizeof options), DIARIST_OK);
  options.preset = "open-lite";
  options.models = models.c_str();
  options.threads = 2;
  diarist_diarizer* diarizer = nullptr;
  ASSERT_EQ(diarist_diarizer_create(&options, &diarizer), DIARIST_OK) << diarist_last_error();
  EXPECT_EQ(in_child([&] {
              diarist_result* result = nullptr;
              if (diarist_diarizer_run_file(diarizer, file.c_str(), nullptr, &result) !=
                  DIARIST_UNSUPPORTED)
                return 1;
              return diarist_diarizer_destroy(diarizer) == DIARIST_OK ? 0 : 2;
            }),
            0);
  EXPECT_EQ(diarist_diarizer_destroy(diarizer), DIARIST_OK);
}

}  // namespace
}  // namespace diarist::test
