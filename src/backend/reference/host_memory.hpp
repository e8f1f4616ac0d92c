#pragma once
// Buffers in host memory and the queue that works on them at once.

#include <vector>

#include "backend/host_mark.hpp"

namespace diarist::backend::reference {

class HostBuffer final : public Buffer {
 public:
  explicit HostBuffer(std::size_t bytes) : storage_(bytes) {}
  std::size_t bytes() const noexcept override { return storage_.size(); }
  void* host() noexcept override { return storage_.data(); }

 private:
  std::vector<std::byte> storage_;
};

/// Memory of the caller.
class BorrowedBuffer final : public Buffer {
 public:
  BorrowedBuffer(void* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  std::size_t bytes() const noexcept override { return bytes_; }
  void* host() noexcept override { return data_; }

 private:
  void* data_;
  std::size_t bytes_;
};

/// Every call is complete when it returns. \throws Error kInternal for ranges outside of a buffer.
class HostQueue final : public HostMarkQueue {
 public:
  void upload(Buffer& target, std::size_t offset, std::span<const std::byte> source) override;
  void upload_pcm16(Buffer& target, std::size_t first,
                    std::span<const std::int16_t> source) override;
  void download(const Buffer& source, std::size_t offset, std::span<std::byte> target) override;
};

}  // namespace diarist::backend::reference
