#include "audio/sndfile_reader.hpp"

#include <sndfile.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <string_view>
#include <utility>

#include "base/error.hpp"

namespace diarist::audio {
namespace {

constexpr int kMaxDamage = 100;     // places in one file; each costs a new decoder
constexpr sf_count_t kStep = 2048;  // frames tried at a time behind damage

// libsndfile's view of the bytes: a file with a position. Exceptions must not pass through C code,
// so they wait here until the call has returned.
struct Stream {
  Bytes& bytes;
  std::int64_t position = 0;
  std::exception_ptr failure;
};

sf_count_t stream_size(void* user) {
  return static_cast<sf_count_t>(static_cast<Stream*>(user)->bytes.size());
}

sf_count_t stream_seek(sf_count_t offset, int whence, void* user) {
  auto* stream = static_cast<Stream*>(user);
  const auto size = static_cast<std::int64_t>(stream->bytes.size());
  std::int64_t base = 0;
  if (whence == SEEK_CUR) base = stream->position;
  if (whence == SEEK_END) base = size;
  std::int64_t target = 0;
  if (__builtin_add_overflow(base, offset, &target) || target < 0) return -1;
  stream->position = std::min(target, size);
  return stream->position;
}

sf_count_t stream_read(void* out, sf_count_t count, void* user) {
  auto* stream = static_cast<Stream*>(user);
  if (count <= 0) return 0;
  try {
    const std::size_t got =
        stream->bytes.read_at(static_cast<std::uint64_t>(stream->position),
                              {static_cast<std::byte*>(out), static_cast<std::size_t>(count)});
    stream->position += static_cast<std::int64_t>(got);
    return static_cast<sf_count_t>(got);
  } catch (...) {
    stream->failure = std::current_exception();
    return 0;
  }
}

sf_count_t stream_write(const void*, sf_count_t, void*) { return 0; }

sf_count_t stream_tell(void* user) { return static_cast<Stream*>(user)->position; }

class SndfileReader final : public Reader {
 public:
  explicit SndfileReader(Bytes& bytes) : stream_{bytes, 0, nullptr} { reopen(); }
  ~SndfileReader() override {
    if (file_ != nullptr) sf_close(file_);
  }
  SndfileReader(const SndfileReader&) = delete;
  SndfileReader& operator=(const SndfileReader&) = delete;

  bool is_open() const { return file_ != nullptr; }

  void prepare() {
    check_format(stream_.bytes, info_.samplerate, info_.channels);
    samples_.resize(block_frames(info_.channels) * static_cast<std::size_t>(info_.channels));
  }

  Block next() override {
    const auto most = static_cast<sf_count_t>(block_frames(info_.channels));
    while (!ended_) {
      if (silent_ > 0) {  // a lost stretch
        const sf_count_t count = std::min(silent_, most);
        silent_ -= count;
        std::fill(samples_.begin(), samples_.end(), 0.0F);
        return block_of(count);
      }
      const sf_count_t got = std::max<sf_count_t>(0, sf_readf_float(file_, samples_.data(), most));
      rethrow();
      const bool failed = got < most && sf_error(file_) != SF_ERR_NO_ERROR;
      const sf_count_t position = frames_ + got;
      if (got < most &&
          !(failed && length_is_exact() && position < info_.frames && find_way_behind(position))) {
        ended_ = true;
      }
      if (got > 0) {
        const Block block = block_of(got);
        if (ended_) report_end();
        return block;
      }
    }
    if (!reported_) report_end();
    return {{}, info_.channels, info_.samplerate};
  }

  std::int64_t expected_frames() const noexcept override {
    return length_is_known() ? info_.frames : 0;
  }
  int expected_rate() const noexcept override { return info_.samplerate; }

 private:
  // Streams of unknown length announce the largest number there is. MP3 lengths are estimates.
  bool length_is_known() const noexcept {
    return info_.frames > 0 && info_.frames < (sf_count_t{1} << 48);
  }
  bool length_is_exact() const noexcept {
    const int subtype = info_.format & SF_FORMAT_SUBMASK;
    return length_is_known() && !(subtype >= 0x0080 && subtype <= 0x0082);  // MPEG layers
  }
  // An MP3 without one of these marks in front tells no length; what libsndfile makes of its first
  // bit rate is a guess. The marks lie behind tags, and those may hold pictures.
  bool length_is_a_guess() {
    if (length_is_exact()) return false;
    if (!stream_.bytes.seekable()) return true;
    std::vector<std::byte> head(std::size_t{1} << 20);
    head.resize(stream_.bytes.read_at(0, head));
    const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
    for (const char* mark : {"Xing", "Info", "VBRI"})
      if (text.find(mark) != std::string_view::npos) return false;
    return true;
  }

  Block block_of(sf_count_t count) {
    frames_ += count;
    return {std::span(samples_).first(static_cast<std::size_t>(count) *
                                      static_cast<std::size_t>(info_.channels)),
            info_.channels, info_.samplerate};
  }

  bool reopen() {
    if (file_ != nullptr) sf_close(file_);
    stream_.position = 0;
    SF_VIRTUAL_IO io{stream_size, stream_seek, stream_read, stream_write, stream_tell};
    SF_INFO info{};
    file_ = sf_open_virtual(&io, SFM_READ, &info, &stream_);
    rethrow();
    if (file_ == nullptr) return false;
    if (info_.channels == 0) info_ = info;
    return info.channels == info_.channels;
  }

  // After an error a decoder of libsndfile stays dead; a new one can start behind the damage. What
  // lies between `position` and there becomes silence, so that later times stay right.
  bool find_way_behind(sf_count_t position) {
    if (++damaged_ > kMaxDamage) return false;
    if (damaged_ == 1) first_damage_ = position;
    std::vector<float> frame(static_cast<std::size_t>(info_.channels));
    for (sf_count_t step = kStep; position + step < info_.frames;
         step += std::max(kStep, step / 4)) {
      if (!reopen()) return false;
      const sf_count_t target = position + step;
      if (sf_seek(file_, target, SEEK_SET) != target) continue;
      const bool alive = sf_readf_float(file_, frame.data(), 1) == 1;
      rethrow();
      if (!alive || sf_seek(file_, target, SEEK_SET) != target) continue;
      silent_ = step;
      return true;
    }
    --damaged_;  // nothing behind it: a cut
    return false;
  }

  void report_end() {
    reported_ = true;
    const std::string& name = stream_.bytes.name();
    if (damaged_ > 0) {
      warnings_.push_back(
          fmt::format("{}: is damaged in {} places, first at {:.2f} s; what was "
                      "lost is taken for silence",
                      name, damaged_, seconds(first_damage_)));
    }
    const sf_count_t tolerance = length_is_exact() ? 0 : info_.frames / 50;
    if (length_is_known() && frames_ < info_.frames - tolerance && !length_is_a_guess()) {
      warnings_.push_back(fmt::format(
          "{}: is cut off: the header announces {:.2f} s{}, {:.2f} s are there", name,
          seconds(info_.frames), length_is_exact() ? "" : " (an estimate)", seconds(frames_)));
    } else if (const auto bytes = missing_bytes(); bytes > 0) {
      warnings_.push_back(fmt::format(
          "{}: is cut off: {} bytes fewer than the header announces, {:.2f} s are there", name,
          bytes, seconds(frames_)));
    }
  }

  // AIFF and W64: libsndfile adapts the length to the file and tells only its log, whose second
  // line then is "FORM : <announced> (should be <there>)". Small differences are harmless.
  std::int64_t missing_bytes() {
    const int kind = info_.format & SF_FORMAT_TYPEMASK;
    if (kind != SF_FORMAT_AIFF && kind != SF_FORMAT_W64) return 0;
    std::array<char, 256> log{};
    sf_command(file_, SFC_GET_LOG_INFO, log.data(), static_cast<int>(log.size()));
    log.back() = 0;
    long long announced = 0;
    long long there = 0;
    if (std::sscanf(log.data(), "Length : %*d %*4s : %lld (should be %lld)", &announced, &there) !=
        2)
      return 0;
    const bool real = announced > 0 && announced < (std::int64_t{1} << 48) &&
                      announced != 0xFFFFFFFFLL && there > 0;
    return real && announced > there + 64 ? announced - there : 0;
  }

  double seconds(sf_count_t frames) const {
    return static_cast<double>(frames) / std::max(1, info_.samplerate);
  }

  void rethrow() {
    if (stream_.failure) std::rethrow_exception(std::exchange(stream_.failure, nullptr));
  }

  Stream stream_;
  SF_INFO info_{};
  SNDFILE* file_ = nullptr;
  bool ended_ = false;
  bool reported_ = false;
  int damaged_ = 0;              // places that could not be decoded
  sf_count_t first_damage_ = 0;  // frame
  sf_count_t silent_ = 0;        // frames of silence still to be given for the latest of them
  sf_count_t frames_ = 0;
  std::vector<float> samples_;
};

}  // namespace

std::unique_ptr<Reader> open_sndfile(Bytes& bytes, std::string* reason) {
  if (!bytes.seekable()) return nullptr;
  auto reader = std::make_unique<SndfileReader>(bytes);
  if (!reader->is_open()) {
    if (reason != nullptr) *reason = sf_strerror(nullptr);
    return nullptr;
  }
  reader->prepare();
  return reader;
}

std::string sndfile_version() {
  std::string text = sf_version_string();  // "libsndfile-1.2.0"
  std::replace(text.begin(), text.end(), '-', ' ');
  return text;
}

}  // namespace diarist::audio
