// Waveforms of files, without any network: for reports about turns that are known already.

#include "diarist/waveform.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "audio/source.hpp"
#include "base/error.hpp"
#include "base/run_control.hpp"
#include "pipeline/sample_feed.hpp"
#include "pipeline/waveform_peaks.hpp"
#include "timeline/grid.hpp"

namespace diarist {
namespace {

constexpr std::size_t kBlock = 16000;

// Calls use(samples) for all of the file, cleaned as for the networks.
template <typename Use>
void for_each_block(const std::filesystem::path& audio, const RunControl& control, const Use& use) {
  const std::unique_ptr<audio::Source> source = audio::open_file(audio, {.stop = control.stop});
  pipeline::SampleFeed feed(*source);
  std::vector<float> block(kBlock);
  for (;;) {
    base::check_stop(control.stop);
    const std::size_t count = feed.take(block);
    if (count == 0) break;
    use(std::span<const float>(block).first(count));
  }
  for (const std::string& warning : source->warnings())
    base::log(control, LogLevel::kWarning, warning);
}

void put(std::string& bytes, std::uint32_t value, int count) {
  for (int i = 0; i < count; ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xFFU);
}

// Header of 16-bit mono PCM with so many bytes of samples.
std::string wav_header(std::uint32_t data_bytes) {
  std::string header = "RIFF";
  put(header, 36 + data_bytes, 4);
  header += "WAVEfmt ";
  put(header, 16, 4);
  put(header, 1, 2);  // PCM
  put(header, 1, 2);  // one channel
  put(header, timeline::kSampleRate, 4);
  put(header, timeline::kSampleRate * 2, 4);
  put(header, 2, 2);
  put(header, 16, 2);
  header += "data";
  put(header, data_bytes, 4);
  return header;
}

}  // namespace

Waveform read_waveform(const std::filesystem::path& audio, const RunControl& control) {
  pipeline::WaveformPeaks peaks;
  for_each_block(audio, control, [&](std::span<const float> samples) { peaks.add(samples); });
  return peaks.finish();
}

std::string read_as_wav(const std::filesystem::path& audio, std::size_t most_bytes,
                        const RunControl& control) {
  std::string data;
  for_each_block(audio, control, [&](std::span<const float> samples) {
    for (const float sample : samples) {
      const long value = std::lround(std::clamp(sample, -1.0F, 1.0F) * 32768.0F);
      put(data, static_cast<std::uint32_t>(std::min(value, 32767L)), 2);
    }
    if (data.size() > std::min<std::size_t>(most_bytes, 0xFFFFFF00U))
      base::fail(ErrorCode::kInvalidArgument,
                 "{}: as WAV of 16 kHz it passes the limit of {} MB; give it as MP3, M4A, FLAC or "
                 "Ogg, or leave the audio out of the page",
                 audio.string(), most_bytes / 1000000);
  });
  return wav_header(static_cast<std::uint32_t>(data.size())) + data;
}

}  // namespace diarist
