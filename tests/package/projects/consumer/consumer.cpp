// Uses every part of the library that needs no models, and meets its errors by their type.

#include <cstdio>
#include <string>

#include "diarist/diarist.h"
#include "diarist/diarizer.hpp"
#include "diarist/embedder.hpp"
#include "diarist/formats.hpp"
#include "diarist/info.hpp"
#include "diarist/models.hpp"
#include "diarist/report.hpp"
#include "diarist/scoring.hpp"
#include "diarist/segmenter.hpp"
#include "diarist/transcripts.hpp"
#include "diarist/turn_diff.hpp"

namespace {

int failures = 0;

void check(bool good, const char* what) {
  if (good) return;
  ++failures;
  std::fprintf(stderr, "consumer: failed: %s\n", what);
}

// The error comes out of the library as what it is.
template <typename Call>
bool throws(diarist::ErrorCode code, Call&& call) {
  try {
    call();
  } catch (const diarist::Error& error) {
    return error.code() == code && *error.what() != '\0';
  }
  return false;
}

}  // namespace

int main() {
  using diarist::ErrorCode;
  const diarist::RttmFile turns = diarist::parse_rttm(
      "SPEAKER talk 1 0.5 2.0 <NA> <NA> anna <NA> <NA>\n"
      "SPEAKER talk 1 3.0 1.5 <NA> <NA> ben <NA> <NA>\n",
      "text");
  const diarist::Diarization result = diarist::to_diarization("talk", turns.at("talk"), 5);
  check(result.turns.size() == 2 && result.speakers.size() == 2, "turns of RTTM");
  for (const diarist::FormatInfo& format : diarist::formats())
    check(!to_text(result, format.format).empty(), "a format");
  check(to_html(result).find("anna") != std::string::npos, "the page");
  check(diarist::score_files(turns, turns).total.der() == 0, "scoring");
  check(diarist::diff_turns(turns, turns).changes.empty(), "diff");
  check(shaped(result, {.exclusive = true}).turns.size() == 2, "shaping");
  check(diarist::version() == std::string(diarist_version()), "one version");
  check(diarist_abi_version() == DIARIST_ABI_VERSION, "the ABI's version");
  check(!diarist::build_info().devices.empty(), "devices");

  check(throws(ErrorCode::kBadFile, [] { (void)diarist::parse_rttm("SPEAKER x", "text"); }),
        "an error of a reader");
  check(throws(ErrorCode::kInvalidArgument, [] { diarist::Diarizer({.preset = "nonsense"}); }),
        "an error of a Diarizer");
  check(throws(ErrorCode::kInvalidArgument, [] { diarist::Segmenter({.preset = "nonsense"}); }),
        "an error of a Segmenter");
  check(throws(ErrorCode::kBadModel, [] { diarist::Embedder({.weights = "/no/such/file"}); }),
        "an error of an Embedder");
  std::printf("diarist %s\n", diarist::version());
  return failures == 0 ? 0 : 1;
}
