#pragma once
// A source that hands out given samples in short reads.

#include <algorithm>
#include <string>
#include <vector>

#include "audio/source.hpp"

namespace diarist::test {

class MemorySource final : public audio::Source {
 public:
  explicit MemorySource(std::vector<float> samples) : samples_(std::move(samples)) {}
  std::size_t read(std::span<float> out) override {
    const std::size_t count = std::min(out.size(), samples_.size() - used_);
    std::copy_n(samples_.begin() + static_cast<std::ptrdiff_t>(used_), count, out.begin());
    used_ += count;
    return count;
  }
  std::int64_t expected_samples() const noexcept override { return 0; }
  const std::vector<std::string>& warnings() const noexcept override { return warnings_; }

 private:
  std::vector<float> samples_;
  std::size_t used_ = 0;
  std::vector<std::string> warnings_;
};

}  // namespace diarist::test
