#pragma once
// Zip archives built in memory, for tests and fuzz seeds: the counterpart of base/zip.hpp, written
// from the format's description so that reader and writer do not share mistakes.

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace diarist::test {

inline std::vector<std::byte> to_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

template <typename T>
void put(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    out += static_cast<char>((static_cast<std::uint64_t>(value) >> (8 * i)) & 0xff);
}

struct Packed {
  std::string name;
  std::string content;
  bool deflate = false;
  bool descriptor = false;  // sizes behind the data, zeros in the local header
  bool wide = false;        // sizes and offset in Zip64 fields
};

inline std::string raw_deflate(const std::string& content) {
  z_stream stream{};
  if (deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("deflateInit2");
  std::string packed(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("deflate");
  return packed;
}

/// The bytes of an archive; with `wide_end` the directory is described by Zip64 records too.
inline std::string make_zip(const std::vector<Packed>& entries, bool wide_end = false,
                            const std::string& comment = "") {
  std::string out, directory;
  for (const Packed& entry : entries) {
    const std::string packed = entry.deflate ? raw_deflate(entry.content) : entry.content;
    const auto crc =
        static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(entry.content.data()),
                                         static_cast<uInt>(entry.content.size())));
    const std::uint16_t flags = entry.descriptor ? 8 : 0;
    const std::uint16_t method = entry.deflate ? 8 : 0;
    const std::size_t offset = out.size();
    put<std::uint32_t>(out, 0x04034b50);
    put<std::uint16_t>(out, entry.wide ? 45 : 20);
    put<std::uint16_t>(out, flags);
    put<std::uint16_t>(out, method);
    put<std::uint32_t>(out, 0);
    put<std::uint32_t>(out, entry.descriptor ? 0 : crc);
    put<std::uint32_t>(out, entry.descriptor ? 0 : static_cast<std::uint32_t>(packed.size()));
    put<std::uint32_t>(out,
                       entry.descriptor ? 0 : static_cast<std::uint32_t>(entry.content.size()));
    put<std::uint16_t>(out, static_cast<std::uint16_t>(entry.name.size()));
    put<std::uint16_t>(out, 0);
    out += entry.name + packed;
    if (entry.descriptor) {
      put<std::uint32_t>(out, 0x08074b50);
      put<std::uint32_t>(out, crc);
      put<std::uint32_t>(out, static_cast<std::uint32_t>(packed.size()));
      put<std::uint32_t>(out, static_cast<std::uint32_t>(entry.content.size()));
    }
    const std::uint32_t all_ones = 0xffffffff;
    std::string extra;
    if (entry.wide) {
      put<std::uint16_t>(extra, 1);
      put<std::uint16_t>(extra, 24);
      put<std::uint64_t>(extra, entry.content.size());
      put<std::uint64_t>(extra, packed.size());
      put<std::uint64_t>(extra, offset);
    }
    put<std::uint32_t>(directory, 0x02014b50);
    put<std::uint16_t>(directory, 45);
    put<std::uint16_t>(directory, 45);
    put<std::uint16_t>(directory, flags);
    put<std::uint16_t>(directory, method);
    put<std::uint32_t>(directory, 0);
    put<std::uint32_t>(directory, crc);
    put<std::uint32_t>(directory,
                       entry.wide ? all_ones : static_cast<std::uint32_t>(packed.size()));
    put<std::uint32_t>(directory,
                       entry.wide ? all_ones : static_cast<std::uint32_t>(entry.content.size()));
    put<std::uint16_t>(directory, static_cast<std::uint16_t>(entry.name.size()));
    put<std::uint16_t>(directory, static_cast<std::uint16_t>(extra.size()));
    put<std::uint16_t>(directory, 0);
    put<std::uint64_t>(directory, 0);
    put<std::uint32_t>(directory, entry.wide ? all_ones : static_cast<std::uint32_t>(offset));
    directory += entry.name + extra;
  }
  const std::size_t start = out.size();
  out += directory;
  if (wide_end) {
    const std::size_t end64 = out.size();
    put<std::uint32_t>(out, 0x06064b50);
    put<std::uint64_t>(out, 44);
    put<std::uint32_t>(out, 45 | 45 << 16);
    put<std::uint64_t>(out, 0);
    put<std::uint64_t>(out, entries.size());
    put<std::uint64_t>(out, entries.size());
    put<std::uint64_t>(out, directory.size());
    put<std::uint64_t>(out, start);
    put<std::uint32_t>(out, 0x07064b50);
    put<std::uint32_t>(out, 0);
    put<std::uint64_t>(out, end64);
    put<std::uint32_t>(out, 1);
  }
  put<std::uint32_t>(out, 0x06054b50);
  put<std::uint32_t>(out, 0);
  const auto count = wide_end ? std::uint16_t{0xffff} : static_cast<std::uint16_t>(entries.size());
  put<std::uint16_t>(out, count);
  put<std::uint16_t>(out, count);
  put<std::uint32_t>(out, wide_end ? 0xffffffff : static_cast<std::uint32_t>(directory.size()));
  put<std::uint32_t>(out, wide_end ? 0xffffffff : static_cast<std::uint32_t>(start));
  put<std::uint16_t>(out, static_cast<std::uint16_t>(comment.size()));
  return out + comment;
}

/// The bytes of a NumPy file with a header given word by word.
inline std::string make_npy(const std::string& header, const std::string& data, int version = 1) {
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  if (version == 1) put<std::uint16_t>(out, static_cast<std::uint16_t>(header.size()));
  if (version != 1) put<std::uint32_t>(out, static_cast<std::uint32_t>(header.size()));
  return out + header + data;
}

}  // namespace diarist::test
