// parse_transcript on JSON of Whisper and its relatives.

#include "transcript_input.hpp"

namespace diarist::fuzz {

std::vector<std::string> seeds() {
  return {
      R"({"segments": [{"id": 0, "start": 0.0, "end": 4.0, "text": " Hi you. Yes.", "words": [)"
      R"({"word": " Hi", "start": 0.5, "end": 1.0}, {"word": " you.", "start": "1", "end": NaN}, )"
      R"({"word": " Yes.", "start": 2.1, "end": 2.5}]}, {"start": null, "text": "\u00e4"}]})",
      "\xEF\xBB\xBF{\n  \"segments\": [{\"text\": \"In 2019 no\", \"words\": [{\"word\": \"In\", "
      "\"start\": 0}, {\"word\": \"2019\"}, {\"word\": \"no\", \"start\": 9, \"end\": 2}], "
      "\"chars\": [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}]}], \"word_segments\": [{\"word\": "
      "\"x\", "
      "\"end\": 3}]}",
      "[{\"start\": 0, \"words\": [[0, 1, \" a\\\"\"], [2, 3, \" \xE6\x97\"]], \"p\": -Infinity}]",
      R"({"transcription": [{"timestamps": {"from": "00:00:00,000", "to": "00:00:04,000"}, )"
      R"("offsets": {"from": 0, "to": 4000}, "text": " Hello. Hi", "tokens": [{"text": "[_BEG_]"}, )"
      R"({"text": " Hel", "offsets": {"from": 0, "to": 500}}, {"text": "lo."}, {"text": " Hi", )"
      R"("timestamps": {"from": "00:00:02,500", "to": "00:00:03,000"}}]}]})",
  };
}

}  // namespace diarist::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  diarist::fuzz::try_transcript(data, size);
  return 0;
}
