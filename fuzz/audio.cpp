// audio::open_encoded from bytes: the WAV parser first, libsndfile and FFmpeg for the rest.
//
// Faults inside libsndfile and FFmpeg are theirs; inputs of the WAV kind never reach them here, so
// what is found is ours.

#include "audio/riff.hpp"
#include "audio/source.hpp"
#include "fuzz.hpp"
#include "support/odd_audio.hpp"

namespace diarist::fuzz {

std::vector<std::string> seeds() {
  const std::string format = test::chunk("fmt ", test::wav_format({}));
  const std::string data(400, '\x11');
  const std::string ds64 = test::chunk("ds64", test::little(500, 8) + test::little(400, 8) +
                                                   test::little(200, 8) + test::little(0, 4));
  return {
      test::wav_pcm16(test::test_signal(300)),
      test::wav_file(test::chunk("LIST", "odd") + format + test::chunk("data", data, 0xFFFFFFFF)),
      test::wav_file(format + test::chunk("data", data) + test::chunk("data", data)),
      test::wav_file(
          test::chunk("fmt ",
                      test::wav_format(
                          {.channels = 3, .sample_rate = 44100, .bits = 24, .extensible = true})) +
          test::chunk("data", data)),
      test::wav_file(ds64 + format + test::chunk("data", data, 0xFFFFFFFF), "RF64", 0xFFFFFFFF),
      test::wav_file(test::chunk("fmt ", test::wav_format({.tag = 3, .bits = 64})) +
                     test::chunk("data", data, 0)),
  };
}

}  // namespace diarist::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace diarist;
  const auto bytes = fuzz::as_bytes(data, size);
  fuzz::expect_error_or_result([&] {
    const auto encoded = audio::memory_bytes(bytes, "input");
    const auto layout = audio::parse_wav(*encoded);
    if (!layout) return;
    for (const audio::Extent& extent : layout->data) {
      if (extent.offset > size || extent.size > size - extent.offset) std::abort();
    }
    const auto source = audio::open_encoded(audio::memory_bytes(bytes, "input"));
    std::vector<float> block(4096);
    std::int64_t total = 0;
    while (const std::size_t count = source->read(block)) {
      total += static_cast<std::int64_t>(count);
    }
    if (total != source->expected_samples()) std::abort();
  });
  return 0;
}
