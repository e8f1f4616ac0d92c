#include "base/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

#include "base/error.hpp"

namespace diarist::base {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const noexcept { return value_; }
  /// Some file systems report a full disk only here.
  int close() noexcept {
    const int value = std::exchange(value_, -1);
    return ::close(value) == 0 ? 0 : errno;
  }

 private:
  int value_;
};

struct OpenFile {
  int descriptor;
  std::size_t size;
};

// A pipe without a writer would block open(): O_NONBLOCK lets us look at it and refuse.
OpenFile open_regular(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR)
      fail(ErrorCode::kNotFound, "{}: no such file; check the name", file.string());
    fail(ErrorCode::kBadFile, "{}: can't be opened ({})", file.string(), reason(error));
  }
  struct stat info {};
  const int failed = ::fstat(descriptor, &info) == 0 ? 0 : errno;
  if (failed == 0 && S_ISREG(info.st_mode))
    return {descriptor, static_cast<std::size_t>(info.st_size)};
  ::close(descriptor);
  if (failed != 0) fail(ErrorCode::kBadFile, "{}: {}", file.string(), reason(failed));
  fail(ErrorCode::kBadFile, "{}: {}; give the name of a file", file.string(),
       S_ISDIR(info.st_mode) ? "is a folder" : "is not a regular file");
}

// The file that a chain of links ends in, so that writing keeps the link; it may not exist yet.
std::filesystem::path link_target(const std::filesystem::path& file) {
  std::filesystem::path target = file;
  std::error_code error;
  for (int hop = 0; hop < 40 && std::filesystem::is_symlink(target, error); ++hop) {
    const auto next = std::filesystem::read_symlink(target, error);
    if (error) break;
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  return target;
}

// A file in the folder that didn't exist before; its short name fits even beside a long one.
std::pair<int, std::filesystem::path> create_beside(const std::filesystem::path& target,
                                                    mode_t mode) {
  static std::atomic<std::uint64_t> counter{0};
  const std::filesystem::path folder =
      target.has_parent_path() ? target.parent_path() : std::filesystem::path(".");
  for (int attempt = 0;; ++attempt) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    const auto name = fmt::format(".diarist-{:x}-{:x}-{:x}.part", ::getpid(), now, ++counter);
    const std::filesystem::path part = folder / name;
    const int descriptor = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor >= 0) return {descriptor, part};
    const int error = errno;
    if (error == EEXIST && attempt < 100) continue;
    fail(ErrorCode::kBadFile,
         "{}: can't write in folder {} ({}); name a folder that exists and may be written to",
         target.string(), folder.string(), reason(error));
  }
}

int write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

// Makes the rename itself durable; not every file system can, and the content is safe already.
void sync_folder(const std::filesystem::path& folder) {
  const Descriptor descriptor(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() >= 0) (void)::fsync(descriptor.get());
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& file) {
  const OpenFile open = open_regular(file);
  const Descriptor descriptor(open.descriptor);
  if (open.size == 0) return;
  void* address = ::mmap(nullptr, open.size, PROT_READ, MAP_PRIVATE, descriptor.get(), 0);
  if (address == MAP_FAILED)
    fail(ErrorCode::kBadFile, "{}: can't be mapped ({})", file.string(), reason(errno));
  data_ = static_cast<const std::byte*>(address);
  size_ = open.size;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

std::string read_text(const std::filesystem::path& file) {
  const OpenFile open = open_regular(file);
  const Descriptor descriptor(open.descriptor);
  std::string text;
  text.reserve(open.size);
  char buffer[1 << 16];
  for (;;) {
    const ssize_t count = ::read(descriptor.get(), buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      fail(ErrorCode::kBadFile, "{}: can't be read ({})", file.string(), reason(errno));
    if (count == 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

void write_atomic(const std::filesystem::path& file, std::span<const std::byte> bytes,
                  unsigned mode) {
  const std::filesystem::path target = link_target(file);
  struct stat info {};
  const bool exists = ::stat(target.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) {
    fail(ErrorCode::kBadFile, "{}: {} and can't be replaced; give the name of a file",
         file.string(), S_ISDIR(info.st_mode) ? "is a folder" : "is not a regular file");
  }
  if (exists) mode = info.st_mode & 0777;
  auto [raw, part] = create_beside(target, mode);
  Descriptor descriptor(raw);
  int error = write_all(descriptor.get(), bytes);
  if (error == 0 && ::fsync(descriptor.get()) != 0 && errno != EINVAL) error = errno;
  if (const int closing = descriptor.close(); error == 0) error = closing;
  if (error == 0 && ::rename(part.c_str(), target.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(part.c_str());
    fail(ErrorCode::kBadFile, "{}: can't be written ({})", file.string(), reason(error));
  }
  sync_folder(target.parent_path());
}

void write_atomic(const std::filesystem::path& file, std::string_view text, unsigned mode) {
  write_atomic(file, std::as_bytes(std::span<const char>(text.data(), text.size())), mode);
}

}  // namespace diarist::base
