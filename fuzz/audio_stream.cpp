// What comes through a pipe: WAV and Wave64 chunk after chunk, and raw samples. The first byte says
// which format raw samples have; 0 stands for a header.
//
// Inputs of other kinds would reach FFmpeg, whose faults are its own.

#include "audio/frame_decoder.hpp"
#include "audio/raw_reader.hpp"
#include "audio/source.hpp"
#include "audio/wav_stream.hpp"
#include "fuzz.hpp"
#include "unit/audio/one_way.hpp"
#include "unit/audio/pcm_samples.hpp"

namespace diarist::fuzz {

std::vector<std::string> seeds() {
  using namespace diarist::test;
  const std::string header(1, '\0');
  const std::string format = chunk("fmt ", wav_format({}));
  const std::string wide = wave64_chunk("fmt ", wav_format({.channels = 2, .bits = 24}));
  const std::string data = pcm_bytes(150);
  const std::string ds64 =
      chunk("ds64", little(500, 8) + little(300, 8) + little(150, 8) + little(0, 4));
  return {
      header + wav_file(chunk("LIST", "odd") + format + chunk("data", data, 0xFFFFFFFF)),
      header + wav_file(format + chunk("data", data) + chunk("data", data)),
      header + wav_file(format + chunk("data", data, 0)),
      header + wav_file(ds64 + format + chunk("data", data, 0xFFFFFFFF), "RF64", 0xFFFFFFFF),
      header + wave64_file(wide + wave64_chunk("levl", "odd") + wave64_chunk("data", data)),
      header + wave64_file(wide + wave64_chunk("data", data, 0)),
      "\x01" + data,
      "\x09" + data,
      "\x27" + data,
  };
}

}  // namespace diarist::fuzz

namespace {

using namespace diarist;

void read_to_end(audio::Reader& reader, std::size_t size) {
  std::size_t total = 0;
  while (true) {
    const audio::Block block = reader.next();
    if (block.samples.empty()) break;
    if (block.samples.size() % static_cast<std::size_t>(block.channels) != 0) std::abort();
    total += block.samples.size();
  }
  if (total > size) std::abort();  // a sample has a byte at least
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] != 0) {
    const RawFormat raw{.format = static_cast<SampleFormat>((data[0] & 0xf) % 9),
                        .sample_rate = 16000,
                        .channels = 1 + (data[0] >> 4)};
    test::OneWayBytes bytes(text);
    read_to_end(*audio::open_raw(bytes, raw), text.size());
    return 0;
  }
  fuzz::expect_error_or_result([&] {
    audio::RememberedPipe pipe(std::make_unique<test::OneWayBytes>(text));
    const auto reader = audio::open_wav_stream(pipe);
    if (!reader) return;
    pipe.forget();
    read_to_end(*reader, text.size());
  });
  fuzz::expect_error_or_result([&] {  // Wave64 from a file, from some frame on
    const auto bytes = audio::memory_bytes(fuzz::as_bytes(text), "input");
    const auto reader = audio::open_wav_stream(*bytes);
    if (!reader) return;
    if (reader->expected_frames() < 0) std::abort();
    if (reader->skip(7) > reader->expected_frames()) std::abort();
    read_to_end(*reader, text.size());
  });
  return 0;
}
