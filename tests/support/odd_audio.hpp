#pragma once
// Recordings as they occur in the wild, made by code: WAV files byte by byte, and a folder of odd
// ones.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace diarist::test {

/// `count` samples of a gliding tone with harmonics and a little noise, the same in every run;
/// values in (-0.5, 0.5).
std::vector<float> test_signal(std::int64_t count, int sample_rate = 16000);

/// Samples as the 16-bit integers round(32768 * x), clipped.
std::vector<std::int16_t> to_pcm16(std::span<const float> samples);

/// Little-endian number of `count` bytes.
std::string little(std::uint64_t value, int count);

/// Chunk with the size given, or that of its body; a padding byte follows an odd body.
std::string chunk(std::string_view id, std::string_view body, std::int64_t size = -1,
                  bool padded = true);

struct WavFormat {
  int tag = 1;  ///< 1 PCM, 3 float, 6 A-law, 7 mu-law
  int channels = 1;
  int sample_rate = 16000;
  int bits = 16;
  bool extensible = false;
};

/// Content of a format chunk.
std::string wav_format(const WavFormat& format);

/// RIFF or RF64 form around chunks, with the size given, or the right one.
std::string wav_file(std::string_view chunks, std::string_view form = "RIFF",
                     std::int64_t size = -1);

/// A plain 16-bit WAV file; `samples` are interleaved.
std::string wav_pcm16(std::span<const float> samples, int sample_rate = 16000, int channels = 1);

/// Bytes of 32-bit floats.
std::string float_bytes(std::span<const float> samples);

void write_bytes(const std::filesystem::path& file, std::string_view bytes);

enum class OddOutcome { kFine, kFineWithWarning, kBadFile, kNotFound };

struct OddFile {
  std::filesystem::path path;
  OddOutcome outcome = OddOutcome::kFine;
  std::int64_t samples = 0;     ///< at 16 kHz, when it can be read
  std::int64_t not_finite = 0;  ///< NaN or infinite ones among them
};

/// Writes the bad and borderline inputs a user may hand over: missing, empty, header only,
/// truncated, not audio, NaN and infinite samples, 1, 399 and 400 samples, silence, 9.9, 10.0 and
/// 10.1 s, stereo, and 8, 44.1 and 48 kHz. The sound is `speech` (16 kHz; from its start, repeated
/// as needed) or, when that is empty, test_signal(). Other rates carry test_signal().
std::vector<OddFile> make_odd_audio(const std::filesystem::path& folder,
                                    std::span<const float> speech = {});

}  // namespace diarist::test
