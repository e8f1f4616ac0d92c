// How far behind a stream is, and what its snapshots cost.
//
// usage: stream_latency PRESET SECONDS,SECONDS,... RECORDING...
//
// The recordings follow each other, from the first again behind the last. Up to each mark (in
// seconds) they are pushed as fast as the networks take them, and a first snapshot is taken, which
// knows nothing of the turn check yet. Then ten seconds come one by one: the last tenth of each is
// pushed when the networks have seen what they can, and timed until they have seen it too, and
// until a snapshot that has it is there. Four numbers each, in milliseconds: median and largest
// wall time, median and largest processor time. "open-lite" sees ten windows at a time, so for most
// seconds there is nothing to be seen yet, and a snapshot hears up to twenty windows itself.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "diarist/streaming.hpp"
#include "diarist/waveform.hpp"

namespace {

constexpr int kRate = 16000;
constexpr int kSeconds = 10;

struct Clock {
  double wall =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
          .count();
  double processor = 1000.0 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
};

struct Cost {
  std::vector<double> wall, processor;
  void add(const Clock& from) {
    const Clock now;
    wall.push_back(now.wall - from.wall);
    processor.push_back(now.processor - from.processor);
  }
  std::string text() {
    std::sort(wall.begin(), wall.end());
    std::sort(processor.begin(), processor.end());
    char line[64];
    std::snprintf(line, sizeof line, "%6.0f %6.0f %6.0f %6.0f", wall[wall.size() / 2], wall.back(),
                  processor[processor.size() / 2], processor.back());
    return line;
  }
};

std::vector<std::int16_t> samples_of(const std::vector<std::string>& files) {
  std::vector<std::int16_t> samples;
  for (const std::string& file : files) {
    const std::string wav = diarist::read_as_wav(file, std::size_t{1} << 31U);
    for (std::size_t at = wav.find("data") + 8; at + 1 < wav.size(); at += 2)
      samples.push_back(static_cast<std::int16_t>(static_cast<unsigned char>(wav[at]) |
                                                  static_cast<unsigned char>(wav[at + 1]) << 8));
  }
  return samples;
}

/// What the kernel says of this process.
long resident_megabytes() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("VmRSS:", 0) == 0) return std::atol(line.c_str() + 6) / 1024;
  return 0;
}

class Player {
 public:
  Player(diarist::Stream& stream, std::vector<std::int16_t> samples)
      : stream_(stream), samples_(std::move(samples)) {}

  void play(std::int64_t until) {
    while (played_ < until) {
      const auto at = static_cast<std::size_t>(played_) % samples_.size();
      const std::size_t count = std::min(
          {samples_.size() - at, std::size_t{kRate}, static_cast<std::size_t>(until - played_)});
      stream_.push(std::span<const std::int16_t>(samples_).subspan(at, count));
      played_ += static_cast<std::int64_t>(count);
    }
  }
  void wait_until_seen(double seconds) const {
    while (stream_.progress().seen_seconds < seconds)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
  }

 private:
  diarist::Stream& stream_;
  std::vector<std::int16_t> samples_;
  std::int64_t played_ = 0;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4)
    return std::fprintf(stderr, "usage: stream_latency PRESET SECONDS,... RECORDING...\n"), 2;
  const std::string preset = argv[1];
  const diarist::Diarizer diarizer({.preset = preset});
  const std::int64_t block = preset == "open-lite" ? 10 : 1;  // seconds that are seen at a time
  diarist::Stream stream(diarizer);
  Player player(stream, samples_of({argv + 3, argv + argc}));
  std::printf("%7s  %27s  %27s  %27s  %9s\n", "seconds", "first snapshot", "seen", "snapshot",
              "resident");
  std::string marks = argv[2];
  for (char* mark = std::strtok(marks.data(), ","); mark; mark = std::strtok(nullptr, ",")) {
    const std::int64_t second = std::atoll(mark) / 10 * 10;
    player.play(second * kRate);
    player.wait_until_seen(static_cast<double>(second));
    Cost first, seen, snapshot;
    const Clock start;
    (void)stream.snapshot();
    first.add(start);
    for (std::int64_t end = second + 1; end <= second + kSeconds; ++end) {
      player.play(end * kRate - kRate / 10);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      const Clock last;
      player.play(end * kRate);
      player.wait_until_seen(static_cast<double>(end / block * block));
      seen.add(last);
      (void)stream.snapshot();
      snapshot.add(last);
    }
    std::printf("%7lld  %s  %s  %s  %6ld MB\n", static_cast<long long>(second),
                first.text().c_str(), seen.text().c_str(), snapshot.text().c_str(),
                resident_megabytes());
    std::fflush(stdout);
  }
} catch (const diarist::Error& error) {
  std::fprintf(stderr, "stream_latency: %s\n", error.what());
  return 1;
}
