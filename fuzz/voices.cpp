// VoiceLibrary::parse; what it accepts must come back from its own text, and give scores.

#include "diarist/voices.hpp"

#include <cmath>
#include <stdexcept>

#include "fuzz.hpp"

namespace diarist::fuzz {

std::vector<std::string> seeds() {
  const VoiceModel model{"campplus", std::string(64, 'a'), 3};
  VoiceLibrary library;
  const std::string empty = library.to_text();
  library.add("Anna \"A\" \\", model, {{1, -2, 0.5F}, 12.5, "meeting SPEAKER_00"});
  library.add("Anna \"A\" \\", model, {{0, 1e-20F, -1}, 0, ""});
  library.add("J\xC3\xBCrgen", model, {{3, 4, 5}, 1e9, "\n"});
  return {library.to_text(), empty, "{\"format\": \"diarist.voices\", \"version\": 1}"};
}

}  // namespace diarist::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace diarist;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz::expect_error_or_result([&] {
    const VoiceLibrary library = VoiceLibrary::parse(text, "input");
    const std::string once = library.to_text();
    if (VoiceLibrary::parse(once, "written").to_text() != once)
      throw std::logic_error("a library does not come back");
    for (const Voice& voice : library.voices()) {
      for (const VoiceMatch& match : library.match(voice.samples[0].embedding, *library.model()))
        if (!(std::abs(match.score) <= 1)) throw std::logic_error("a score is no cosine");
    }
  });
  return 0;
}
