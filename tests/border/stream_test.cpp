// What callers may do wrong with a stream, and what must hold all the same.

#include "diarist/streaming.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "diarist/formats.hpp"
#include "support/border.hpp"

namespace diarist::test {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class StreamBorder : public testing::Test {
 protected:
  void SetUp() override {
    DIARIST_NEED(sample_wav());
    DIARIST_NEED(open_bundle());
    diarizer_ = std::make_unique<Diarizer>(small_options());
    samples_ = sample_pcm16(6, 18);
  }
  std::string wanted() const { return to_rttm(diarizer_->run(AudioView{.pcm16 = samples_})); }

  std::unique_ptr<Diarizer> diarizer_;
  std::vector<std::int16_t> samples_;
};

TEST_F(StreamBorder, FormatsThatCantBe) {
  const auto code = [&](const StreamFormat& format, const RunOptions& options = {}) {
    return code_of([&] { const Stream stream(*diarizer_, format, options); });
  };
  EXPECT_EQ(code({.sample_rate = 0}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.sample_rate = -16000}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.sample_rate = 2'000'000'000}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.channels = 0}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.channels = 1025}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({}, {.step_seconds = 3}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({}, {.speakers = {.num = 0}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({}, {.audio = {.raw = RawFormat{}}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.channels = 2}, {.audio = {.channel = 3}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({.channels = 2}, {.audio = {.split_channels = true}}), ErrorCode::kUnsupported);
}

TEST_F(StreamBorder, PartsOfFramesAreRefusedAndLeaveNoTrace) {
  Stream stream(*diarizer_, {.channels = 2});
  EXPECT_EQ(code_of([&] { stream.push(std::span<const std::int16_t>(samples_).first(3)); }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(stream.progress().heard_seconds, 0);
  stream.push(samples_);
  EXPECT_EQ(stream.progress().heard_seconds, 6);
  const AudioView view = {.channels = 2, .pcm16 = samples_};
  EXPECT_EQ(to_rttm(stream.finish()), to_rttm(diarizer_->run(view)));
}

TEST_F(StreamBorder, AudioOfAnotherFormat) {
  Stream stream(*diarizer_, {.sample_rate = 8000, .channels = 2});
  const AudioView good = {.sample_rate = 8000, .channels = 2, .pcm16 = samples_};
  AudioView bad = good;
  bad.sample_rate = 16000;
  EXPECT_EQ(code_of([&] { stream.push(bad); }), ErrorCode::kInvalidArgument);
  bad = good;
  bad.channels = 1;
  EXPECT_EQ(code_of([&] { stream.push(bad); }), ErrorCode::kInvalidArgument);
  bad = good;
  const std::vector<float> both(4);
  bad.samples = both;
  EXPECT_EQ(code_of([&] { stream.push(bad); }), ErrorCode::kInvalidArgument);
  bad = good;
  bad.pcm16 = bad.pcm16.first(3);
  bad.planar = true;
  EXPECT_EQ(code_of([&] { stream.push(bad); }), ErrorCode::kInvalidArgument);
  AudioView planar = good;
  planar.planar = true;
  stream.push(planar);
  EXPECT_EQ(to_rttm(stream.finish()), to_rttm(diarizer_->run(planar)));
}

TEST_F(StreamBorder, AfterTheEnd) {
  Stream stream(*diarizer_);
  stream.push(samples_);
  (void)stream.finish();
  EXPECT_EQ(code_of([&] { stream.push(samples_); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of([&] { stream.push(std::vector<float>{}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of([&] { (void)stream.snapshot(); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of([&] { (void)stream.finish(); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(stream.progress().heard_seconds, 12);
  EXPECT_EQ(stream.progress().seen_seconds, 12);
}

TEST_F(StreamBorder, MovedFrom) {
  Stream stream(*diarizer_);
  stream.push(samples_);
  Stream heir = std::move(stream);
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_EQ(code_of([&] { stream.push(samples_); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of([&] { (void)stream.snapshot(); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of([&] { (void)stream.finish(); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(stream.progress().heard_seconds, 0);
  stream = std::move(heir);  // whose work in progress is not disturbed
  const std::string before = wanted();
  const Diarizer other = std::move(*diarizer_);
  EXPECT_EQ(code_of([&] { const Stream none(*diarizer_); }), ErrorCode::kInvalidArgument);
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_EQ(to_rttm(stream.finish()), before);
}

TEST_F(StreamBorder, OutlivesItsDiarizer) {
  const std::string before = wanted();
  Stream stream(*diarizer_);
  diarizer_.reset();
  stream.push(samples_);
  EXPECT_EQ(to_rttm(stream.snapshot()), before);
  EXPECT_EQ(to_rttm(stream.finish()), before);
}

TEST_F(StreamBorder, NothingButNonsense) {
  const std::vector<float> samples(200000, std::numeric_limits<float>::quiet_NaN());
  Stream stream(*diarizer_);
  stream.push(samples);
  const Diarization result = stream.finish();
  EXPECT_TRUE(result.turns.empty());
  ASSERT_EQ(result.warnings.size(), 1U);
  EXPECT_EQ(result.warnings[0], "200000 samples were NaN or infinite and were read as zero");
}

TEST_F(StreamBorder, DestroyedInTheMiddleOfItsWork) {
  std::vector<std::int16_t> minute;
  for (int i = 0; i < 5; ++i) minute.insert(minute.end(), samples_.begin(), samples_.end());
  std::optional<Stream> stream(*diarizer_);
  stream->push(minute);
  const auto start = Clock::now();
  stream.reset();
  EXPECT_LT(seconds_since(start), 1.5);
  const Stream idle(*diarizer_);  // and without any
}

// A machine that is slower than the audio: nothing comes close to five minutes at once.
TEST_F(StreamBorder, APushThatWaitsCanBeStopped) {
  std::vector<std::int16_t> minutes;
  for (int i = 0; i < 25; ++i) minutes.insert(minutes.end(), samples_.begin(), samples_.end());
  Stream stream(*diarizer_);
  std::stop_source stop;
  Clock::time_point asked;
  const std::jthread clock([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    asked = Clock::now();
    stop.request_stop();
  });
  EXPECT_EQ(code_of([&] { stream.push(minutes, stop.get_token()); }), ErrorCode::kCancelled);
  EXPECT_LT(seconds_since(asked), 1.0);
  const StreamProgress progress = stream.progress();
  EXPECT_GE(progress.heard_seconds, Stream::kMostWaitingSeconds);
  EXPECT_LT(progress.heard_seconds, 300);
  EXPECT_LE(progress.heard_seconds - progress.seen_seconds, Stream::kMostWaitingSeconds + 1);
  // What went in stays in.
  const auto heard = static_cast<std::size_t>(progress.heard_seconds * 16000 + 0.5);
  const AudioView view = {.pcm16 = std::span(minutes).first(heard)};
  EXPECT_EQ(to_rttm(stream.finish()), to_rttm(diarizer_->run(view)));
}

TEST_F(StreamBorder, StoppedQuestionsCanBeAskedAgain) {
  Stream stream(*diarizer_);
  stream.push(samples_);
  std::stop_source stop;
  stop.request_stop();
  const RunControl stopped = {.stop = stop.get_token()};
  EXPECT_EQ(code_of([&] { (void)stream.snapshot(stopped); }), ErrorCode::kCancelled);
  EXPECT_EQ(to_rttm(stream.snapshot()), wanted());
  EXPECT_EQ(code_of([&] { (void)stream.finish(stopped); }), ErrorCode::kCancelled);
  EXPECT_EQ(code_of([&] { (void)stream.push(samples_); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(to_rttm(stream.finish()), wanted());
}

TEST_F(StreamBorder, CallbacksThatThrow) {
  Stream stream(*diarizer_);
  stream.push(samples_);
  RunControl control;
  control.progress = [](const Progress&) { throw std::runtime_error("mine"); };
  EXPECT_THROW((void)stream.snapshot(control), std::runtime_error);
  EXPECT_THROW((void)stream.finish(control), std::runtime_error);
  std::vector<std::string> stages;
  control.progress = [&](const Progress& progress) {
    stages.emplace_back(progress.stage);
    EXPECT_LE(progress.done_seconds, progress.total_seconds);
  };
  EXPECT_EQ(to_rttm(stream.finish(control)), wanted());
  ASSERT_FALSE(stages.empty());
  EXPECT_EQ(stages.back(), "clustering");
}

// One thread pushes, two ask, one looks.
TEST_F(StreamBorder, ManyThreads) {
  Stream stream(*diarizer_);
  std::atomic<bool> done{false};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 2; ++i)
      threads.emplace_back([&] {
        while (!done.load()) EXPECT_LE(stream.snapshot().duration, 12);
      });
    threads.emplace_back([&] {
      while (!done.load()) {
        const StreamProgress now = stream.progress();
        EXPECT_LE(now.seen_seconds, now.heard_seconds);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    std::span<const std::int16_t> rest = samples_;
    while (!rest.empty()) {
      stream.push(rest.first(3200));
      rest = rest.subspan(3200);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    done.store(true);
  }
  EXPECT_EQ(to_rttm(stream.finish()), wanted());
}

TEST_F(StreamBorder, TwoStreamsOfOneDiarizer) {
  const std::vector<RunOptions> options = {{}, {.speakers = {.num = 1}}};
  std::string wanted[2], got[2];
  for (std::size_t i = 0; i < 2; ++i)
    wanted[i] = to_rttm(diarizer_->run(AudioView{.pcm16 = samples_}, options[i]));
  EXPECT_NE(wanted[0], wanted[1]);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 2; ++i)
      threads.emplace_back([&, i] {
        Stream stream(*diarizer_, {}, options[i]);
        stream.push(samples_);
        got[i] = to_rttm(stream.finish());
      });
  }
  EXPECT_EQ(got[0], wanted[0]);
  EXPECT_EQ(got[1], wanted[1]);
}

TEST_F(StreamBorder, InAChildOfFork) {
  auto stream = std::make_unique<Stream>(*diarizer_);
  stream->push(samples_);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    int code = 0;
    for (const auto& call : std::vector<std::function<void()>>{[&] { stream->push(samples_); },
                                                               [&] { (void)stream->snapshot(); },
                                                               [&] { (void)stream->finish(); }}) {
      try {
        call();
        code = 1;
      } catch (const Error& error) {
        if (error.code() != ErrorCode::kUnsupported) code = 2;
      }
    }
    if (stream->progress().heard_seconds != 0) code = 3;
    stream.reset();  // does not wait for a thread that is elsewhere
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(to_rttm(stream->finish()), wanted());  // the parent's lives on
}

}  // namespace
}  // namespace diarist::test
