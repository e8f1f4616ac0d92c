#include "base/byte_reader.hpp"

#include <cmath>
#include <limits>

#include "unit/base/expect_error.hpp"

namespace diarist::base {
namespace {

TEST(ByteReader, StopsAtTheEnd) {
  const std::string text = "\x01\x02\x03\x04\x05";
  ByteReader reader(test::view(text), "some.file");
  EXPECT_EQ(reader.le<std::uint32_t>("number"), 0x04030201u);
  EXPECT_EQ(reader.remaining(), 1u);
  test::expect_error(ErrorCode::kBadFile, "some.file", [&] { reader.le<std::uint16_t>("number"); });
  test::expect_error(ErrorCode::kBadFile, "number",
                     [&] { reader.take(std::numeric_limits<std::uint64_t>::max(), "number"); });
  EXPECT_EQ(reader.take(1, "rest").size(), 1u);
  EXPECT_TRUE(reader.at_end());
  EXPECT_EQ(reader.take(0, "nothing").size(), 0u);
}

// Every 16-bit pattern against its definition: sign * 2^(e-15) * (1 + f/1024), or 2^-14 * f/1024.
TEST(HalfToFloat, AllPatterns) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const double fraction = bits & 1023;
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    const float value = half_to_float(static_cast<std::uint16_t>(bits));
    if (exponent == 31 && fraction != 0) {
      ASSERT_TRUE(std::isnan(value)) << bits;
    } else if (exponent == 31) {
      ASSERT_EQ(value, sign * std::numeric_limits<double>::infinity()) << bits;
    } else {
      const double magnitude = exponent == 0 ? std::ldexp(fraction / 1024, -14)
                                             : std::ldexp(1 + fraction / 1024, exponent - 15);
      ASSERT_EQ(value, sign * magnitude) << bits;
      ASSERT_EQ(std::signbit(value), sign < 0) << bits;
    }
  }
}

TEST(BfloatToFloat, Examples) {
  EXPECT_EQ(bfloat16_to_float(0x3f80), 1.0f);
  EXPECT_EQ(bfloat16_to_float(0xc040), -3.0f);
  EXPECT_TRUE(std::isnan(bfloat16_to_float(0x7fc0)));
}

}  // namespace
}  // namespace diarist::base
