// parse_rttm, what it read scored against itself, compared and written again.

#include <stdexcept>

#include "diarist/formats.hpp"
#include "diarist/scoring.hpp"
#include "diarist/turn_diff.hpp"
#include "fuzz.hpp"
#include "output/number_text.hpp"

namespace diarist::fuzz {

std::vector<std::string> seeds() {
  return {
      "SPEAKER a 1 0.500 1.25 <NA> <NA> Ann <NA> <NA>\nSPEAKER a 1 1 2 <NA> <NA> Bob <NA> <NA>\n",
      "\xEF\xBB\xBF;; comment\r\n\r\nSPEAKER\tb%20c 1 1e1 .5 <NA> <NA> A%C2%A0B 0.98\r\n",
      "SPKR-INFO a 1 <NA> <NA> <NA> unknown Ann <NA> <NA>\nSPEAKER a 1 0 3 <NA> <NA> Ann\n"
      "SPEAKER a 1 1 3 <NA> <NA> Ann\nSPEAKER b 1 4 0 <NA> <NA> %25",
  };
}

}  // namespace diarist::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace diarist;
  fuzz::expect_error_or_result([&] {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const RttmFile file = parse_rttm(text, "input");
    for (const auto& [uri, turns] : file) {
      if (output::decode_field(output::encode_field(uri)) != uri && !uri.empty()) {
        throw std::logic_error("an id does not come back");
      }
    }
    const ScoreReport report = score_files(file, file, {.collar = 0.1, .skip_overlap = true});
    const bool finite = report.total.der() >= 0 && report.total.jer() >= 0;
    if (!finite) throw std::logic_error("a rate is not a number");
    to_json(report, {});
    to_table(report, {}, true);
    to_markdown(report, {}, true);
    to_csv(report);
    score_files(file, file, {.collar = 0.1, .md_eval = true});
    const DiffReport diff = diff_turns(file, file, {.by_name = true});
    if (!diff.changes.empty()) throw std::logic_error("a file differs from itself");
    to_json(diff, {});
    to_table(diff);
  });
  return 0;
}
