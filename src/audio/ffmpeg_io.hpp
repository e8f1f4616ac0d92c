#pragma once
// Our bytes as FFmpeg wants them. Included only where FFmpeg is there.

#include <cstdint>
#include <exception>

#include "audio/bytes.hpp"

struct AVIOContext;

namespace diarist::audio {

/// Owns an AVIOContext over bytes, which must outlive it.
class FfmpegIo {
 public:
  explicit FfmpegIo(Bytes& bytes);
  ~FfmpegIo();
  FfmpegIo(const FfmpegIo&) = delete;
  FfmpegIo& operator=(const FfmpegIo&) = delete;

  /// Null when there was no memory.
  AVIOContext* context() const noexcept { return context_; }
  /// Throws what a read threw while FFmpeg's C code was above it.
  void rethrow();

 private:
  static int read(void* self, std::uint8_t* out, int count);
  static std::int64_t seek(void* self, std::int64_t offset, int whence);

  Bytes& bytes_;
  std::int64_t position_ = 0;
  std::exception_ptr failure_;
  AVIOContext* context_ = nullptr;
};

}  // namespace diarist::audio
