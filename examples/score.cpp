// How good is a diarization? And the same in another format. No models are needed.

#include <cstdio>

#include "diarist/error.hpp"
#include "diarist/formats.hpp"
#include "diarist/scoring.hpp"

int main(int argc, char** argv) try {
  if (argc != 3) return std::fprintf(stderr, "usage: score REFERENCE.rttm HYPOTHESIS.rttm\n"), 2;

  const diarist::RttmFile reference = diarist::read_rttm(argv[1]);
  const diarist::RttmFile hypothesis = diarist::read_rttm(argv[2]);
  const diarist::ScoreReport report = diarist::score_files(reference, hypothesis);
  std::printf("DER %.2f %%, JER %.2f %%\n", 100 * report.total.der(), 100 * report.total.jer());

  for (const auto& [uri, turns] : hypothesis)
    std::fputs(to_text(diarist::to_diarization(uri, turns), diarist::Format::kSrt).c_str(), stdout);
} catch (const diarist::Error& error) {
  std::fprintf(stderr, "score: %s\n", error.what());
  return 1;
}
