#include "audio/bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace diarist::audio {
namespace {

// Messages are one line, whatever the file is called.
std::string printable_name(const std::filesystem::path& file) {
  std::string text;
  for (const char c : file.string()) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += c;
    }
  }
  return text;
}

[[noreturn]] void fail_open(const std::string& name, int error) {
  if (error == ENOENT || error == ENOTDIR) {
    base::fail(ErrorCode::kNotFound, "{}: no such file; check the name", name);
  }
  if (error == ENAMETOOLONG || error == ELOOP) {
    base::fail(ErrorCode::kNotFound, "{}: no such file ({})", name, std::strerror(error));
  }
  if (error == EACCES || error == EPERM) {
    base::fail(ErrorCode::kBadFile, "{}: may not be read ({}); change its permissions", name,
               std::strerror(error));
  }
  base::fail(ErrorCode::kBadFile, "{}: can't be opened ({})", name, std::strerror(error));
}

class FileBytes final : public Bytes {
 public:
  explicit FileBytes(const std::filesystem::path& file) : name_(printable_name(file)) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) fail_open(name_, errno);
    if (S_ISDIR(status.st_mode)) {
      base::fail(ErrorCode::kBadFile, "{}: is a folder; name the recordings in it", name_);
    }
    file_ = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0) fail_open(name_, errno);
    if (::fstat(file_, &status) != 0) {
      const int error = errno;
      ::close(file_);
      fail_open(name_, error);
    }
    seekable_ = S_ISREG(status.st_mode);
    if (seekable_) size_ = static_cast<std::uint64_t>(status.st_size);
    if (seekable_ && size_ == 0) {
      ::close(file_);
      base::fail(ErrorCode::kBadFile, "{}: is empty; record or copy it again", name_);
    }
  }
  ~FileBytes() override { ::close(file_); }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) override {
    if (seekable_) {
      if (offset >= size_) return 0;
      out =
          out.first(static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), size_ - offset)));
    } else if (offset != position_) {
      base::fail(ErrorCode::kInternal, "{}: read out of order from a pipe", name_);
    }
    std::size_t done = 0;
    while (done < out.size()) {
      const ssize_t got = seekable_ ? ::pread(file_, out.data() + done, out.size() - done,
                                              static_cast<off_t>(offset + done))
                                    : ::read(file_, out.data() + done, out.size() - done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        base::fail(ErrorCode::kBadFile, "{}: reading failed ({})", name_, std::strerror(errno));
      }
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
      if (!seekable_) break;  // a pipe gives what it has
    }
    position_ += done;
    return done;
  }
  std::uint64_t size() const noexcept override { return size_; }
  bool seekable() const noexcept override { return seekable_; }
  const std::string& name() const noexcept override { return name_; }

 private:
  std::string name_;
  int file_ = -1;
  bool seekable_ = false;
  std::uint64_t size_ = 0;
  std::uint64_t position_ = 0;  // bytes taken from a pipe so far
};

class MemoryBytes final : public Bytes {
 public:
  MemoryBytes(std::span<const std::byte> bytes, std::string name)
      : bytes_(bytes), name_(std::move(name)) {}
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) override {
    if (offset >= bytes_.size()) return 0;
    const auto part = bytes_.subspan(static_cast<std::size_t>(offset));
    const std::size_t count = std::min(part.size(), out.size());
    std::copy_n(part.begin(), count, out.begin());
    return count;
  }
  std::uint64_t size() const noexcept override { return bytes_.size(); }
  bool seekable() const noexcept override { return true; }
  const std::string& name() const noexcept override { return name_; }

 private:
  std::span<const std::byte> bytes_;
  std::string name_;
};

}  // namespace

std::unique_ptr<Bytes> open_bytes(const std::filesystem::path& file) {
  return std::make_unique<FileBytes>(file);
}

std::unique_ptr<Bytes> memory_bytes(std::span<const std::byte> bytes, std::string name) {
  return std::make_unique<MemoryBytes>(bytes, std::move(name));
}

}  // namespace diarist::audio
