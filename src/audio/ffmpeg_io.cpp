#include "audio/ffmpeg_io.hpp"

extern "C" {
#include <libavformat/avio.h>
#include <libavutil/error.h>
#include <libavutil/mem.h>
}

#include <cstdio>
#include <utility>

namespace diarist::audio {

FfmpegIo::FfmpegIo(Bytes& bytes) : bytes_(bytes) {
  constexpr int kBuffer = 1 << 16;
  auto* buffer = static_cast<unsigned char*>(av_malloc(kBuffer));
  if (buffer == nullptr) return;
  context_ = avio_alloc_context(buffer, kBuffer, 0, this, &FfmpegIo::read, nullptr,
                                bytes.seekable() ? &FfmpegIo::seek : nullptr);
  if (context_ == nullptr) av_free(buffer);
}

FfmpegIo::~FfmpegIo() {
  if (context_ == nullptr) return;
  av_freep(&context_->buffer);  // FFmpeg may have replaced the one we gave
  avio_context_free(&context_);
}

void FfmpegIo::rethrow() {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

int FfmpegIo::read(void* self, std::uint8_t* out, int count) {
  auto* io = static_cast<FfmpegIo*>(self);
  if (count <= 0) return AVERROR(EINVAL);
  try {
    const std::size_t got =
        io->bytes_.read_at(static_cast<std::uint64_t>(io->position_),
                           {reinterpret_cast<std::byte*>(out), static_cast<std::size_t>(count)});
    io->position_ += static_cast<std::int64_t>(got);
    return got > 0 ? static_cast<int>(got) : AVERROR_EOF;
  } catch (...) {
    io->failure_ = std::current_exception();
    return AVERROR(EIO);
  }
}

std::int64_t FfmpegIo::seek(void* self, std::int64_t offset, int whence) {
  auto* io = static_cast<FfmpegIo*>(self);
  const auto size = static_cast<std::int64_t>(io->bytes_.size());
  whence &= ~AVSEEK_FORCE;
  if (whence == AVSEEK_SIZE) return size;
  std::int64_t base = 0;
  if (whence == SEEK_CUR) base = io->position_;
  if (whence == SEEK_END) base = size;
  std::int64_t target = 0;
  if (__builtin_add_overflow(base, offset, &target) || target < 0) return AVERROR(EINVAL);
  io->position_ = target;
  return target;
}

}  // namespace diarist::audio
