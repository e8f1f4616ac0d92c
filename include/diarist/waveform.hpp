#pragma once
/// \file
/// The outline of a recording, small enough to keep: for pictures.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "diarist/export.hpp"
#include "diarist/run_control.hpp"

namespace diarist {

/// Loudness of every 10 ms of a recording (mono, after down-mix and resampling). A level is a byte
/// under a square-root law, so that quiet recordings keep their shape: level = round(255 *
/// sqrt(|amplitude|)), amplitude = (level / 255)^2; full scale and beyond is 255.
struct Waveform {
  static constexpr int kLevelsPerSecond = 100;
  double duration = 0;              ///< seconds of audio
  std::vector<std::uint8_t> peak;   ///< largest |sample| of each 10 ms; the last may be shorter
  std::vector<std::uint8_t> power;  ///< root of the mean square, as many
};

/// Decodes a file from start to end and keeps its outline; memory grows by 200 bytes per second.
/// \throws Error kNotFound, kBadFile, kUnsupported, kCancelled.
DIARIST_API Waveform read_waveform(const std::filesystem::path& audio,
                                   const RunControl& control = {});

/// Decodes a file and writes it anew as 16-bit WAV, 16 kHz mono: what every browser plays.
/// \param most_bytes limit of the result. \throws Error kInvalidArgument naming the limit, and as
/// read_waveform().
DIARIST_API std::string read_as_wav(const std::filesystem::path& audio, std::size_t most_bytes,
                                    const RunControl& control = {});

}  // namespace diarist
