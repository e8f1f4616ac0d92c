#include "base/npy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <optional>
#include <string_view>
#include <type_traits>

#include "base/byte_reader.hpp"
#include "base/file.hpp"
#include "base/zip.hpp"

namespace diarist::base {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kLargestHeader = std::size_t{1} << 20;
constexpr std::size_t kLargestRank = 64;
constexpr std::uint64_t kLargestArray = std::uint64_t{1} << 46;  // bytes; more is a lie
constexpr std::uint64_t kLargestArchive = std::uint64_t{4} << 30;

struct Header {
  std::string descr;
  bool fortran_order = false;
  Shape shape;
};

// The header is a Python dictionary of three entries: text, truth value, tuple of integers.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  Header parse() {
    std::optional<std::string> descr;
    std::optional<bool> order;
    std::optional<Shape> shape;
    expect('{');
    while (!accept('}')) {
      const std::string key = text();
      expect(':');
      if (key == "descr" && !descr) {
        descr = text();
      } else if (key == "fortran_order" && !order) {
        order = truth();
      } else if (key == "shape" && !shape) {
        shape = tuple();
      } else {
        damaged("unexpected key");
      }
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip();
    if (at_ != text_.size()) damaged("text behind the dictionary");
    if (!descr || !order || !shape) damaged("a key is missing");
    return {*descr, *order, *shape};
  }

 private:
  [[noreturn]] void damaged(std::string_view why) const {
    fail(ErrorCode::kBadFile, "{}: the header of the NumPy array can't be understood ({})", source_,
         why);
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }
  bool accept(char wanted) {
    skip();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) damaged("its punctuation is wrong");
  }
  std::string text() {
    skip();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote == '[') damaged("arrays of records are not supported");
    if (quote != '\'' && quote != '"') damaged("a text is missing");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) damaged("a text doesn't end");
    const std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }
  bool truth() {
    skip();
    for (const std::string_view word : {"True", "False"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return word == "True";
    }
    damaged("fortran_order is neither True nor False");
  }
  std::int64_t integer() {
    skip();
    std::int64_t value = 0;
    const std::size_t start = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      const int digit = text_[at_] - '0';
      if (value > (std::numeric_limits<std::int64_t>::max() - digit) / 10)
        damaged("a dimension is too large");
      value = value * 10 + digit;
    }
    if (at_ == start) damaged("a dimension is not a number");
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // written by Python 2
    return value;
  }
  Shape tuple() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      if (shape.size() == kLargestRank) damaged("too many dimensions");
      shape.push_back(integer());
      if (accept(',')) continue;
      expect(')');
      break;
    }
    return shape;
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t at_ = 0;
};

// Bytes per element of a type string such as "<f4"; 0 when the type isn't a plain value.
std::uint64_t item_bytes(const std::string& descr, const std::string& source) {
  const auto unknown = [&] {
    fail(ErrorCode::kBadFile, "{}: arrays of type '{}' are not supported", source, descr);
  };
  if (descr.size() < 3 || descr.size() > 10) unknown();
  const char order = descr[0], kind = descr[1];
  std::uint64_t count = 0;
  for (const char digit : std::string_view(descr).substr(2)) {
    if (digit < '0' || digit > '9') unknown();
    count = count * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  if (count == 0) unknown();
  if (order == '>' && count > 1 && kind != 'S' && kind != 'V') {
    fail(ErrorCode::kBadFile, "{}: big-endian arrays ('{}') are not supported; save as '<{}'",
         source, descr, descr.substr(1));
  }
  if (order != '<' && order != '|' && order != '=' && order != '>') unknown();
  const auto one_of = [&](std::initializer_list<std::uint64_t> sizes) {
    return std::find(sizes.begin(), sizes.end(), count) != sizes.end();
  };
  switch (kind) {
    case 'b':
      if (!one_of({1})) unknown();
      return count;
    case 'i':
    case 'u':
      if (!one_of({1, 2, 4, 8})) unknown();
      return count;
    case 'f':
      if (!one_of({2, 4, 8, 12, 16})) unknown();
      return count;
    case 'c':
      if (!one_of({8, 16})) unknown();
      return count;
    case 'S':
    case 'V':
      return count;
    case 'U':
      return 4 * count;
    default:
      unknown();
  }
  return 0;
}

// Number of bytes. Products over the non-zero dimensions are limited too, so that nobody who
// multiplies a prefix of the shape overflows.
std::uint64_t array_bytes(const Shape& shape, std::uint64_t item, const std::string& source) {
  std::uint64_t bytes = item;
  bool empty = false;
  for (const std::int64_t dim : shape) {
    if (dim == 0) empty = true;
    if (dim == 0) continue;
    if (static_cast<std::uint64_t>(dim) > kLargestArray / bytes)
      fail(ErrorCode::kBadFile, "{}: the shape of the array is impossibly large", source);
    bytes *= static_cast<std::uint64_t>(dim);
  }
  return empty ? 0 : bytes;
}

// Rewrites first-index-varies-first bytes in C order.
std::vector<std::byte> to_c_order(std::span<const std::byte> data, const Shape& shape,
                                  std::size_t item) {
  std::vector<std::byte> result(data.size());
  const std::size_t rank = shape.size();
  std::vector<std::size_t> stride(rank), index(rank, 0);
  std::size_t step = item;
  for (std::size_t d = 0; d < rank; ++d) {
    stride[d] = step;
    step *= static_cast<std::size_t>(shape[d]);
  }
  std::size_t from = 0;
  for (std::size_t to = 0; to < result.size(); to += item) {
    std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(from), item,
                result.begin() + static_cast<std::ptrdiff_t>(to));
    for (std::size_t d = rank; d-- > 0;) {  // count upwards, last index first
      from += stride[d];
      if (++index[d] < static_cast<std::size_t>(shape[d])) break;
      from -= stride[d] * index[d];
      index[d] = 0;
    }
  }
  return result;
}

template <typename T, typename U>
T convert(U value, const std::string& source) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else if constexpr (std::is_floating_point_v<U>) {
    // Bounds that are exact in double: -2^k and 2^k.
    const double number = static_cast<double>(value);
    const double upper = std::ldexp(1.0, std::numeric_limits<T>::digits);
    const double lower = std::is_signed_v<T> ? -upper : 0.0;
    if (!(number >= lower && number < upper) || std::trunc(number) != number)
      fail(ErrorCode::kBadFile, "{}: {} found where an integer in range is needed", source, number);
    return static_cast<T>(number);
  } else {
    if (!std::in_range<T>(value))
      fail(ErrorCode::kBadFile, "{}: {} does not fit the integer type needed", source, value);
    return static_cast<T>(value);
  }
}

template <typename T, typename U, typename Widen>
std::vector<T> convert_all(const std::vector<std::byte>& data, const std::string& source,
                           Widen widen) {
  std::vector<T> values(data.size() / sizeof(U));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = convert<T>(widen(load_le<U>(data.data() + i * sizeof(U))), source);
  return values;
}

template <typename T>
constexpr std::string_view descr_of() {
  if constexpr (std::is_same_v<T, float>) return "<f4";
  if constexpr (std::is_same_v<T, double>) return "<f8";
  if constexpr (std::is_same_v<T, std::uint8_t>) return "|u1";
  if constexpr (std::is_same_v<T, std::int8_t>) return "|i1";
  if constexpr (std::is_same_v<T, std::int32_t>) return "<i4";
  if constexpr (std::is_same_v<T, std::int64_t>) return "<i8";
}

}  // namespace

template <typename T>
std::vector<T> NpyArray::as(const std::string& source) const {
  const auto same = [](auto value) { return value; };
  const std::string type = descr.size() > 1 ? descr.substr(1) : std::string();
  if (type == "f4") return convert_all<T, float>(data, source, same);
  if (type == "f8") return convert_all<T, double>(data, source, same);
  if (type == "f2") return convert_all<T, std::uint16_t>(data, source, half_to_float);
  if (type == "i1") return convert_all<T, std::int8_t>(data, source, same);
  if (type == "i2") return convert_all<T, std::int16_t>(data, source, same);
  if (type == "i4") return convert_all<T, std::int32_t>(data, source, same);
  if (type == "i8") return convert_all<T, std::int64_t>(data, source, same);
  if (type == "u1") return convert_all<T, std::uint8_t>(data, source, same);
  if (type == "u2") return convert_all<T, std::uint16_t>(data, source, same);
  if (type == "u4") return convert_all<T, std::uint32_t>(data, source, same);
  if (type == "u8") return convert_all<T, std::uint64_t>(data, source, same);
  if (type == "b1") {
    return convert_all<T, std::uint8_t>(
        data, source, [](std::uint8_t value) { return static_cast<std::uint8_t>(value != 0); });
  }
  fail(ErrorCode::kBadFile, "{}: an array of numbers is needed, found type '{}'", source, descr);
}

template std::vector<float> NpyArray::as<float>(const std::string&) const;
template std::vector<double> NpyArray::as<double>(const std::string&) const;
template std::vector<std::int8_t> NpyArray::as<std::int8_t>(const std::string&) const;
template std::vector<std::int32_t> NpyArray::as<std::int32_t>(const std::string&) const;
template std::vector<std::int64_t> NpyArray::as<std::int64_t>(const std::string&) const;
template std::vector<std::uint8_t> NpyArray::as<std::uint8_t>(const std::string&) const;

NpyArray parse_npy(std::span<const std::byte> bytes, const std::string& source) {
  ByteReader reader(bytes, source);
  if (bytes.size() < kMagic.size() || as_text(bytes.first(kMagic.size())) != kMagic)
    fail(ErrorCode::kBadFile, "{}: not a NumPy array file", source);
  reader.take(kMagic.size(), "magic");
  const auto major = reader.le<std::uint8_t>("version");
  reader.le<std::uint8_t>("version");
  if (major < 1 || major > 3)
    fail(ErrorCode::kBadFile, "{}: version {} of the NumPy format is not known", source, major);
  const std::size_t length =
      major == 1 ? reader.le<std::uint16_t>("header length") : reader.le<std::uint32_t>("header");
  if (length > kLargestHeader)
    fail(ErrorCode::kBadFile, "{}: the header of the NumPy array is too long", source);
  const Header header = HeaderParser(as_text(reader.take(length, "header")), source).parse();
  const std::uint64_t item = item_bytes(header.descr, source);
  const std::uint64_t size = array_bytes(header.shape, item, source);
  const auto content = reader.take(size, "array");
  try {
    NpyArray array{header.descr, header.shape, {}};
    if (header.fortran_order && header.shape.size() > 1) {
      array.data = to_c_order(content, header.shape, static_cast<std::size_t>(item));
    } else {
      array.data.assign(content.begin(), content.end());
    }
    return array;
  } catch (const std::bad_alloc&) {
    fail(ErrorCode::kOutOfMemory, "{}: no memory for an array of {} bytes", source, size);
  }
}

NpyArray read_npy(const std::filesystem::path& file) {
  return parse_npy(MappedFile(file).bytes(), file.string());
}

std::map<std::string, NpyArray> parse_npz(std::span<const std::byte> bytes,
                                          const std::string& source) {
  constexpr std::string_view kEnding = ".npy";
  const ZipReader zip(bytes, source);
  std::map<std::string, NpyArray> arrays;
  std::uint64_t total = 0;
  for (const ZipEntry& entry : zip.entries()) {
    if (!entry.name.ends_with(kEnding)) continue;
    total += entry.size;  // each size is limited by the file's, so the sum can't wrap
    if (entry.size > kLargestArchive || total > kLargestArchive)
      fail(ErrorCode::kBadFile, "{}: the arrays are too large together", source);
    arrays.emplace(entry.name.substr(0, entry.name.size() - kEnding.size()),
                   parse_npy(zip.read(entry), source + ": " + entry.name));
  }
  return arrays;
}

std::map<std::string, NpyArray> read_npz(const std::filesystem::path& file) {
  return parse_npz(MappedFile(file).bytes(), file.string());
}

template <typename T>
std::vector<std::byte> to_npy(const Shape& shape, std::span<const T> values) {
  std::uint64_t count = 1;
  for (const std::int64_t dim : shape) count *= static_cast<std::uint64_t>(dim);
  if (count != values.size()) {
    fail(ErrorCode::kInvalidArgument, "array: the shape holds {} numbers, but {} were given", count,
         values.size());
  }
  std::string tuple;
  for (const std::int64_t dim : shape) tuple += fmt::format("{}, ", dim);
  if (shape.size() > 1) tuple.resize(tuple.size() - 2);
  if (shape.size() == 1) tuple.resize(tuple.size() - 1);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                   descr_of<T>(), tuple);
  const std::size_t fixed = kMagic.size() + 4;
  header.append(63 - (fixed + header.size()) % 64, ' ');  // the data starts at a multiple of 64
  header += '\n';
  if (header.size() > 0xffff)
    fail(ErrorCode::kInvalidArgument, "array: a shape of {} dimensions is too long", shape.size());
  std::string prefix(kMagic);
  prefix += '\x01';
  prefix += '\0';
  prefix += static_cast<char>(header.size() & 0xff);
  prefix += static_cast<char>(header.size() >> 8);
  prefix += header;
  std::vector<std::byte> bytes(prefix.size() + values.size_bytes());
  std::copy_n(std::as_bytes(std::span(prefix)).data(), prefix.size(), bytes.data());
  std::copy_n(std::as_bytes(values).data(), values.size_bytes(), bytes.data() + prefix.size());
  return bytes;
}

template std::vector<std::byte> to_npy<float>(const Shape&, std::span<const float>);
template std::vector<std::byte> to_npy<double>(const Shape&, std::span<const double>);
template std::vector<std::byte> to_npy<std::uint8_t>(const Shape&, std::span<const std::uint8_t>);
template std::vector<std::byte> to_npy<std::int8_t>(const Shape&, std::span<const std::int8_t>);
template std::vector<std::byte> to_npy<std::int32_t>(const Shape&, std::span<const std::int32_t>);
template std::vector<std::byte> to_npy<std::int64_t>(const Shape&, std::span<const std::int64_t>);

}  // namespace diarist::base
