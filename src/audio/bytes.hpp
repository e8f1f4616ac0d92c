#pragma once
// Where encoded bytes come from. All readers go through this, so a file is opened once, names reach
// the system byte for byte, and no library opens anything by itself.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace diarist::audio {

/// Random access to the bytes of a recording. Not thread-safe.
class Bytes {
 public:
  virtual ~Bytes() = default;
  /// Reads up to out.size() bytes at `offset`; fewer only at the end. Bytes that are not seekable
  /// must be asked for in order. \throws Error kBadFile when the medium fails.
  virtual std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) = 0;
  /// Size when the bytes were opened; 0 for what is not seekable.
  virtual std::uint64_t size() const noexcept = 0;
  /// False for pipes and devices.
  virtual bool seekable() const noexcept = 0;
  /// Name for messages: the path, with control characters made visible.
  virtual const std::string& name() const noexcept = 0;
  /// The same bytes for another reader, from their start; null when they are not seekable.
  virtual std::unique_ptr<Bytes> again() const = 0;
};

/// Opens a regular file, a pipe or, for "-", standard input (a file named "-" is "./-").
/// Reading it ends with Error kCancelled soon after a stop, also where a pipe gives nothing.
/// \throws Error kNotFound; kBadFile for a folder, an empty file or one that may not be read.
std::unique_ptr<Bytes> open_bytes(const std::filesystem::path& file,
                                  const std::stop_token& stop = {});

/// The name of a recording in messages and results: the path's stem, "stdin" for "-".
std::string recording_name(const std::filesystem::path& file);

/// Bytes in memory; they must outlive the object.
std::unique_ptr<Bytes> memory_bytes(std::span<const std::byte> bytes, std::string name);

/// Copies what a pipe gives into a file without a name in the folder for temporary files, so that
/// it can be read from any place, and more than once. \throws Error kBadFile when that folder is
/// full.
std::unique_ptr<Bytes> spool(std::unique_ptr<Bytes> pipe, const std::stop_token& stop);

/// A pipe whose start can be read again while readers find out what it is.
class RememberedPipe final : public Bytes {
 public:
  explicit RememberedPipe(std::unique_ptr<Bytes> pipe) : pipe_(std::move(pipe)) {}
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> out) override;
  std::uint64_t size() const noexcept override { return 0; }
  bool seekable() const noexcept override { return false; }
  const std::string& name() const noexcept override { return pipe_->name(); }
  std::unique_ptr<Bytes> again() const override { return nullptr; }
  /// From now on the bytes are asked for in order.
  void forget() { remembering_ = false; }

 private:
  std::unique_ptr<Bytes> pipe_;
  bool remembering_ = true;
  std::vector<std::byte> kept_;  // the first ones
  std::uint64_t position_ = 0;   // of the pipe
};

}  // namespace diarist::audio
