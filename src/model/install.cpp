#include "model/install.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/error.hpp"

namespace diarist::model {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStaging = ".staging-";
constexpr const char* kRetired = ".retired-";

[[noreturn]] void fail_with_errno(const fs::path& path, const char* what) {
  base::fail(ErrorCode::kBadFile, "{}: can't {} ({}); check the rights and the free space there",
             path.string(), what, std::strerror(errno));
}

void flush_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) fail_with_errno(folder, "open the folder");
  ::fsync(descriptor);  // some filesystems refuse this for folders; nothing better can be done then
  ::close(descriptor);
}

// Only the holder of the lock writes such folders, so any that are found belong to nobody.
void clean_up(const fs::path& models, const std::string& name) {
  const fs::path target = models / name;
  const fs::path retired = models / (kRetired + name);
  std::error_code error;
  // Died between the two renames of the slow path: the old version goes back.
  if (!fs::exists(target, error) && fs::exists(retired, error)) fs::rename(retired, target, error);
  fs::remove_all(retired, error);
  fs::remove_all(models / (kStaging + name), error);
}

void put_in_place(const fs::path& staged, const fs::path& target, const fs::path& retired) {
  if (::rename(staged.c_str(), target.c_str()) == 0) return;  // nothing was there
  if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR) {
    fail_with_errno(target, "put the bundle in place");
  }
  // Both names change hands in one step where the filesystem can do that.
  if (::renameat2(AT_FDCWD, staged.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) return;
  if (::rename(target.c_str(), retired.c_str()) != 0) fail_with_errno(target, "replace the bundle");
  if (::rename(staged.c_str(), target.c_str()) != 0) {
    const int reason = errno;
    [[maybe_unused]] const int back = ::rename(retired.c_str(), target.c_str());
    errno = reason;
    fail_with_errno(target, "put the bundle in place");
  }
}

}  // namespace

InstallLock::InstallLock(const fs::path& models) {
  std::error_code error;
  fs::create_directories(models, error);
  const fs::path file = models / ".install.lock";
  descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail_with_errno(file, "write");
  int result = 0;
  do {
    result = ::flock(descriptor_, LOCK_EX);
  } while (result != 0 && errno == EINTR);
  if (result != 0) {
    const int reason = errno;
    ::close(descriptor_);
    errno = reason;
    fail_with_errno(file, "lock");
  }
}

InstallLock::~InstallLock() { ::close(descriptor_); }

void install_folder(const fs::path& models, const std::string& name, const InstallLock&,
                    const std::function<void(const fs::path& folder)>& fill) {
  clean_up(models, name);
  const fs::path staged = models / (kStaging + name);
  std::error_code error;
  fs::create_directory(staged, error);
  if (error) {
    errno = error.value();
    fail_with_errno(staged, "make the folder");
  }
  try {
    fill(staged);
    flush_folder(staged);
    put_in_place(staged, models / name, models / (kRetired + name));
    flush_folder(models);
  } catch (...) {
    fs::remove_all(staged, error);
    throw;
  }
  clean_up(models, name);  // after an exchange the old version lies under the staging name
}

}  // namespace diarist::model
