#pragma once
// Recordings and expected results of the parity tests.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/npy.hpp"
#include "diarist/formats.hpp"
#include "diarist/scoring.hpp"
#include "support/support.hpp"

namespace diarist::test {

inline std::filesystem::path data(const std::string& path) {
  return shared_folder().empty() ? std::filesystem::path() : shared_folder() / "data" / path;
}

/// 02, 04, 05 are captured clips, "sample" comes from the package; devN and trnNN are FLAC.
inline std::filesystem::path recording(const std::string& name) {
  if (name == "sample") return sample_folder() / "sample.wav";
  if (name.rfind("dev", 0) == 0) return data("conversations/" + name + ".flac");
  if (name.size() > 2) return data("human/" + name + ".flac");
  return data("captures/" + name + "/clip_16k.wav");
}

inline std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// Cells (window, frame, speaker) in which two activities differ.
inline int differing_cells(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  if (a.size() != b.size()) return -1;
  int count = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    count += std::popcount(static_cast<unsigned>(a[i] ^ b[i]));
  return count;
}

/// DER of a result against a truth file; the uris may differ.
inline Score score_against(const Diarization& result, const std::filesystem::path& truth) {
  return score_files(read_rttm(truth), parse_rttm(to_rttm(result), "result")).total;
}

}  // namespace diarist::test
