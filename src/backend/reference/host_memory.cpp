#include "backend/reference/host_memory.hpp"

#include <cstring>

#include "base/error.hpp"

namespace diarist::backend::reference {
namespace {

std::byte* address(Buffer& buffer, std::size_t offset, std::size_t bytes) {
  if (offset > buffer.bytes() || bytes > buffer.bytes() - offset) {
    base::fail(ErrorCode::kInternal, "bytes {} to {} are outside of a buffer of {} bytes", offset,
               offset + bytes, buffer.bytes());
  }
  return static_cast<std::byte*>(buffer.host()) + offset;
}

}  // namespace

void HostQueue::upload(Buffer& target, std::size_t offset, std::span<const std::byte> source) {
  std::byte* to = address(target, offset, source.size());
  if (!source.empty()) std::memcpy(to, source.data(), source.size());
}

void HostQueue::upload_pcm16(Buffer& target, std::size_t first,
                             std::span<const std::int16_t> source) {
  std::byte* to = address(target, 4 * first, 4 * source.size());
  convert(source, reinterpret_cast<float*>(to));
}

void HostQueue::download(const Buffer& source, std::size_t offset, std::span<std::byte> target) {
  // host() gives a writable address and is therefore not const; this only reads from it.
  const std::byte* from = address(const_cast<Buffer&>(source), offset, target.size());
  if (!target.empty()) std::memcpy(target.data(), from, target.size());
}

}  // namespace diarist::backend::reference
