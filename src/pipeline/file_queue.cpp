#include "pipeline/file_queue.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/run_control.hpp"

namespace diarist::pipeline {
namespace {

enum class State { kWaiting, kDecoding, kTaken, kClustering, kFinished };

struct Entry : Recording {
  std::size_t index = 0;
  State state = State::kWaiting;
  std::size_t session = 0;
  std::shared_ptr<audio::Source> source;
  std::shared_ptr<BlockFeed> blocks;
  std::optional<Diarization> outcome;
  double seconds_done = 0;
};

// Everything that the threads share; they die before it.
class Queue {
 public:
  Queue(std::span<Session* const> sessions, const QueueWork& work, const QueueThreads& threads)
      : sessions_(sessions),
        work_(work),
        ahead_(static_cast<std::size_t>(threads.decoders + threads.finishers) +
               4 * sessions.size()),
        alive_(sessions.size()),
        entries_(work.count) {
    for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i].index = i;
  }

  void decode();
  void run_session(std::size_t number);
  void finish();
  /// \return false when the sink wanted no more.
  bool deliver();
  /// Ends all threads soon; recordings under way are dropped.
  void stop() {
    stop_.request_stop();
    const std::lock_guard lock(mutex_);
    for (Entry& entry : entries_)
      if (entry.blocks) entry.blocks->abandon();
    changed_.notify_all();
  }

 private:
  Recording* next(std::size_t number, bool wait);
  void close(Entry& entry);  // the lock is held
  void fail_session(std::size_t number, const std::exception_ptr& error);
  void note_progress(Entry& entry, double seconds);
  bool stopped() const { return stop_.stop_requested(); }

  std::span<Session* const> sessions_;
  const QueueWork& work_;
  std::size_t ahead_;  // recordings that may be open before the oldest is delivered
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t alive_;  // sessions
  std::deque<Entry> entries_;
  std::size_t next_open_ = 0, next_take_ = 0, delivered_ = 0;
  std::deque<Entry*> to_finish_;
  std::size_t finished_ = 0;
  std::mutex progress_mutex_;
  double seconds_done_ = 0;
};

void Queue::decode() {
  for (;;) {
    Entry* entry = nullptr;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] {
        return stopped() || alive_ == 0 || next_open_ == entries_.size() ||
               next_open_ < delivered_ + ahead_;
      });
      if (stopped() || alive_ == 0 || next_open_ == entries_.size()) return;
      entry = &entries_[next_open_++];
    }
    // Shared, because a recording may be finished before its decoder has left it.
    std::shared_ptr<audio::Source> source;
    std::shared_ptr<BlockFeed> feed;
    std::exception_ptr error;
    try {
      source = work_.open(entry->index);
      feed = std::make_shared<BlockFeed>(*source, true);
      if (work_.keep_waveform) feed->keep_waveform();
      feed->expect_decoder();
    } catch (...) {
      error = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex_);
      if (entry->state == State::kFinished) continue;  // all sessions failed meanwhile
      entry->source = source;
      entry->blocks = feed;
      entry->feed = feed.get();
      entry->error = error;
      entry->silence_bad_windows = work_.silence_bad_windows;
      entry->progress = [this, entry](double done, double) { note_progress(*entry, done); };
      entry->state = State::kDecoding;
      if (error) close(*entry);
      changed_.notify_all();
    }
    if (feed) feed->decode_ahead(stop_.get_token());
  }
}

Recording* Queue::next(std::size_t number, bool wait) {
  std::unique_lock lock(mutex_);
  for (;;) {
    // Recordings that could not be opened.
    while (next_take_ < entries_.size() && entries_[next_take_].state == State::kFinished)
      ++next_take_;
    if (next_take_ == entries_.size()) return nullptr;
    if (stopped()) base::fail(ErrorCode::kCancelled, "stopped");
    Entry& entry = entries_[next_take_];
    if (entry.state == State::kDecoding && (wait || entry.blocks->started())) {
      entry.state = State::kTaken;
      entry.session = number;
      ++next_take_;
      return &entry;
    } else if (!wait) {
      return nullptr;
    } else {
      changed_.wait(lock);
    }
  }
}

void Queue::close(Entry& entry) {
  entry.state = State::kFinished;
  ++finished_;
}

void Queue::note_progress(Entry& entry, double seconds) {
  if (!work_.progress) return;
  const std::lock_guard lock(progress_mutex_);
  seconds_done_ += seconds - entry.seconds_done;
  entry.seconds_done = seconds;
  work_.progress(seconds_done_);
}

void Queue::run_session(std::size_t number) {
  try {
    sessions_[number]->run([&](bool wait) { return next(number, wait); },
                           [&](Recording& recording) {
                             const std::lock_guard lock(mutex_);
                             auto& entry = static_cast<Entry&>(recording);
                             entry.state = State::kClustering;
                             to_finish_.push_back(&entry);
                             changed_.notify_all();
                           },
                           stop_.get_token());
  } catch (...) {
    fail_session(number, std::current_exception());
  }
}

void Queue::fail_session(std::size_t number, const std::exception_ptr& error) {
  const std::lock_guard lock(mutex_);
  --alive_;
  for (Entry& entry : entries_) {
    const bool ours = entry.state == State::kTaken && entry.session == number;
    const bool orphan =
        alive_ == 0 && (entry.state == State::kWaiting || entry.state == State::kDecoding);
    if (!ours && !orphan) continue;  // what is clustered already is finished as usual
    entry.error = error;
    if (entry.blocks) entry.blocks->abandon();
    close(entry);
  }
  changed_.notify_all();
}

void Queue::finish() {
  for (;;) {
    Entry* entry = nullptr;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(
          lock, [&] { return stopped() || !to_finish_.empty() || finished_ == entries_.size(); });
      if (stopped() || to_finish_.empty()) return;
      entry = to_finish_.front();
      to_finish_.pop_front();
    }
    if (entry->error) {
      entry->blocks->abandon();  // the decoder may be in the middle
    } else {
      try {
        entry->outcome = work_.finish(entry->index, entry->session, *entry);
      } catch (...) {
        entry->error = std::current_exception();
      }
    }
    entry->result = {};
    entry->feed = nullptr;
    const std::lock_guard lock(mutex_);
    entry->blocks.reset();
    entry->source.reset();
    close(*entry);
    changed_.notify_all();
  }
}

bool Queue::deliver() {
  for (Entry& entry : entries_) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopped() || entry.state == State::kFinished; });
      if (stopped()) base::fail(ErrorCode::kCancelled, "stopped");
      ++delivered_;
      changed_.notify_all();
    }
    if (!work_.sink(entry.index, std::move(entry.outcome), entry.error)) return false;
    entry.outcome.reset();
  }
  return true;
}

}  // namespace

void run_queue(std::span<Session* const> sessions, const QueueWork& work,
               const QueueThreads& threads, const std::stop_token& stop) {
  Queue queue(sessions, work, threads);
  std::vector<std::jthread> crew;
  // The crew ends before the queue dies, whatever happens below. When everything is delivered it
  // ends by itself: a session that was stopped would count as failed.
  struct Dismiss {
    Queue& queue;
    std::vector<std::jthread>& crew;
    bool complete = false;
    ~Dismiss() {
      if (!complete) queue.stop();
      crew.clear();
    }
  };
  Dismiss dismiss{queue, crew};
  const std::stop_callback on_stop(stop, [&] { queue.stop(); });
  for (int i = 0; i < threads.decoders; ++i) crew.emplace_back([&] { queue.decode(); });
  for (std::size_t i = 0; i < sessions.size(); ++i)
    crew.emplace_back([&queue, i] { queue.run_session(i); });
  for (int i = 0; i < threads.finishers; ++i) crew.emplace_back([&] { queue.finish(); });
  dismiss.complete = queue.deliver();
}

}  // namespace diarist::pipeline
