// Progress, messages, and a run that is stopped when it takes too long.

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <thread>

#include "diarist/diarizer.hpp"

int main(int argc, char** argv) try {
  if (argc != 3) return std::fprintf(stderr, "usage: progress RECORDING MOST_SECONDS\n"), 2;
  const std::chrono::duration<double> limit(std::atof(argv[2]));

  std::stop_source stop;
  diarist::RunControl control;
  control.stop = stop.get_token();
  control.progress = [](const diarist::Progress& now) {
    std::printf("%.*s: %.0f of %.0f s\n", static_cast<int>(now.stage.size()), now.stage.data(),
                now.done_seconds, now.total_seconds);
  };
  control.log = [](diarist::LogLevel, std::string_view line) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
  };

  const diarist::Diarizer diarizer({.preset = "open"});
  // Any thread may ask to stop; here it is a clock.
  const std::jthread clock([&](const std::stop_token& done) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    if (!std::condition_variable_any().wait_for(lock, done, limit, [&] { return false; }) &&
        !done.stop_requested())
      stop.request_stop();
  });
  const diarist::Diarization result = diarizer.run(argv[1], {}, control);
  std::printf("%zu turns\n", result.turns.size());
} catch (const diarist::Error& error) {
  if (error.code() == diarist::ErrorCode::kCancelled) return std::puts("stopped"), 3;
  std::fprintf(stderr, "progress: %s\n", error.what());
  return 1;
}
