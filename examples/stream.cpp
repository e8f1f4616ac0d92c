// Audio that is still arriving, here from a pipe: who has spoken so far, every few seconds, and
// the result at the end.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "diarist/formats.hpp"
#include "diarist/streaming.hpp"

int main(int argc, char** argv) try {
  if (argc != 2) return std::fprintf(stderr, "usage: stream SECONDS < SAMPLES.s16\n"), 2;
  const double every = std::atof(argv[1]);

  const diarist::Diarizer diarizer({.preset = "open"});
  diarist::Stream stream(diarizer, {.sample_rate = 16000, .channels = 1});
  double next = every;
  std::vector<std::int16_t> samples(1600);  // 0.1 s
  for (;;) {
    const std::size_t count = std::fread(samples.data(), 2, samples.size(), stdin);
    if (count == 0) break;
    stream.push(std::span<const std::int16_t>(samples).first(count));
    if (stream.progress().heard_seconds < next) continue;
    next += every;
    const diarist::Diarization now = stream.snapshot();
    for (const diarist::Speaker& speaker : now.speakers)
      std::fprintf(stderr, "%6.1f s: %s has spoken for %.1f s\n", now.duration,
                   speaker.name.c_str(), speaker.speech_seconds);
  }
  diarist::Diarization result = stream.finish();
  result.uri = "stream";
  std::fputs(to_rttm(result).c_str(), stdout);
} catch (const diarist::Error& error) {
  std::fprintf(stderr, "stream: %s\n", error.what());
  return 1;
}
