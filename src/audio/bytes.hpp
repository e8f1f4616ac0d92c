#pragma once
// Where encoded bytes come from. All readers go through this, so a file is opened once, names reach
// the system byte for byte, and no library opens anything by itself.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace diarist::audio {

/// Random access to the bytes of a recording. Not thread-safe.
class Bytes {
 public:
  virtual ~Bytes() = default;
  /// Reads up to out.size() bytes at `offset`; fewer only at the end. Bytes that are not seekable
  /// must be asked for in order. \throws Error kBadFile when the medium fails.
  virtual std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) = 0;
  /// Size when the bytes were opened; 0 for what is not seekable.
  virtual std::uint64_t size() const noexcept = 0;
  /// False for pipes and devices.
  virtual bool seekable() const noexcept = 0;
  /// Name for messages: the path, with control characters made visible.
  virtual const std::string& name() const noexcept = 0;
};

/// Opens a regular file or a pipe. \throws Error kNotFound; kBadFile for a folder, an empty file or
/// one that may not be read.
std::unique_ptr<Bytes> open_bytes(const std::filesystem::path& file);

/// Bytes in memory; they must outlive the object.
std::unique_ptr<Bytes> memory_bytes(std::span<const std::byte> bytes, std::string name);

}  // namespace diarist::audio
