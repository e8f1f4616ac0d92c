#include "fetch/part_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/error.hpp"
#include "base/file.hpp"

namespace diarist::fetch {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_with_errno(const fs::path& path, const char* what) {
  base::fail(ErrorCode::kBadFile, "{}: can't {} ({}); check the rights and the free space there",
             path.string(), what, std::strerror(errno));
}

}  // namespace

PartFile::PartFile(const fs::path& target) : path_(target), tag_path_(target) {
  path_ += ".part";
  tag_path_ += ".part.tag";
  std::error_code error;
  fs::create_directories(target.parent_path(), error);
  open();
  std::ifstream tag(tag_path_);
  std::getline(tag, tag_);
}

PartFile::~PartFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (size_ == 0) {  // nothing worth keeping
    std::error_code error;
    fs::remove(path_, error);
    fs::remove(tag_path_, error);
  }
}

void PartFile::open() {
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  struct stat info {};
  if (descriptor_ < 0 || ::fstat(descriptor_, &info) != 0) fail_with_errno(path_, "write");
  size_ = static_cast<std::uint64_t>(info.st_size);
}

void PartFile::set_tag(const std::string& tag) {
  tag_ = tag;
  std::error_code error;
  if (tag.empty()) {
    fs::remove(tag_path_, error);
  } else {
    base::write_atomic(tag_path_, tag + "\n");
  }
}

bool PartFile::append(std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    size_ += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

void PartFile::restart() {
  if (::ftruncate(descriptor_, 0) != 0) fail_with_errno(path_, "empty");
  size_ = 0;
  set_tag("");
}

void PartFile::discard() {
  size_ = 0;
  std::error_code error;
  fs::remove(path_, error);
  fs::remove(tag_path_, error);
}

void PartFile::publish(const fs::path& target) {
  if (::fsync(descriptor_) != 0) fail_with_errno(path_, "flush");
  if (::rename(path_.c_str(), target.c_str()) != 0) fail_with_errno(target, "put in place");
  std::error_code error;
  fs::remove(tag_path_, error);
  size_ = 0;
}

}  // namespace diarist::fetch
