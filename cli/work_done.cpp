#include "work_done.hpp"

#include <fmt/format.h>

#include <utility>

namespace diarist::cli {
namespace {

struct Work {
  std::mutex mutex;
  std::size_t expected = 0, finished = 0, failed = 0;
  std::string place;
};

// Never destroyed: the thread that waits for signals may ask to the very end.
Work& work() {
  static Work* const kShared = new Work;
  return *kShared;
}

}  // namespace

void expect_work(std::size_t recordings, std::string place) {
  const std::lock_guard lock(work().mutex);
  work().expected = recordings;
  work().place = std::move(place);
}

void note_finished() {
  const std::lock_guard lock(work().mutex);
  ++work().finished;
}

void note_failed() {
  const std::lock_guard lock(work().mutex);
  ++work().failed;
}

std::string work_text() {
  const std::lock_guard lock(work().mutex);
  const Work& w = work();
  if (w.expected == 0) return {};
  std::string text = fmt::format("{} of {} recording{} finished", w.finished, w.expected,
                                 w.expected == 1 ? "" : "s");
  if (w.failed > 0) text += fmt::format(", {} failed", w.failed);
  if (w.finished > 0 && !w.place.empty()) text += ", results " + w.place;
  return text;
}

std::timed_mutex& output_mutex() {
  static std::timed_mutex* const kShared = new std::timed_mutex;
  return *kShared;
}

}  // namespace diarist::cli
