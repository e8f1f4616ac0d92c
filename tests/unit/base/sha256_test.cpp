#include "base/sha256.hpp"

#include <random>

#include "base/file.hpp"
#include "base/sha256_blocks.hpp"
#include "support/support.hpp"
#include "unit/base/expect_error.hpp"

namespace diarist::base {
namespace {

using test::view;

// Examples of FIPS 180-4 and of NIST's SHA-2 example document.
TEST(Sha256, Examples) {
  EXPECT_EQ(sha256_hex(view("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex(view("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(view("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(view("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                            "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu")),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(sha256_hex(view(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Lengths around the padding limits, hashed in one piece and in pieces of every size.
TEST(Sha256, PiecesDoNotMatter) {
  std::mt19937 random(1);
  std::string text(200, '\0');
  for (char& c : text) c = static_cast<char>(random());
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const std::string part = text.substr(0, length);
    const std::string whole = sha256_hex(view(part));
    for (const std::size_t piece : {1, 3, 55, 56, 63, 64, 65}) {
      Sha256 sum;
      for (std::size_t at = 0; at < length; at += piece)
        sum.update(view(part).subspan(at, std::min(piece, length - at)));
      ASSERT_EQ(sum.finish(), whole) << length << " in pieces of " << piece;
    }
  }
}

// The processor's instructions, where it has them, against the plain rounds.
TEST(Sha256, BothCompressionFunctionsAgree) {
  const Sha256Blocks native = sha256_blocks_native();
  if (native == nullptr) GTEST_SKIP() << "no SHA instructions";
  std::mt19937 random(2);
  std::vector<std::uint8_t> bytes(64 * 9);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  for (std::size_t blocks = 0; blocks <= 9; ++blocks) {
    std::uint32_t one[8], other[8];
    for (int i = 0; i < 8; ++i) one[i] = other[i] = static_cast<std::uint32_t>(random());
    native(one, bytes.data(), blocks);
    sha256_blocks_plain(other, bytes.data(), blocks);
    EXPECT_TRUE(std::equal(one, one + 8, other)) << blocks;
  }
}

TEST(Sha256, File) {
  const test::TempFolder folder;
  write_atomic(folder.path() / "abc", std::string_view("abc"));
  EXPECT_EQ(sha256_file(folder.path() / "abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  test::expect_error(ErrorCode::kNotFound, "nothing",
                     [&] { sha256_file(folder.path() / "nothing"); });
}

}  // namespace
}  // namespace diarist::base
