#include "base/zip.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>
#include <numeric>

#include "base/byte_reader.hpp"

namespace diarist::base {
namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kCentralHeader = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::uint32_t kEnd64 = 0x06064b50;
constexpr std::uint32_t kLocator64 = 0x07064b50;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kLocatorBytes = 20;
constexpr std::size_t kLocalBytes = 30;
constexpr std::size_t kCentralBytes = 46;
// Deflate can't expand beyond 1032:1; more is claimed only by an archive that lies.
constexpr std::uint64_t kLargestRatio = 1032;
constexpr std::uint32_t kIn64 = 0xffffffff;

struct Directory {
  std::uint64_t offset;
  std::uint64_t size;
  std::uint64_t entries;
};

std::size_t find_end(std::span<const std::byte> bytes, const std::string& source) {
  if (bytes.size() >= kEndBytes) {
    const std::size_t last = bytes.size() - kEndBytes;
    const std::size_t lowest = last > 0xffff ? last - 0xffff : 0;
    for (std::size_t at = last + 1; at-- > lowest;) {
      if (load_le<std::uint32_t>(&bytes[at]) != kEnd) continue;
      if (load_le<std::uint16_t>(&bytes[at + 20]) == last - at) return at;
    }
  }
  fail(ErrorCode::kBadFile, "{}: not a zip archive, or cut short (its directory is missing)",
       source);
}

Directory find_directory(std::span<const std::byte> bytes, const std::string& source) {
  const std::size_t end = find_end(bytes, source);
  ByteReader reader(bytes.subspan(end + 4), source);
  const auto disk = reader.le<std::uint16_t>("disk number");
  const auto first_disk = reader.le<std::uint16_t>("disk number");
  const auto here = reader.le<std::uint16_t>("entry count");
  Directory directory{};
  directory.entries = reader.le<std::uint16_t>("entry count");
  directory.size = reader.le<std::uint32_t>("directory size");
  directory.offset = reader.le<std::uint32_t>("directory offset");
  const bool located =
      end >= kLocatorBytes && load_le<std::uint32_t>(&bytes[end - kLocatorBytes]) == kLocator64;
  std::size_t directory_limit = end;
  if (located) {
    const auto at = load_le<std::uint64_t>(&bytes[end - kLocatorBytes + 8]);
    if (at > end - kLocatorBytes)
      fail(ErrorCode::kBadFile, "{}: the Zip64 directory lies outside the file", source);
    directory_limit = static_cast<std::size_t>(at);
    ByteReader wide(bytes.subspan(directory_limit), source);
    if (wide.le<std::uint32_t>("Zip64 end record") != kEnd64)
      fail(ErrorCode::kBadFile, "{}: the Zip64 directory is damaged", source);
    wide.take(8 + 2 + 2, "Zip64 end record");
    const auto disks = wide.le<std::uint64_t>("Zip64 disk numbers");
    const auto here64 = wide.le<std::uint64_t>("Zip64 entry count");
    directory.entries = wide.le<std::uint64_t>("Zip64 entry count");
    directory.size = wide.le<std::uint64_t>("Zip64 directory size");
    directory.offset = wide.le<std::uint64_t>("Zip64 directory offset");
    if (disks != 0 || here64 != directory.entries)
      fail(ErrorCode::kBadFile, "{}: archives in several parts can't be read", source);
  } else if (disk != 0 || first_disk != 0 || here != directory.entries) {
    fail(ErrorCode::kBadFile, "{}: archives in several parts can't be read", source);
  }
  if (directory.offset > directory_limit || directory.size > directory_limit - directory.offset)
    fail(ErrorCode::kBadFile, "{}: the zip directory lies outside the file", source);
  if (directory.entries > directory.size / kCentralBytes)
    fail(ErrorCode::kBadFile, "{}: the zip directory is shorter than its entry count", source);
  return directory;
}

// Replaces the sizes and offset that don't fit in 32 bits by those of the Zip64 extra field.
void widen(ZipEntry& entry, std::span<const std::byte> extra, const std::string& source) {
  const bool needed =
      entry.size == kIn64 || entry.compressed_size == kIn64 || entry.header_offset == kIn64;
  ByteReader reader(extra, source);
  while (needed && reader.remaining() >= 4) {
    const auto id = reader.le<std::uint16_t>("extra field");
    const auto length = reader.le<std::uint16_t>("extra field");
    const auto field = reader.take(length, "extra field");
    if (id != 1) continue;
    ByteReader wide(field, source);
    if (entry.size == kIn64) entry.size = wide.le<std::uint64_t>("Zip64 size");
    if (entry.compressed_size == kIn64)
      entry.compressed_size = wide.le<std::uint64_t>("Zip64 size");
    if (entry.header_offset == kIn64) entry.header_offset = wide.le<std::uint64_t>("Zip64 offset");
    return;
  }
}

ZipEntry read_central(ByteReader& reader, const std::string& source) {
  if (reader.le<std::uint32_t>("directory entry") != kCentralHeader)
    fail(ErrorCode::kBadFile, "{}: the zip directory is damaged", source);
  ZipEntry entry;
  reader.take(4, "directory entry");  // versions
  const auto flags = reader.le<std::uint16_t>("directory entry");
  entry.method = reader.le<std::uint16_t>("directory entry");
  reader.take(4, "directory entry");  // time and date
  entry.crc32 = reader.le<std::uint32_t>("directory entry");
  entry.compressed_size = reader.le<std::uint32_t>("directory entry");
  entry.size = reader.le<std::uint32_t>("directory entry");
  const auto name_length = reader.le<std::uint16_t>("directory entry");
  const auto extra_length = reader.le<std::uint16_t>("directory entry");
  const auto comment_length = reader.le<std::uint16_t>("directory entry");
  reader.take(8, "directory entry");  // disk and attributes
  entry.header_offset = reader.le<std::uint32_t>("directory entry");
  entry.name = as_text(reader.take(name_length, "entry name"));
  widen(entry, reader.take(extra_length, "extra field"), source);
  reader.take(comment_length, "entry comment");
  if (flags & 1) fail(ErrorCode::kBadFile, "{}: entry {} is encrypted", source, entry.name);
  if (entry.method == 0 && entry.size != entry.compressed_size)
    fail(ErrorCode::kBadFile, "{}: entry {} has two sizes", source, entry.name);
  if (entry.method == 8 && entry.size / kLargestRatio > entry.compressed_size)
    fail(ErrorCode::kBadFile, "{}: entry {} claims an impossible size", source, entry.name);
  return entry;
}

// Compressed bytes of an entry. The sizes come from the directory: the local header may leave them
// to a data descriptor behind the data.
std::span<const std::byte> entry_data(std::span<const std::byte> bytes, const ZipEntry& entry,
                                      const std::string& source) {
  if (entry.header_offset > bytes.size())
    fail(ErrorCode::kBadFile, "{}: entry {} lies outside the file", source, entry.name);
  ByteReader reader(bytes.subspan(static_cast<std::size_t>(entry.header_offset)), source);
  const auto header = reader.take(kLocalBytes, "entry header");
  const auto name_length = load_le<std::uint16_t>(&header[26]);
  const auto extra_length = load_le<std::uint16_t>(&header[28]);
  if (load_le<std::uint32_t>(header.data()) != kLocalHeader ||
      as_text(reader.take(name_length, "entry name")) != entry.name)
    fail(ErrorCode::kBadFile, "{}: the header of entry {} is damaged", source, entry.name);
  reader.take(extra_length, "extra field");
  return reader.take(entry.compressed_size, entry.name);
}

std::vector<std::byte> inflate_entry(std::span<const std::byte> packed, const ZipEntry& entry,
                                     const std::string& source) {
  std::vector<std::byte> content(static_cast<std::size_t>(entry.size));
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    fail(ErrorCode::kOutOfMemory, "{}: no memory to unpack entry {}", source, entry.name);
  std::size_t in = 0, out = 0;
  int status = Z_OK;
  Bytef spare = 0;  // where output beyond the promised size would go
  while (status == Z_OK) {
    constexpr std::size_t kPiece = std::size_t{1} << 30;  // zlib counts in 32 bits
    const std::size_t give = std::min(packed.size() - in, kPiece);
    const std::size_t room = std::min(content.size() - out, kPiece);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data() + in));
    stream.avail_in = static_cast<uInt>(give);
    stream.next_out = room > 0 ? reinterpret_cast<Bytef*>(content.data() + out) : &spare;
    stream.avail_out = room > 0 ? static_cast<uInt>(room) : 1;
    status = inflate(&stream, Z_NO_FLUSH);
    in += give - stream.avail_in;
    const std::size_t made = (room > 0 ? room : 1) - stream.avail_out;
    if (room == 0 && made > 0) status = Z_DATA_ERROR;  // longer than promised
    if (room > 0) out += made;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || in != packed.size() || out != content.size())
    fail(ErrorCode::kBadFile, "{}: entry {} is damaged (deflate data)", source, entry.name);
  return content;
}

}  // namespace

ZipReader::ZipReader(std::span<const std::byte> bytes, std::string source,
                     std::uint64_t max_entry_bytes)
    : bytes_(bytes), source_(std::move(source)), max_entry_bytes_(max_entry_bytes) {
  const Directory directory = find_directory(bytes_, source_);
  ByteReader reader(bytes_.subspan(static_cast<std::size_t>(directory.offset),
                                   static_cast<std::size_t>(directory.size)),
                    source_);
  entries_.reserve(static_cast<std::size_t>(directory.entries));
  for (std::uint64_t i = 0; i < directory.entries; ++i)
    entries_.push_back(read_central(reader, source_));

  by_name_.resize(entries_.size());
  std::iota(by_name_.begin(), by_name_.end(), std::size_t{0});
  std::sort(by_name_.begin(), by_name_.end(),
            [&](std::size_t a, std::size_t b) { return entries_[a].name < entries_[b].name; });
  for (std::size_t i = 1; i < by_name_.size(); ++i) {
    if (entries_[by_name_[i - 1]].name == entries_[by_name_[i]].name)
      fail(ErrorCode::kBadFile, "{}: entry {} appears twice", source_, entries_[by_name_[i]].name);
  }
  // Entries that share bytes are how a small archive unfolds into a huge one.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  ranges.reserve(entries_.size());
  const auto body = bytes_.first(static_cast<std::size_t>(directory.offset));
  for (const ZipEntry& entry : entries_) {
    const auto data = entry_data(body, entry, source_);
    ranges.emplace_back(entry.header_offset,
                        static_cast<std::uint64_t>(data.data() - bytes_.data()) + data.size());
  }
  std::sort(ranges.begin(), ranges.end());
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first < ranges[i - 1].second)
      fail(ErrorCode::kBadFile, "{}: entries of the archive overlap", source_);
  }
}

const ZipEntry* ZipReader::find(const std::string& name) const noexcept {
  const auto found = std::lower_bound(
      by_name_.begin(), by_name_.end(), name,
      [&](std::size_t index, const std::string& wanted) { return entries_[index].name < wanted; });
  return found != by_name_.end() && entries_[*found].name == name ? &entries_[*found] : nullptr;
}

std::vector<std::byte> ZipReader::read(const ZipEntry& entry) const {
  if (entry.size > max_entry_bytes_) {
    fail(ErrorCode::kBadFile, "{}: entry {} has {} bytes, more than the limit of {}", source_,
         entry.name, entry.size, max_entry_bytes_);
  }
  const auto packed = entry_data(bytes_, entry, source_);
  std::vector<std::byte> content;
  try {
    if (entry.method == 0) {
      content.assign(packed.begin(), packed.end());
    } else if (entry.method == 8) {
      content = inflate_entry(packed, entry, source_);
    } else {
      fail(ErrorCode::kBadFile, "{}: entry {} uses compression method {}; pack it with deflate",
           source_, entry.name, entry.method);
    }
  } catch (const std::bad_alloc&) {
    fail(ErrorCode::kOutOfMemory, "{}: no memory for entry {} ({} bytes)", source_, entry.name,
         entry.size);
  }
  const auto* data = reinterpret_cast<const Bytef*>(content.data());
  if (crc32_z(crc32_z(0, nullptr, 0), data, content.size()) != entry.crc32)
    fail(ErrorCode::kBadFile, "{}: entry {} is damaged (checksum)", source_, entry.name);
  return content;
}

std::span<const std::byte> ZipReader::stored(const ZipEntry& entry) const {
  if (entry.method != 0)
    fail(ErrorCode::kBadFile, "{}: entry {} is compressed, expected it stored", source_,
         entry.name);
  return entry_data(bytes_, entry, source_);
}

}  // namespace diarist::base
