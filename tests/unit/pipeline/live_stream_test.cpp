// A stream whose networks are made up: what reaches whom, and when.

#include "pipeline/live_stream.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <new>
#include <stdexcept>
#include <thread>

#include "diarist/error.hpp"
#include "timeline/grid.hpp"

namespace diarist::pipeline {
namespace {

/// Windows tell where they begin: the first sample of each, and how many were heard at a time.
class MadeUpHost final : public StreamHost {
 public:
  explicit MadeUpHost(int block_seconds = 0) : block_seconds_(block_seconds) {}
  int block_seconds() const noexcept override { return block_seconds_; }

  void hear(audio::Source& stretch, const RunOptions& options, const std::stop_token& stop,
            Recording& recording) override {
    if (before) before(stop);
    std::vector<float> samples(100 * 16000);
    samples.resize(stretch.read(samples));
    const auto step = static_cast<std::size_t>(options.step_seconds) * 16000;
    recording.result.samples = static_cast<std::int64_t>(samples.size());
    recording.result.chunks =
        timeline::Grid(recording.result.samples, static_cast<int>(step)).chunks();
    for (int i = 0; i < recording.result.chunks; ++i)
      recording.result.embeddings.push_back(samples[static_cast<std::size_t>(i) * step]);
    recording.result.activity.resize(static_cast<std::size_t>(recording.result.chunks) *
                                     timeline::kFramesPerChunk);
    ++times_heard;
  }

  Diarization conclude(Recording& recording, const std::vector<std::string>&, const RunOptions&,
                       const RunControl&, const SettledPieces&) override {
    Diarization result;
    result.duration = static_cast<double>(recording.result.samples) / 16000;
    auto stages = std::make_shared<StageResults>();
    stages->chunks = recording.result.chunks;
    stages->embeddings = recording.result.embeddings;
    result.stages = stages;
    return result;
  }

  std::function<void(const std::stop_token&)> before;
  std::atomic<int> times_heard = 0;

 private:
  int block_seconds_;
};

void push(LiveStream& stream, const std::vector<float>& samples, const std::stop_token& stop = {}) {
  stream.push(std::span<const float>(samples), stop);
}

// Sample i of second s is s.
std::vector<float> seconds_from(int first, int count) {
  std::vector<float> samples;
  for (int second = first; second < first + count; ++second)
    samples.insert(samples.end(), 16000, static_cast<float>(second));
  return samples;
}

template <typename Call>
ErrorCode code_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode{0};
}

TEST(LiveStream, EveryWindowOnceAndInOrder) {
  for (const int block : {0, 10})
    for (const int step : {1, 2, 5}) {
      auto host = std::make_shared<MadeUpHost>(block);
      LiveStream stream(host, {}, {.step_seconds = step});
      for (int second = 0; second < 95; ++second) push(stream, seconds_from(second, 1));
      const Diarization result = stream.finish({});
      std::vector<float> wanted;
      for (int start = 0; start < 85 + step; start += step)
        wanted.push_back(static_cast<float>(start));
      EXPECT_EQ(result.stages->embeddings, wanted) << "step " << step << ", block " << block;
      EXPECT_EQ(result.duration, 95);
    }
}

TEST(LiveStream, ErrorsOfItsThreadReachTheNextCalls) {
  struct Case {
    std::function<void(const std::stop_token&)> fault;
    ErrorCode code;
  };
  const Case cases[] = {
      {[](const auto&) { throw Error(ErrorCode::kDeviceLost, "gone"); }, ErrorCode::kDeviceLost},
      {[](const auto&) { throw std::bad_alloc(); }, ErrorCode::kOutOfMemory},
      {[](const auto&) { throw std::runtime_error("odd"); }, ErrorCode::kInternal}};
  for (const Case& each : cases) {
    auto host = std::make_shared<MadeUpHost>();
    host->before = each.fault;
    LiveStream stream(host, {}, {});
    try {
      push(stream, seconds_from(0, 11));
    } catch (const Error& error) {  // its thread was quicker than the last second
      EXPECT_EQ(error.code(), each.code);
    }
    EXPECT_EQ(code_of([&] { (void)stream.snapshot({}); }), each.code);
    EXPECT_EQ(code_of([&] { push(stream, seconds_from(11, 1)); }), each.code);
    EXPECT_EQ(code_of([&] { (void)stream.finish({}); }), each.code);
    EXPECT_GE(stream.progress().heard_seconds, 10);
    EXPECT_LE(stream.progress().heard_seconds, 11);
  }
}

// A tail that can't be heard is the business of who asked for it.
TEST(LiveStream, AnErrorOfASnapshotIsNotTheStreams) {
  auto host = std::make_shared<MadeUpHost>();
  LiveStream stream(host, {}, {});
  push(stream, seconds_from(0, 9));
  host->before = [](const auto&) { throw Error(ErrorCode::kOutOfMemory, "no room"); };
  EXPECT_EQ(code_of([&] { (void)stream.snapshot({}); }), ErrorCode::kOutOfMemory);
  host->before = nullptr;
  EXPECT_EQ(stream.finish({}).duration, 9);
}

TEST(LiveStream, PushWaitsWhenTheNetworksAreBehind) {
  std::atomic<bool> open = false;
  auto host = std::make_shared<MadeUpHost>();
  host->before = [&](const std::stop_token& stop) {
    while (!open && !stop.stop_requested())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (stop.stop_requested()) throw Error(ErrorCode::kCancelled, "stopped");
  };
  LiveStream stream(host, {}, {});
  push(stream, seconds_from(0, Stream::kMostWaitingSeconds));  // without waiting
  std::stop_source stop;
  std::atomic<bool> through = false;
  std::jthread other([&] {
    EXPECT_EQ(code_of([&] { push(stream, seconds_from(60, 9), stop.get_token()); }),
              ErrorCode::kCancelled);
    push(stream, seconds_from(60, 9));
    through = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  stop.request_stop();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(through);
  EXPECT_EQ(stream.progress().heard_seconds, Stream::kMostWaitingSeconds);
  open = true;
  other.join();
  EXPECT_EQ(stream.finish({}).duration, Stream::kMostWaitingSeconds + 9);
}

TEST(LiveStream, DestructionDoesNotWaitForTheNetworks) {
  auto host = std::make_shared<MadeUpHost>();
  std::atomic<bool> stopped = false;
  host->before = [&](const std::stop_token& stop) {
    while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    stopped = true;
    throw Error(ErrorCode::kCancelled, "stopped");
  };
  {
    LiveStream stream(host, {}, {});
    push(stream, seconds_from(0, 20));
    while (stream.progress().heard_seconds < 20) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_TRUE(stopped);
  EXPECT_EQ(host->times_heard, 0);
}

// In real time: every window soon after its last sample.
TEST(LiveStream, WindowsAreHeardWhileAudioArrives) {
  auto host = std::make_shared<MadeUpHost>();
  LiveStream stream(host, {}, {});
  push(stream, seconds_from(0, 9));
  EXPECT_EQ(stream.progress().seen_seconds, 0);
  for (int second = 9; second < 14; ++second) {
    push(stream, seconds_from(second, 1));
    const auto start = std::chrono::steady_clock::now();
    while (stream.progress().seen_seconds < second + 1) {
      ASSERT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

}  // namespace
}  // namespace diarist::pipeline
