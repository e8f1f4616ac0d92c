// Who spoke when in a recording.

#include <cstdio>

#include "diarist/diarizer.hpp"

int main(int argc, char** argv) try {
  if (argc != 2) return std::fprintf(stderr, "usage: minimal RECORDING\n"), 2;

  const diarist::Diarizer diarizer({.preset = "open"});
  const diarist::Diarization result = diarizer.run(argv[1]);

  for (const diarist::Turn& turn : result.turns)
    std::printf("%8.3f %8.3f  %s\n", turn.start, turn.end,
                result.speakers[static_cast<std::size_t>(turn.speaker)].name.c_str());
} catch (const diarist::Error& error) {
  std::fprintf(stderr, "minimal: %s (%s)\n", error.what(), diarist::error_code_name(error.code()));
  return 1;
}
