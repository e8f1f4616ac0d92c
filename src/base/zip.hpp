#pragma once
// Zip archives read from memory: stored and deflated entries, Zip64. Nothing is written to disk.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace diarist::base {

struct ZipEntry {
  std::string name;
  std::uint64_t size = 0;  // uncompressed
  std::uint64_t compressed_size = 0;
  std::uint32_t crc32 = 0;
  std::uint16_t method = 0;  // 0 stored, 8 deflated
  std::uint64_t header_offset = 0;
};

/// The bytes must outlive the reader. Every offset is checked before it is used; sizes are limited
/// by `max_entry_bytes`, so a small archive can't ask for the whole memory.
class ZipReader {
 public:
  /// \throws Error kBadFile naming `source`.
  ZipReader(std::span<const std::byte> bytes, std::string source,
            std::uint64_t max_entry_bytes = std::uint64_t{4} << 30);
  const std::vector<ZipEntry>& entries() const noexcept { return entries_; }
  const ZipEntry* find(const std::string& name) const noexcept;
  /// Content, checked against size and CRC. \throws Error kBadFile.
  std::vector<std::byte> read(const ZipEntry& entry) const;
  /// Bytes of a stored entry inside the archive, without a copy and without a CRC check.
  std::span<const std::byte> stored(const ZipEntry& entry) const;

 private:
  std::span<const std::byte> bytes_;
  std::string source_;
  std::uint64_t max_entry_bytes_;
  std::vector<ZipEntry> entries_;
  std::vector<std::size_t> by_name_;  // indices into entries_, sorted
};

}  // namespace diarist::base
