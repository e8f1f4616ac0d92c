#include "audio/bytes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "base/run_control.hpp"

namespace diarist::audio {
namespace {

constexpr const char* kStandardInput = "-";

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

// An open file; closes it when it dies.
class Handle {
 public:
  explicit Handle(int number) : number_(number) {}
  Handle(Handle&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (number_ >= 0) ::close(number_);
  }
  int operator*() const noexcept { return number_; }

 private:
  int number_;
};

class FileBytes final : public Bytes {
 public:
  FileBytes(Handle file, std::string name, const std::stop_token& stop)
      : name_(std::move(name)), file_(std::move(file)), stop_(stop) {
    struct stat status {};
    if (::fstat(*file_, &status) != 0) fail_open(name_, errno);
    seekable_ = S_ISREG(status.st_mode);
    if (!seekable_) return;
    // Standard input may be a file that somebody has read from.
    start_ = std::max<off_t>(0, ::lseek(*file_, 0, SEEK_CUR));
    size_ = static_cast<std::uint64_t>(std::max<off_t>(0, status.st_size - start_));
    if (size_ == 0) {
      base::fail(ErrorCode::kBadFile, "{}: is empty; record or copy it again", name_);
    }
  }

  std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) override {
    if (seekable_) {
      if (offset >= size_) return 0;
      out =
          out.first(static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), size_ - offset)));
    } else if (offset != position_) {
      base::fail(ErrorCode::kInternal, "{}: read out of order from a pipe", name_);
    }
    base::check_stop(stop_);
    if (!seekable_ && stop_.stop_possible()) wait_for_bytes();
    std::size_t done = 0;
    while (done < out.size()) {
      const ssize_t got = seekable_ ? ::pread(*file_, out.data() + done, out.size() - done,
                                              start_ + static_cast<off_t>(offset + done))
                                    : ::read(*file_, out.data() + done, out.size() - done);
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
  std::unique_ptr<Bytes> again() const override {
    if (!seekable_) return nullptr;
    return std::make_unique<FileBytes>(duplicate(*file_, name_), name_, stop_);
  }

  static Handle duplicate(int file, const std::string& name) {
    const int copy = ::fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) fail_open(name, errno);
    return Handle(copy);
  }

 private:
  // A pipe may give nothing for hours, and a read would not hear of a stop.
  void wait_for_bytes() const {
    constexpr int kPatience = 20;  // milliseconds
    pollfd waited{.fd = *file_, .events = POLLIN, .revents = 0};
    while (::poll(&waited, 1, kPatience) == 0) base::check_stop(stop_);
  }

  std::string name_;
  Handle file_;
  std::stop_token stop_;
  bool seekable_ = false;
  off_t start_ = 0;  // of the recording in the file
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
  std::unique_ptr<Bytes> again() const override {
    return std::make_unique<MemoryBytes>(bytes_, name_);
  }

 private:
  std::span<const std::byte> bytes_;
  std::string name_;
};

}  // namespace

std::unique_ptr<Bytes> open_bytes(const std::filesystem::path& file, const std::stop_token& stop) {
  if (file == kStandardInput) {
    const std::string name = "standard input";
    if (::isatty(STDIN_FILENO) == 1) {
      base::fail(ErrorCode::kBadFile, "{}: is a terminal; send a recording into it", name);
    }
    return std::make_unique<FileBytes>(FileBytes::duplicate(STDIN_FILENO, name), name, stop);
  }
  const std::string name = printable_name(file);
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) fail_open(name, errno);
  if (S_ISDIR(status.st_mode)) {
    base::fail(ErrorCode::kBadFile, "{}: is a folder; name the recordings in it", name);
  }
  // A named pipe that nobody writes into yet is waited for by the first read, which hears of a
  // stop.
  const bool later = S_ISFIFO(status.st_mode) && stop.stop_possible();
  const int opened = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | (later ? O_NONBLOCK : 0));
  if (opened < 0) fail_open(name, errno);
  Handle handle(opened);
  if (later && ::fcntl(opened, F_SETFL, ::fcntl(opened, F_GETFL) & ~O_NONBLOCK) != 0)
    fail_open(name, errno);
  return std::make_unique<FileBytes>(std::move(handle), name, stop);
}

std::string recording_name(const std::filesystem::path& file) {
  return file == kStandardInput ? "stdin" : file.stem().string();
}

std::unique_ptr<Bytes> spool(std::unique_ptr<Bytes> pipe, const std::stop_token& stop) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  const auto fail = [&](int number) {
    base::fail(ErrorCode::kBadFile,
               "{}: can't be copied to {} ({}); set TMPDIR to a folder with room, or give a file",
               pipe->name(), error ? "the folder for temporary files" : folder.string(),
               std::strerror(number));
  };
  if (error) fail(error.value());
  std::string place = (folder / "diarist-XXXXXX").string();
  const Handle file(::mkostemp(place.data(), O_CLOEXEC));
  if (*file < 0) fail(errno);
  ::unlink(place.c_str());  // gone with its last reader, whatever happens
  std::vector<std::byte> block(1 << 16);
  std::uint64_t offset = 0;
  while (const std::size_t got = pipe->read_at(offset, block)) {
    for (std::size_t done = 0; done < got;) {
      const ssize_t written =
          ::pwrite(*file, block.data() + done, got - done, static_cast<off_t>(offset + done));
      if (written < 0 && errno != EINTR) fail(errno);
      if (written > 0) done += static_cast<std::size_t>(written);
    }
    offset += got;
  }
  return std::make_unique<FileBytes>(FileBytes::duplicate(*file, pipe->name()), pipe->name(), stop);
}

std::size_t RememberedPipe::read_at(std::uint64_t offset, std::span<std::byte> out) {
  constexpr std::size_t kMostKept = 1 << 20;
  if (offset < kept_.size()) {
    const auto part = std::span(kept_).subspan(static_cast<std::size_t>(offset));
    const std::size_t count = std::min(part.size(), out.size());
    std::copy_n(part.begin(), count, out.begin());
    return count;
  }
  if (offset != position_) {
    base::fail(ErrorCode::kBadFile,
               "{}: its header is too long to be read from a pipe; write it to a file first",
               name());
  }
  if (!remembering_) kept_ = {};
  const std::size_t got = pipe_->read_at(position_, out);
  position_ += got;
  if (remembering_ && kept_.size() + got <= kMostKept) {
    kept_.insert(kept_.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(got));
  } else {
    remembering_ = false;  // what is kept is no longer all there was
  }
  return got;
}

std::unique_ptr<Bytes> memory_bytes(std::span<const std::byte> bytes, std::string name) {
  return std::make_unique<MemoryBytes>(bytes, std::move(name));
}

}  // namespace diarist::audio
