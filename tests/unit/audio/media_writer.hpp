#pragma once
// Containers that only FFmpeg reads, written through FFmpeg for tests.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace diarist::test {

struct MediaTrack {
  std::vector<float> samples;  ///< mono
  int sample_rate = 16000;
  double start = 0;   ///< time stamp of the first sample, in seconds
  double gap_at = 0;  ///< where time stamps jump, in seconds of samples
  double gap = 0;     ///< by so many seconds
  std::int64_t bit_rate = 64000;
};

/// Writes the tracks with the container and codec of these FFmpeg names ("matroska", "pcm_s16le").
/// False when this FFmpeg lacks one of them.
bool write_media(const std::filesystem::path& file, const std::string& container,
                 const std::string& codec, std::span<const MediaTrack> tracks);

}  // namespace diarist::test
