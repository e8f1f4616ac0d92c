// parse_transcript on WebVTT.

#include "transcript_input.hpp"

namespace diarist::fuzz {

std::vector<std::string> seeds() {
  return {
      "WEBVTT - title\nKind: x\n\nSTYLE\n::cue {}\n\nNOTE a\nb\n\nid\n00:00.500 --> 00:01.500 "
      "line:0\n<v Al>Hello</v> &amp;\n\n01:00:02.000 --> 01:00:03.000\nHi\n\nNOTE end\n",
      "WEBVTT\r\n\r\nid\r\n00:00.000 --> 00:04.000\r\nA<00:01.000><c> B</c><00:02.500><c.x> "
      "C</c>\r\n",
  };
}

}  // namespace diarist::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  diarist::fuzz::try_transcript(data, size);
  return 0;
}
