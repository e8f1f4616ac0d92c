#include "base/zip.hpp"

#include "unit/base/archives.hpp"
#include "unit/base/expect_error.hpp"

namespace diarist::base {
namespace {

using test::expect_error;
using test::make_zip;
using test::Packed;
using test::view;

const std::string kText = "who spoke when, who spoke when, who spoke when";

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Where a number lies in an archive with one entry "a" and no comment.
std::size_t central(const std::string& zip) { return zip.find("PK\x01\x02"); }
std::size_t end_record(const std::string& zip) { return zip.rfind("PK\x05\x06"); }

void overwrite(std::string& bytes, std::size_t at, std::uint64_t number, int width) {
  for (int i = 0; i < width; ++i)
    bytes.at(at + static_cast<std::size_t>(i)) = static_cast<char>(number >> (8 * i));
}

TEST(Zip, ReadsEveryKindOfEntry) {
  for (const bool wide_end : {false, true}) {
    const std::string zip = make_zip({{"stored", kText},
                                      {"deflated", kText, true},
                                      {"streamed", kText, true, true},
                                      {"stored and streamed", kText, false, true},
                                      {"wide", kText, true, false, true},
                                      {"folder/", ""},
                                      {"folder/empty", "", true},
                                      {"large", std::string(300000, 'x'), true}},
                                     wide_end, "a comment");
    const ZipReader reader(view(zip), "my.zip");
    ASSERT_EQ(reader.entries().size(), 8u);
    for (const char* name : {"stored", "deflated", "streamed", "stored and streamed", "wide"}) {
      const ZipEntry* entry = reader.find(name);
      ASSERT_NE(entry, nullptr) << name;
      EXPECT_EQ(text_of(reader.read(*entry)), kText) << name;
    }
    EXPECT_EQ(text_of(reader.read(*reader.find("large"))), std::string(300000, 'x'));
    EXPECT_TRUE(reader.read(*reader.find("folder/empty")).empty());
    EXPECT_EQ(reader.find("nothing"), nullptr);
    EXPECT_EQ(reader.stored(*reader.find("stored")).size(), kText.size());
    expect_error(ErrorCode::kBadFile, "my.zip: entry deflated",
                 [&] { reader.stored(*reader.find("deflated")); });
  }
}

TEST(Zip, EmptyArchive) {
  EXPECT_TRUE(ZipReader(view(make_zip({})), "empty.zip").entries().empty());
}

TEST(Zip, NotAnArchive) {
  for (const std::string& text : {std::string(), std::string("PK"), std::string(100000, 'x')})
    expect_error(ErrorCode::kBadFile, "not a zip archive", [&] { ZipReader(view(text), "x"); });
}

TEST(Zip, EveryTruncationIsRefused) {
  for (const bool wide_end : {false, true}) {
    const std::string zip = make_zip(
        {{"a", kText}, {"b", kText, true, true}, {"c", "z", false, false, true}}, wide_end);
    EXPECT_EQ(test::count_valid_truncations(zip, "cut.zip",
                                            [](auto bytes) { ZipReader(bytes, "cut.zip"); }),
              0);
  }
}

TEST(Zip, DamagedContentIsNoticed) {
  for (const bool deflate : {false, true}) {
    const std::string zip = make_zip({{"a", kText, deflate}});
    const std::size_t begin = 31, end = central(zip);
    for (std::size_t at = begin; at < end; ++at) {
      std::string damaged = zip;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
      const ZipReader reader(view(damaged), "damaged.zip");
      expect_error(ErrorCode::kBadFile, "entry a is damaged",
                   [&] { reader.read(reader.entries()[0]); });
    }
  }
}

TEST(Zip, Bombs) {
  // A claim that deflate can't keep.
  std::string zip = make_zip({{"a", kText, true}});
  overwrite(zip, central(zip) + 24, 0xfffffff0, 4);
  expect_error(ErrorCode::kBadFile, "impossible size", [&] { ZipReader(view(zip), "bomb.zip"); });
  // More and less content than promised.
  for (const int change : {-1, 1}) {
    std::string lying = make_zip({{"a", kText, true}});
    overwrite(lying, central(lying) + 24, kText.size() + static_cast<std::size_t>(change), 4);
    const ZipReader reader(view(lying), "bomb.zip");
    expect_error(ErrorCode::kBadFile, "deflate data", [&] { reader.read(reader.entries()[0]); });
  }
  // Honest, but over the caller's limit.
  const std::string large = make_zip({{"a", std::string(100000, 'x'), true}});
  const ZipReader reader(view(large), "bomb.zip", 99999);
  expect_error(ErrorCode::kBadFile, "more than the limit",
               [&] { reader.read(reader.entries()[0]); });
  // Two directory entries that share one piece of data.
  const std::string two = make_zip({{"a", kText}, {"b", kText}});
  std::string shared = two;
  const std::size_t second = two.rfind("PK\x01\x02");
  overwrite(shared, second + 42, 0, 4);
  shared[second + 46] = 'a';
  expect_error(ErrorCode::kBadFile, "twice", [&] { ZipReader(view(shared), "bomb.zip"); });
}

TEST(Zip, OverlappingEntries) {
  // The data of the first entry contains the whole second entry.
  const std::string inner = make_zip({{"b", kText}});
  const std::string entry = inner.substr(0, central(inner));
  std::string zip = make_zip({{"a", entry}, {"b", kText}});
  overwrite(zip, zip.rfind("PK\x01\x02") + 42, 31, 4);  // points into the data of "a"
  expect_error(ErrorCode::kBadFile, "overlap", [&] { ZipReader(view(zip), "overlap.zip"); });
}

TEST(Zip, Refusals) {
  const std::string zip = make_zip({{"a", kText}});
  const auto with = [&](std::size_t at, std::uint64_t number, int width) {
    std::string changed = zip;
    overwrite(changed, at, number, width);
    return changed;
  };
  const auto refused = [](const std::string& bytes, const char* why) {
    expect_error(ErrorCode::kBadFile, why, [&] { ZipReader(view(bytes), "odd.zip"); });
  };
  const std::size_t entry = central(zip), end = end_record(zip);
  refused(with(entry + 8, 1, 2), "encrypted");
  refused(with(entry + 24, 5, 4), "two sizes");
  refused(with(entry + 42, 0xfffffff0, 4), "outside");
  refused(with(entry + 42, 1, 4), "header of entry a is damaged");
  refused(with(30, 'b', 1), "header of entry a is damaged");
  refused(with(end + 4, 1, 2), "several parts");
  refused(with(end + 10, 2, 2), "several parts");
  refused(with(end + 12, 0x7fffffff, 4), "outside");
  refused(with(end + 16, 0xfffffffe, 4), "outside");
  refused(with(entry + 20, 0xfffffff0, 4), "two sizes");
  std::string both = with(entry + 20, 0xfffffff0, 4);
  overwrite(both, entry + 24, 0xfffffff0, 4);
  refused(both, "cut short");
  const std::string unknown = with(entry + 10, 12, 2);  // bzip2
  const ZipReader reader(view(unknown), "odd.zip");
  expect_error(ErrorCode::kBadFile, "compression method 12",
               [&] { reader.read(reader.entries()[0]); });
}

}  // namespace
}  // namespace diarist::base
