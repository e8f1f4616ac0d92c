// A stop is heard wherever a recording is read: in a pipe that gives nothing, on the way to the
// stretch that was asked for, between blocks.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <stop_token>
#include <thread>
#include <vector>

#include "audio/source.hpp"
#include "diarist/error.hpp"
#include "support/odd_audio.hpp"
#include "support/support.hpp"

namespace diarist::test {
namespace {

using namespace std::chrono_literals;

/// Seconds from the request, made after a while, until `read` has thrown Error kCancelled.
double seconds_to_stop(const std::function<void(const audio::SourceOptions&)>& read) {
  std::stop_source source;
  std::chrono::steady_clock::time_point asked;
  std::jthread asker([&] {
    std::this_thread::sleep_for(200ms);
    asked = std::chrono::steady_clock::now();
    source.request_stop();
  });
  try {
    audio::SourceOptions options;
    options.stop = source.get_token();
    read(options);
    ADD_FAILURE() << "read to the end";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled) << error.what();
  }
  const auto end = std::chrono::steady_clock::now();
  asker.join();
  return std::chrono::duration<double>(end - asked).count();
}

void read_on(audio::Source& source) {
  std::vector<float> block(1600);
  while (source.read(block) > 0) {
  }
}

class AudioStop : public testing::Test {
 protected:
  AudioStop() { EXPECT_EQ(mkfifo(pipe().c_str(), 0600), 0); }
  std::filesystem::path pipe() const { return folder_.path() / "pipe.wav"; }
  TempFolder folder_;
};

TEST_F(AudioStop, APipeThatNobodyWritesInto) {
  EXPECT_LT(seconds_to_stop([&](const auto& options) { audio::open_file(pipe(), options); }), 1);
}

TEST_F(AudioStop, APipeThatFallsSilent) {
  const std::string head =
      wav_file(chunk("fmt ", wav_format({})) + chunk("data", std::string(64000, '\1'), 0xFFFFFFFF));
  std::jthread writer([&](const std::stop_token& over) {
    std::ofstream file(pipe(), std::ios::binary);
    file << head << std::flush;
    while (!over.stop_requested()) std::this_thread::sleep_for(10ms);
  });
  EXPECT_LT(
      seconds_to_stop([&](const auto& options) { read_on(*audio::open_file(pipe(), options)); }),
      1);
}

TEST_F(AudioStop, APipeThatIsCopiedFirst) {
  std::jthread writer([&](const std::stop_token& over) {
    std::ofstream file(pipe(), std::ios::binary);
    file << "RIFF" << std::flush;
    while (!over.stop_requested()) std::this_thread::sleep_for(10ms);
  });
  EXPECT_LT(seconds_to_stop([&](const auto& options) {
              audio::SharedFile(pipe(), options.stop).open(options);
            }),
            1);
}

TEST_F(AudioStop, APipeIsStillReadToItsEnd) {
  const std::string whole =
      wav_file(chunk("fmt ", wav_format({})) + chunk("data", std::string(3200, '\1')));
  std::jthread writer([&] {
    std::this_thread::sleep_for(100ms);  // the reader waits for somebody to write
    std::ofstream file(pipe(), std::ios::binary);
    file << whole.substr(0, 20) << std::flush;
    std::this_thread::sleep_for(100ms);
    file << whole.substr(20);
  });
  std::stop_source never;
  audio::SourceOptions options;
  options.stop = never.get_token();
  const auto source = audio::open_file(pipe(), options);
  std::vector<float> samples(5000);
  EXPECT_EQ(source->read(samples), 1600U);
}

TEST_F(AudioStop, OnTheWayToTheStretch) {
  // Samples in memory are passed over block by block, as those of a compressed stream are.
  const std::vector<float> silence(std::size_t{1} << 24);
  double least = 1e9;
  for (int i = 0; i < 3; ++i) {
    std::stop_source source;
    audio::SourceOptions options;
    options.audio.from = static_cast<double>(silence.size()) / 16000 - 0.5;
    options.stop = source.get_token();
    const auto stream = audio::open_memory({silence, 16000, 1}, options);
    source.request_stop();
    const auto start = std::chrono::steady_clock::now();
    std::vector<float> block(1600);
    EXPECT_THROW(stream->read(block), Error);
    least = std::min(
        least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  EXPECT_LT(least, 0.1);
}

}  // namespace
}  // namespace diarist::test
