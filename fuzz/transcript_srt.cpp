// parse_transcript on SRT.

#include "transcript_input.hpp"

namespace diarist::fuzz {

std::vector<std::string> seeds() {
  return {
      "1\n00:00:00,500 --> 00:00:01,500\nHello\nBob.\n\n2\n0:00:02.0 --> 00:03  X1:1 X2:2\n"
      "{\\an8}<i>Hi</i> a < b\n\n",
      "\xEF\xBB\xBF\r\n00:01,5 --> 00:02,25\r\nsay\r\n\r\n42\r\nnow\r\n-00:00:01,000 --> 01:00:00",
  };
}

}  // namespace diarist::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  diarist::fuzz::try_transcript(data, size);
  return 0;
}
