// PNG by hand: a header, one block of deflated rows, an end (RFC 2083).

#include <zlib.h>

#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "diarist/report.hpp"
#include "output/report/raster.hpp"

namespace diarist {
namespace {

constexpr int kScale = 2;

void put_32(std::string& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>((value >> shift) & 0xFFU);
}

void put_chunk(std::string& png, const std::string& type, const std::string& data) {
  put_32(png, static_cast<std::uint32_t>(data.size()));
  const std::string body = type + data;
  png += body;
  put_32(png, static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(body.data()),
                                               static_cast<uInt>(body.size()))));
}

// Every row with filter 1: differences to the pixel on the left, mostly zero in a plot.
std::string filtered_rows(const output::Image& image) {
  const auto stride = static_cast<std::size_t>(image.width) * 3;
  std::string rows;
  rows.reserve((stride + 1) * static_cast<std::size_t>(image.height));
  for (int y = 0; y < image.height; ++y) {
    const std::uint8_t* row = &image.pixels[static_cast<std::size_t>(y) * stride];
    rows += '\1';
    for (std::size_t i = 0; i < stride; ++i)
      rows += static_cast<char>(row[i] - (i >= 3 ? row[i - 3] : 0));
  }
  return rows;
}

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string packed(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()),
                9) != Z_OK)
    base::fail(ErrorCode::kOutOfMemory, "not enough memory to write a PNG");
  packed.resize(size);
  return packed;
}

}  // namespace

std::string to_png(const Diarization& result, const PlotOptions& options) {
  const output::Image image = output::rasterize(output::make_plot(result, options), kScale);
  std::string png = "\x89PNG\r\n\x1A\n";
  std::string header;
  put_32(header, static_cast<std::uint32_t>(image.width));
  put_32(header, static_cast<std::uint32_t>(image.height));
  header += std::string("\x08\x02\x00\x00\x00", 5);  // 8 bits, RGB, deflate, no interlace
  put_chunk(png, "IHDR", header);
  put_chunk(png, "IDAT", deflated(filtered_rows(image)));
  put_chunk(png, "IEND", "");
  return png;
}

}  // namespace diarist
