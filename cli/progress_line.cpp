#include "progress_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>

#include "json_progress.hpp"
#include "manners.hpp"
#include "output_files.hpp"
#include "progress_text.hpp"
#include "terminal.hpp"
#include "work_done.hpp"

namespace diarist::cli {
namespace {

constexpr std::chrono::milliseconds kDrawEvery(100);
constexpr std::chrono::milliseconds kEmitEvery(250);
constexpr double kRateFrom = 0.5;   // seconds: earlier figures jump about
constexpr double kLeftFrom = 0.02;  // fraction

// The length of a recording is known only once it was read; its bytes are known before.
std::vector<double> shares(const std::vector<std::string>& recordings) {
  std::vector<double> sizes;
  double known = 0;
  std::size_t count = 0;
  for (const std::string& recording : recordings) {
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::is_regular_file(recording, error)
                                     ? std::filesystem::file_size(recording, error)
                                     : 0;
    sizes.push_back(error ? 0 : static_cast<double>(bytes));
    if (sizes.back() <= 0) continue;
    known += sizes.back();
    ++count;
  }
  const double mean = count > 0 ? known / static_cast<double>(count) : 1;
  for (double& size : sizes)
    if (size <= 0) size = mean;
  const double sum = std::accumulate(sizes.begin(), sizes.end(), 0.0);
  for (double& size : sizes) size /= sum;
  return sizes;
}

}  // namespace

ProgressLine::ProgressLine(std::vector<std::string> recordings)
    : names_(std::move(recordings)),
      weights_(shares(names_)),
      current_(names_.size() == 1 ? 0 : names_.size()),
      drawn_(!manners().quiet && !manners().json_progress && is_terminal(STDERR_FILENO)),
      events_(manners().json_progress),
      start_(Clock::now()) {
  if (events_) emit_event("start", {{"version", 1}, {"recordings", names_.size()}});
}

void ProgressLine::start(std::size_t index) {
  current_ = index;
  last_stage_.clear();
}

ProgressLine::Figures ProgressLine::figures(const Progress& progress) const {
  Figures now;
  now.elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  now.fraction = -1;
  if (current_ < names_.size()) {
    now.audio = closed_audio_ + progress.done_seconds;
    if (progress.total_seconds > 0)
      now.fraction =
          closed_weight_ +
          weights_[current_] * std::min(1.0, progress.done_seconds / progress.total_seconds);
  } else {
    now.audio = progress.done_seconds;
    // Recordings done so far tell how many seconds a byte holds.
    if (closed_audio_ > 0) now.fraction = now.audio * closed_weight_ / closed_audio_;
  }
  now.fraction = std::min(now.fraction, 1.0);
  if (now.elapsed > kRateFrom) now.rate = now.audio / now.elapsed;
  if (now.elapsed > kRateFrom && now.fraction > kLeftFrom)
    now.left = now.elapsed * (1 - now.fraction) / now.fraction;
  return now;
}

void ProgressLine::show(const Progress& progress) {
  if (!drawn_ && !events_) return;
  const Clock::time_point now = Clock::now();
  const bool other_stage = progress.stage != last_stage_;
  if (now < next_ && !(events_ && other_stage)) return;
  last_stage_ = progress.stage;
  next_ = now + (events_ ? kEmitEvery : kDrawEvery);
  if (events_)
    emit(progress, figures(progress));
  else
    draw(progress, figures(progress));
}

void ProgressLine::draw(const Progress& progress, const Figures& now) {
  std::string what;
  if (names_.size() > 1) what = fmt::format("{} of {} done", closed_, names_.size());
  if (current_ < names_.size()) {
    what += what.empty() ? "" : ", ";
    what += one_line(std::filesystem::path(names_[current_]).filename().string());
  }
  what += fmt::format(": {}", progress.stage);
  if (now.fraction < 0) what += fmt::format(", {} of audio", clock_text(now.audio));
  draw_progress(progress_text(what, now.fraction, now.rate, now.left, columns_of(STDERR_FILENO)));
}

void ProgressLine::emit(const Progress& progress, const Figures& now) const {
  nlohmann::ordered_json fields;
  if (current_ < names_.size()) {
    fields["index"] = current_;
    fields["recording"] = names_[current_];
  }
  fields["stage"] = progress.stage;
  fields["done_seconds"] = progress.done_seconds;
  if (progress.total_seconds > 0) fields["total_seconds"] = progress.total_seconds;
  fields["audio_seconds"] = now.audio;
  fields["elapsed"] = now.elapsed;
  if (now.fraction >= 0) fields["fraction"] = now.fraction;
  if (now.rate > 0) fields["rate"] = now.rate;
  if (now.left >= 0) fields["seconds_left"] = now.left;
  emit_event("progress", fields);
}

void ProgressLine::close(std::size_t index, double audio_seconds) {
  ++closed_;
  closed_weight_ += weights_[index];
  closed_audio_ += audio_seconds;
  next_ = {};
}

void ProgressLine::finish(std::size_t index, double audio_seconds) {
  close(index, audio_seconds);
  note_finished();
  if (events_)
    emit_event("finished", {{"index", index},
                            {"recording", names_[index]},
                            {"audio_seconds", audio_seconds},
                            {"done", closed_},
                            {"recordings", names_.size()}});
}

void ProgressLine::fail(std::size_t index) {
  close(index, 0);
  note_failed();
  if (events_)
    emit_event("failed", {{"index", index},
                          {"recording", names_[index]},
                          {"done", closed_},
                          {"recordings", names_.size()}});
}

void ProgressLine::clear() { clear_progress(); }

}  // namespace diarist::cli
