#include "base/file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "support/support.hpp"
#include "unit/base/expect_error.hpp"

namespace diarist::base {
namespace {

namespace fs = std::filesystem;
using test::expect_error;

std::string content(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

int files_in(const fs::path& folder) {
  return static_cast<int>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(MappedFile, ReadsWhatWasWritten) {
  const test::TempFolder folder;
  const fs::path file = folder.path() / "two words \xc3\xb6.txt";
  write_atomic(file, std::string_view("hello\0there", 11));
  MappedFile mapped(file);
  EXPECT_EQ(content(mapped), std::string("hello\0there", 11));
  const MappedFile moved(std::move(mapped));
  EXPECT_EQ(content(moved).size(), 11u);
  EXPECT_TRUE(mapped.bytes().empty());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(read_text(file), std::string("hello\0there", 11));
}

TEST(MappedFile, EmptyFile) {
  const test::TempFolder folder;
  write_atomic(folder.path() / "empty", std::string_view());
  EXPECT_TRUE(MappedFile(folder.path() / "empty").bytes().empty());
  EXPECT_EQ(read_text(folder.path() / "empty"), "");
}

TEST(MappedFile, ErrorsNameTheFile) {
  const test::TempFolder folder;
  const fs::path missing = folder.path() / "missing";
  expect_error(ErrorCode::kNotFound, missing.string(), [&] { MappedFile{missing}; });
  expect_error(ErrorCode::kNotFound, missing.string(), [&] { read_text(missing); });
  write_atomic(folder.path() / "file", std::string_view("x"));
  expect_error(ErrorCode::kNotFound, "file", [&] { read_text(folder.path() / "file" / "below"); });
  expect_error(ErrorCode::kBadFile, "is a folder", [&] { MappedFile{folder.path()}; });
  expect_error(ErrorCode::kBadFile, "is a folder", [&] { read_text(folder.path()); });
}

TEST(MappedFile, PipeIsRefusedWithoutWaiting) {
  const test::TempFolder folder;
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expect_error(ErrorCode::kBadFile, "not a regular file", [&] { MappedFile{pipe}; });
  expect_error(ErrorCode::kBadFile, "not a regular file",
               [&] { write_atomic(pipe, std::string_view("x")); });
}

TEST(MappedFile, NoPermission) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const test::TempFolder folder;
  const fs::path file = folder.path() / "locked";
  write_atomic(file, std::string_view("x"));
  fs::permissions(file, fs::perms::none);
  expect_error(ErrorCode::kBadFile, "locked", [&] { MappedFile{file}; });
}

TEST(WriteAtomic, ReplacesAndLeavesNothingBehind) {
  const test::TempFolder folder;
  const fs::path file = folder.path() / "result.rttm";
  write_atomic(file, std::string_view("old"));
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  write_atomic(file, std::string_view("a longer new text"));
  EXPECT_EQ(read_text(file), "a longer new text");
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(WriteAtomic, LongestName) {
  const test::TempFolder folder;
  const fs::path file = folder.path() / std::string(255, 'n');
  write_atomic(file, std::string_view("x"));
  EXPECT_EQ(read_text(file), "x");
}

TEST(WriteAtomic, KeepsLinks) {
  const test::TempFolder folder;
  fs::create_directory(folder.path() / "deep");
  write_atomic(folder.path() / "deep" / "target", std::string_view("old"));
  fs::create_symlink("deep/target", folder.path() / "link");
  write_atomic(folder.path() / "link", std::string_view("new"));
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link"));
  EXPECT_EQ(read_text(folder.path() / "deep" / "target"), "new");
}

TEST(WriteAtomic, ErrorsLeaveNothingBehind) {
  const test::TempFolder folder;
  expect_error(ErrorCode::kBadFile, "no/file",
               [&] { write_atomic(folder.path() / "no" / "file", std::string_view("x")); });
  fs::create_directory(folder.path() / "folder");
  expect_error(ErrorCode::kBadFile, "is a folder",
               [&] { write_atomic(folder.path() / "folder", std::string_view("x")); });
  EXPECT_EQ(files_in(folder.path()), 1);
}

TEST(WriteAtomic, DevicesStayDevices) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "needs /dev/full";
  // A device must never be replaced by a file, whatever rights the user has.
  expect_error(ErrorCode::kBadFile, "not a regular file",
               [] { write_atomic("/dev/full", std::string_view("x")); });
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST(WriteAtomic, ReadersSeeOldOrNew) {
  const test::TempFolder folder;
  const fs::path file = folder.path() / "shared";
  write_atomic(file, std::string(10000, 'a'));
  std::atomic<bool> done{false};
  std::atomic<int> torn{0};
  std::thread reader([&] {
    while (!done) {
      const std::string text = read_text(file);
      if (text.size() != 10000 || text.find_first_not_of(text[0]) != std::string::npos) ++torn;
    }
  });
  for (int i = 0; i < 20; ++i) write_atomic(file, std::string(10000, static_cast<char>('a' + i)));
  done = true;
  reader.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(files_in(folder.path()), 1);
}

}  // namespace
}  // namespace diarist::base
