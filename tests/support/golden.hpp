#pragma once
// Expected values that lie beside the tests as .npz files.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/npy.hpp"

namespace diarist::test {

/// Arrays of one file by name.
class Golden {
 public:
  explicit Golden(const std::filesystem::path& file)
      : source_(file.string()), arrays_(base::read_npz(file)) {}

  bool has(const std::string& name) const { return arrays_.count(name) > 0; }

  template <typename T>
  std::vector<T> get(const std::string& name) const {
    return arrays_.at(name).as<T>(source_ + ":" + name);
  }

  std::size_t dim(const std::string& name, std::size_t axis) const {
    return static_cast<std::size_t>(arrays_.at(name).shape.at(axis));
  }

  std::string text(const std::string& name) const {
    const auto bytes = get<std::uint8_t>(name);
    return {bytes.begin(), bytes.end()};
  }

  /// Number of numbered cases in the file.
  int cases() const { return get<std::int32_t>("cases").at(0); }

  /// numpy.packbits unpacked to `count` values 0 or 1.
  std::vector<std::uint8_t> bits(const std::string& name, std::size_t count) const {
    const auto packed = get<std::uint8_t>(name);
    std::vector<std::uint8_t> values(count);
    for (std::size_t i = 0; i < count; ++i)
      values[i] = static_cast<std::uint8_t>((packed.at(i / 8) >> (7 - i % 8)) & 1);
    return values;
  }

 private:
  std::string source_;
  std::map<std::string, base::NpyArray> arrays_;
};

/// [.., 3] values 0 or 1 -> one byte with three bits per frame.
inline std::vector<std::uint8_t> activity_bits(const std::vector<std::uint8_t>& cells) {
  std::vector<std::uint8_t> activity(cells.size() / 3);
  for (std::size_t i = 0; i < activity.size(); ++i)
    activity[i] =
        static_cast<std::uint8_t>(cells[3 * i] | cells[3 * i + 1] << 1 | cells[3 * i + 2] << 2);
  return activity;
}

}  // namespace diarist::test
