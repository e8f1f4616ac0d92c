#pragma once
// Bytes in memory that behave like a pipe: in order only, in odd portions, of unknown size.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "audio/bytes.hpp"
#include "audio/source.hpp"
#include "base/error.hpp"

namespace diarist::test {

class OneWayBytes final : public audio::Bytes {
 public:
  explicit OneWayBytes(std::string bytes) : bytes_(std::move(bytes)) {}
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) override {
    if (offset != position_) base::fail(ErrorCode::kInternal, "read out of order");
    portion_ = portion_ * 5 % 7919 + 1;
    const std::size_t count = std::min({out.size(), bytes_.size() - position_, portion_});
    std::copy_n(reinterpret_cast<const std::byte*>(bytes_.data()) + position_, count, out.begin());
    position_ += count;
    return count;
  }
  std::uint64_t size() const noexcept override { return 0; }
  bool seekable() const noexcept override { return false; }
  const std::string& name() const noexcept override { return name_; }
  std::unique_ptr<audio::Bytes> again() const override { return nullptr; }

 private:
  std::string bytes_;
  std::string name_ = "pipe";
  std::size_t position_ = 0;
  std::size_t portion_ = 1;
};

/// A source over bytes that come through a pipe.
inline std::unique_ptr<audio::Source> pipe_source(std::string bytes,
                                                  const audio::SourceOptions& options = {}) {
  return audio::open_encoded(std::make_unique<OneWayBytes>(std::move(bytes)), options);
}

}  // namespace diarist::test
