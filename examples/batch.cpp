// Many recordings: one RTTM file each, in a folder. One that fails stops nothing.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <vector>

#include "diarist/diarizer.hpp"
#include "diarist/formats.hpp"

int main(int argc, char** argv) try {
  if (argc < 3) return std::fprintf(stderr, "usage: batch FOLDER RECORDING...\n"), 2;
  const std::filesystem::path folder = argv[1];
  const std::vector<std::filesystem::path> files(argv + 2, argv + argc);

  const diarist::Diarizer diarizer({.preset = "open"});
  int failures = 0;
  const diarist::RunReport report =
      diarizer.run_files(files, {}, {}, [&](diarist::FileOutcome outcome) {
        if (outcome.error) {
          ++failures;
          std::fprintf(stderr, "batch: %s\n", outcome.error->what());
        } else {
          std::ofstream(folder / (outcome.result->uri + ".rttm")) << to_rttm(*outcome.result);
        }
        return true;  // false would end the run
      });

  std::printf("%zu of %zu recordings, %.0f s of audio\n",
              files.size() - static_cast<std::size_t>(failures), files.size(),
              report.audio_seconds);
  return failures == 0 ? 0 : 1;
} catch (const diarist::Error& error) {
  std::fprintf(stderr, "batch: %s\n", error.what());
  return 1;
}
