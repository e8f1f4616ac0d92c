#pragma once
// The made-up recordings of data/speakers.npz.

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "cluster/speakers.hpp"
#include "support/golden.hpp"

namespace diarist::cluster {

struct Recording {
  int chunks = 0;
  int dim = 0;
  std::vector<std::uint8_t> activity;
  std::vector<float> embeddings;
  Input input() const { return {chunks, dim, activity, embeddings}; }
};

inline const test::Golden& speakers_golden() {
  static const test::Golden file(std::filesystem::path(DIARIST_GOLDEN) / "speakers.npz");
  return file;
}

inline Recording recording(int number) {
  const test::Golden& golden = speakers_golden();
  const std::string name = std::to_string(number);
  Recording made;
  made.chunks = static_cast<int>(golden.dim("emb" + name, 0));
  made.dim = static_cast<int>(golden.dim("emb" + name, 2));
  made.activity = test::activity_bits(
      golden.bits("seg" + name, static_cast<std::size_t>(made.chunks) * 589 * 3));
  made.embeddings = golden.get<float>("emb" + name);
  const auto holes = golden.get<std::uint8_t>("holes" + name);
  for (std::size_t i = 0; i < made.embeddings.size(); ++i)
    if (holes[i / static_cast<std::size_t>(made.dim)] != 0)
      made.embeddings[i] = std::numeric_limits<float>::quiet_NaN();
  return made;
}

/// Hints number i of the file; zero = not given.
inline SpeakerHints hints_of_case(int i) {
  const auto numbers = speakers_golden().get<std::int32_t>("hints");
  const auto hint = [&](int j) -> std::optional<int> {
    const int value = numbers.at(static_cast<std::size_t>(3 * i + j));
    return value > 0 ? std::optional<int>(value) : std::nullopt;
  };
  return {hint(0), hint(1), hint(2)};
}

}  // namespace diarist::cluster
