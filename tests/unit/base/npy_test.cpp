#include "base/npy.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "base/file.hpp"
#include "support/support.hpp"
#include "unit/base/archives.hpp"
#include "unit/base/expect_error.hpp"

namespace diarist::base {
namespace {

using test::expect_error;
using test::make_npy;
using test::view;

std::string header(const std::string& descr, const std::string& shape,
                   const std::string& order = "False") {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}\n", descr, order,
                     shape);
}

template <typename T>
std::string raw(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

NpyArray parse(const std::string& bytes) { return parse_npy(view(bytes), "my.npy"); }

template <typename T>
void expect_type(const std::string& descr, const std::vector<T>& values,
                 const std::vector<double>& wanted) {
  const NpyArray array =
      parse(make_npy(header(descr, fmt::format("({},)", values.size())), raw(values)));
  EXPECT_EQ(array.descr, descr);
  EXPECT_EQ(array.as<double>("my.npy"), wanted) << descr;
}

TEST(Npy, EveryType) {
  expect_type<std::uint16_t>("<f2", {0x3c00, 0xc000, 0x0001}, {1, -2, std::ldexp(1.0, -24)});
  expect_type<float>("<f4", {1.5f, -0.1f}, {1.5, static_cast<double>(-0.1f)});
  expect_type<double>("<f8", {0.1, 1e300}, {0.1, 1e300});
  expect_type<std::int8_t>("|i1", {-128, 127}, {-128, 127});
  expect_type<std::int16_t>("<i2", {-300, 300}, {-300, 300});
  expect_type<std::int32_t>("<i4", {-70000, 70000}, {-70000, 70000});
  expect_type<std::int64_t>("<i8", {-2, std::int64_t{1} << 40}, {-2, 0x1p40});
  expect_type<std::uint8_t>("|u1", {0, 255}, {0, 255});
  expect_type<std::uint16_t>("<u2", {65535}, {65535});
  expect_type<std::uint32_t>("<u4", {4294967295u}, {4294967295.0});
  expect_type<std::uint64_t>("<u8", {std::uint64_t{1} << 63}, {0x1p63});
  expect_type<std::uint8_t>("|b1", {0, 1, 2}, {0, 1, 1});
}

TEST(Npy, VersionsOrdersAndShapes) {
  for (const int version : {1, 2, 3}) {
    const NpyArray array =
        parse(make_npy(header("<i4", "(2, 3)"), raw<std::int32_t>({1, 2, 3, 4, 5, 6}), version));
    EXPECT_EQ(array.shape, (Shape{2, 3}));
    EXPECT_EQ(array.as<std::int32_t>("x"), (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6}));
  }
  EXPECT_EQ(parse(make_npy(header("<i4", "()"), raw<std::int32_t>({7}))).shape, Shape{});
  EXPECT_EQ(parse(make_npy(header("<f4", "(0, 7)"), "")).shape, (Shape{0, 7}));
  const std::string two("{\"shape\": (1L,2L), \"fortran_order\":False, \"descr\":\"<i4\"}");
  EXPECT_EQ(parse(make_npy(two, raw<std::int32_t>({1, 2}))).shape, (Shape{1, 2}));
  // Bytes behind the array are NumPy's next array, not ours.
  EXPECT_EQ(parse(make_npy(header("|u1", "(1,)"), "\7\7\7")).data.size(), 1u);
}

// Element [i][j][k] holds 100i + 10j + k and lies where the first index varies first.
TEST(Npy, FortranOrder) {
  std::vector<std::int16_t> values;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) values.push_back(static_cast<std::int16_t>(100 * i + 10 * j + k));
  const auto array = parse(make_npy(header("<i2", "(2, 3, 4)", "True"), raw(values)));
  const auto numbers = array.as<std::int32_t>("x");
  std::size_t at = 0;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) ASSERT_EQ(numbers[at++], 100 * i + 10 * j + k);
  EXPECT_TRUE(parse(make_npy(header("<i2", "(2, 0, 4)", "True"), "")).data.empty());
}

TEST(Npy, IntegersMustFit) {
  const auto array = [](const char* descr, const std::string& data) {
    return parse(make_npy(header(descr, "(1,)"), data));
  };
  const auto refused = [](const NpyArray& values, auto type) {
    expect_error(ErrorCode::kBadFile, "my.npy", [&] { values.as<decltype(type)>("my.npy"); });
  };
  refused(array("<i8", raw<std::int64_t>({std::int64_t{1} << 31})), std::int32_t{});
  refused(array("<i4", raw<std::int32_t>({-1})), std::uint8_t{});
  refused(array("<u8", raw<std::uint64_t>({~std::uint64_t{0}})), std::int64_t{});
  refused(array("<f4", raw<float>({1.5f})), std::int32_t{});
  refused(array("<f8", raw<double>({std::nan("")})), std::int32_t{});
  refused(array("<f8", raw<double>({0x1p63})), std::int64_t{});
  EXPECT_EQ(array("<f8", raw<double>({-0x1p63})).as<std::int64_t>("x")[0],
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(array("<f4", raw<float>({-2.0f})).as<std::int32_t>("x")[0], -2);
}

TEST(Npy, Refusals) {
  const auto refused = [](const std::string& bytes, const char* why) {
    expect_error(ErrorCode::kBadFile, why, [&] { parse(bytes); });
  };
  refused("", "not a NumPy array");
  refused("PK\x03\x04 something else", "not a NumPy array");
  refused(make_npy(header("<f4", "(1,)"), "abcd", 4), "version 4");
  refused(make_npy(header("<f4", "(2,)"), "abcd"), "cut short");
  refused(make_npy(header("<f4", "(-1,)"), "abcd"), "not a number");
  refused(make_npy(header("<f4", "(99999999999999999999,)"), ""), "too large");
  refused(make_npy(header("<f4", "(4294967296, 4294967296, 4294967296)"), ""), "impossibly large");
  refused(make_npy(header("<f4", "(4294967296, 4294967296, 0)"), ""), "impossibly large");
  refused(make_npy(header("<f4", "(1 1)"), "abcd"), "punctuation");
  refused(make_npy(header("<f4", "(1,"), "abcd"), "not a number");
  refused(make_npy(header("<f4", "(1,)", "Maybe"), "abcd"), "fortran_order");
  refused(make_npy("{'descr': '<f4', 'shape': (1,)}", "abcd"), "key is missing");
  refused(make_npy("{'descr': '<f4', 'descr': '<f4'}", "abcd"), "unexpected key");
  refused(make_npy(header("<f4", "(1,)").append("x"), "abcd"), "behind the dictionary");
  refused(make_npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "abcd"),
          "records");
  refused(make_npy("{'descr': '<f4", "abcd"), "doesn't end");
  refused(make_npy(header(">f4", "(1,)"), "abcd"), "big-endian");
  for (const char* descr : {"|O", "|O8", "<f3", "<i16", "<f0", "f", "", "<f99999999999999", "<q4"})
    refused(make_npy(header(descr, "(1,)"), std::string(64, 'x')), "not supported");
  std::string deep = "(";
  for (int i = 0; i < 65; ++i) deep += "1,";
  refused(make_npy(header("<f4", deep.append(")")), "abcd"), "too many dimensions");
  std::string long_header = make_npy("", "", 2);
  long_header.replace(8, 4, "\xff\xff\xff\xff");
  refused(long_header, "too long");
  const NpyArray text = parse(make_npy(header("<U2", "(1,)"), "abcdefgh"));
  expect_error(ErrorCode::kBadFile, "'<U2'", [&] { text.as<float>("my.npy"); });
}

TEST(Npy, EveryTruncationIsRefused) {
  for (const int version : {1, 2}) {
    const std::string file = make_npy(header("<f4", "(2, 1)", "True"), raw<float>({1, 2}), version);
    EXPECT_EQ(test::count_valid_truncations(file, "cut.npy",
                                            [](auto bytes) { parse_npy(bytes, "cut.npy"); }),
              0);
  }
}

template <typename T>
void expect_round_trip(const Shape& shape, const std::vector<T>& values) {
  const std::vector<std::byte> bytes = to_npy<T>(shape, values);
  const NpyArray array = parse_npy(bytes, "written");
  EXPECT_EQ(array.shape, shape);
  EXPECT_EQ(array.as<T>("written"), values);
  EXPECT_EQ((bytes.size() - array.data.size()) % 64, 0u);  // NumPy's alignment of the data
}

TEST(Npy, RoundTrips) {
  expect_round_trip<float>({2, 1}, {1.25f, -3});
  expect_round_trip<double>({}, {0.1});
  expect_round_trip<std::uint8_t>({3}, {0, 1, 255});
  expect_round_trip<std::int8_t>({1, 1, 2}, {-2, 3});
  expect_round_trip<std::int32_t>({0, 3}, {});
  expect_round_trip<std::int64_t>({1}, {std::numeric_limits<std::int64_t>::min()});
  expect_error(ErrorCode::kInvalidArgument, "2 numbers",
               [] { to_npy<float>({2}, std::vector<float>{1}); });
}

// Byte for byte what numpy.save writes for np.array([[1, 2, 3]], dtype='<i4') (numpy 2.4).
TEST(Npy, SameBytesAsNumPy) {
  std::string wanted("\x93NUMPY\x01\x00\x76\x00", 10);
  wanted += "{'descr': '<i4', 'fortran_order': False, 'shape': (1, 3), }";
  wanted += std::string(128 - 1 - wanted.size(), ' ') + "\n";
  wanted += raw<std::int32_t>({1, 2, 3});
  const auto bytes = to_npy<std::int32_t>({1, 3}, std::vector<std::int32_t>{1, 2, 3});
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), wanted);
}

TEST(Npz, ReadsArraysByName) {
  const std::string array = make_npy(header("<i4", "(2,)"), raw<std::int32_t>({4, 5}));
  const std::string file =
      test::make_zip({{"a.npy", array}, {"b/c.npy", array, true}, {"readme.txt", "no array"}});
  const test::TempFolder folder;
  write_atomic(folder.path() / "x.npz", file);
  const auto arrays = read_npz(folder.path() / "x.npz");
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_EQ(arrays.at("a").as<std::int32_t>("a"), (std::vector<std::int32_t>{4, 5}));
  EXPECT_EQ(arrays.at("b/c").shape, Shape{2});
  EXPECT_EQ(test::count_valid_truncations(file, "cut.npz",
                                          [](auto bytes) { parse_npz(bytes, "cut.npz"); }),
            0);
  const std::string bad = test::make_zip({{"a.npy", array.substr(0, array.size() - 1)}});
  expect_error(ErrorCode::kBadFile, "bad.npz: a.npy", [&] { parse_npz(view(bad), "bad.npz"); });
  expect_error(ErrorCode::kNotFound, "no.npz", [&] { read_npz(folder.path() / "no.npz"); });
}

}  // namespace
}  // namespace diarist::base
