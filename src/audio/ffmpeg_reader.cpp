#include "audio/ffmpeg_reader.hpp"

#ifdef DIARIST_HAVE_FFMPEG

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/mathematics.h>
}

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "audio/container_clock.hpp"
#include "audio/ffmpeg_io.hpp"
#include "audio/ffmpeg_samples.hpp"
#include "base/error.hpp"

namespace diarist::audio {
namespace {

// A demuxer that fails this often in a row has nothing more to give.
constexpr int kMaxFailuresInARow = 200;

template <auto kFree>
struct Free {
  template <typename T>
  void operator()(T* object) const {
    kFree(&object);
  }
};

void close_input(AVFormatContext** context) { avformat_close_input(context); }
void free_codec(AVCodecContext** context) { avcodec_free_context(context); }
void free_packet(AVPacket** packet) { av_packet_free(packet); }
void free_frame(AVFrame** frame) { av_frame_free(frame); }

// Streams must not open anything else: a playlist could name other files or addresses.
int refuse_open(AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**) {
  return AVERROR(EPERM);
}

class FfmpegReader final : public Reader {
 public:
  FfmpegReader(Bytes& bytes, const AudioOptions& options)
      : bytes_(bytes), options_(options), io_(bytes), clock_(options.container_clock) {}

  // False, with the reason, when there is no sound in it.
  bool open(std::string* reason) {
    AVFormatContext* format = avformat_alloc_context();
    if (format == nullptr || io_.context() == nullptr) out_of_memory();
    format->pb = io_.context();
    format->flags |= AVFMT_FLAG_CUSTOM_IO;
    format->io_open = refuse_open;
    AVDictionary* options = nullptr;
    av_dict_set(&options, "protocol_whitelist", "none", 0);
    int code = avformat_open_input(&format, nullptr, nullptr, &options);  // frees it on failure
    av_dict_free(&options);
    if (code >= 0) format_.reset(format);
    io_.rethrow();
    if (code < 0) return give_up(code, reason);
    for (unsigned i = 0; i < format_->nb_streams; ++i) {
      AVStream* stream = format_->streams[i];
      if (stream->codecpar->codec_type != AVMEDIA_TYPE_AUDIO) stream->discard = AVDISCARD_ALL;
    }
    code = avformat_find_stream_info(format_.get(), nullptr);
    io_.rethrow();
    if (code < 0) return give_up(code, reason);
    const AVCodec* decoder = nullptr;
    const int wanted = options_.track > 0 ? index_of_track() : -1;
    code = av_find_best_stream(format_.get(), AVMEDIA_TYPE_AUDIO, wanted, -1, &decoder, 0);
    if (code == AVERROR_DECODER_NOT_FOUND || (code >= 0 && decoder == nullptr)) {
      base::fail(ErrorCode::kUnsupported,
                 "{}: this FFmpeg can't decode its sound; convert it to WAV or FLAC",
                 bytes_.name());
    }
    if (code < 0) {
      if (reason != nullptr) *reason = "no sound track";
      return false;
    }
    choose(code);
    open_decoder(decoder);
    first_ = decode();
    if (first_) return true;
    if (packets_ > 0 || stream_->codecpar->sample_rate <= 0) {
      base::fail(ErrorCode::kBadFile,
                 "{}: none of its sound can be decoded; it is damaged or isn't audio, copy or "
                 "convert it again",
                 bytes_.name());
    }
    return true;  // a sound track without any sound
  }

  Block next() override {
    for (;;) {
      if (silent_ > 0) return silence();
      std::optional<Block> block = std::exchange(first_, std::nullopt);
      if (!block && !ended_) block = decode();
      if (!block) return {};
      if (silent_ > 0) {
        first_ = block;  // behind the silence
      } else if (!block->samples.empty()) {
        return *block;
      }  // else all of it was dropped
    }
  }

  std::int64_t expected_frames() const noexcept override {
    if (stream_ == nullptr || stream_->duration <= 0 || expected_rate() <= 0 ||
        format_->duration_estimation_method == AVFMT_DURATION_FROM_BITRATE) {
      return 0;
    }
    return std::max<std::int64_t>(
        0, av_rescale_q(stream_->duration, stream_->time_base, AVRational{1, expected_rate()}));
  }
  int expected_rate() const noexcept override {
    return rate_ != 0 ? rate_ : (stream_ != nullptr ? stream_->codecpar->sample_rate : 0);
  }

 private:
  [[noreturn]] void out_of_memory() const {
    base::fail(ErrorCode::kOutOfMemory, "{}: no memory left for decoding", bytes_.name());
  }

  static bool give_up(int code, std::string* reason) {
    char text[AV_ERROR_MAX_STRING_SIZE] = {};
    av_strerror(code, text, sizeof(text));
    if (reason != nullptr) *reason = text;
    return false;
  }

  // Index of the stream that is the wanted sound track.
  int index_of_track() const {
    int tracks = 0;
    std::string list;
    for (unsigned i = 0; i < format_->nb_streams; ++i) {
      const AVStream* stream = format_->streams[i];
      const AVCodecParameters& sound = *stream->codecpar;
      if (sound.codec_type != AVMEDIA_TYPE_AUDIO) continue;
      if (++tracks == options_.track) return static_cast<int>(i);
      const AVDictionaryEntry* language = av_dict_get(stream->metadata, "language", nullptr, 0);
      list += fmt::format("{}{} ({}, {} Hz, {} channel(s){})", tracks == 1 ? "" : ", ", tracks,
                          avcodec_get_name(sound.codec_id), sound.sample_rate,
                          sound.ch_layout.nb_channels,
                          language != nullptr ? std::string(", ") + language->value : "");
    }
    if (tracks == 0) return -1;
    base::fail(ErrorCode::kBadFile, "{}: has no sound track {}; there is {}", bytes_.name(),
               options_.track, list);
  }

  void choose(int index) {
    int tracks = 0;
    int number = 0;
    for (unsigned i = 0; i < format_->nb_streams; ++i) {
      AVStream* stream = format_->streams[i];
      const bool sound = stream->codecpar->codec_type == AVMEDIA_TYPE_AUDIO;
      if (sound) ++tracks;
      if (static_cast<int>(i) == index) {
        stream_ = stream;
        number = tracks;
      }
      stream->discard = static_cast<int>(i) == index ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
    }
    if (tracks > 1 && options_.track == 0) {
      warnings_.push_back(
          fmt::format("{}: has {} sound tracks; number {} is used", bytes_.name(), tracks, number));
    }
  }

  void open_decoder(const AVCodec* decoder) {
    codec_.reset(avcodec_alloc_context3(decoder));
    packet_.reset(av_packet_alloc());
    frame_.reset(av_frame_alloc());
    if (!codec_ || !packet_ || !frame_) out_of_memory();
    codec_->pkt_timebase = stream_->time_base;  // the decoder needs it to cut priming and padding
    codec_->thread_count = 1;
    int code = avcodec_parameters_to_context(codec_.get(), stream_->codecpar);
    if (code >= 0) code = avcodec_open2(codec_.get(), decoder, nullptr);
    if (code == AVERROR(ENOMEM)) out_of_memory();
    if (code < 0) {
      std::string reason;
      give_up(code, &reason);
      base::fail(ErrorCode::kBadFile, "{}: its {} decoder can't start ({}); convert it again",
                 bytes_.name(), decoder->name, reason);
    }
  }

  // The next decoded samples; nothing at the end.
  std::optional<Block> decode() {
    int failures = 0;
    while (failures < kMaxFailuresInARow) {
      const int code = avcodec_receive_frame(codec_.get(), frame_.get());
      if (code == 0) {
        std::optional<Block> block = take_frame();
        if (block) return block;
        ++failures;
      } else if (code == AVERROR_EOF) {
        break;
      } else if (code == AVERROR(EAGAIN)) {
        if (feed()) {
          failures = 0;
        } else {
          ++failures;
        }
      } else if (code == AVERROR(ENOMEM)) {
        out_of_memory();
      } else {
        ++damaged_;
        ++failures;
      }
      io_.rethrow();
    }
    ended_ = true;
    report_end();
    return std::nullopt;
  }

  // Gives the decoder one packet, or the end. False when that failed.
  bool feed() {
    const int read = av_read_frame(format_.get(), packet_.get());
    if (read == AVERROR(ENOMEM)) out_of_memory();
    if (read == AVERROR_EOF || (read < 0 && ++unreadable_ >= kMaxFailuresInARow)) {
      return avcodec_send_packet(codec_.get(), nullptr) >= 0;
    }
    if (read < 0) {
      ++damaged_;
      return false;
    }
    unreadable_ = 0;
    int sent = 0;
    if (packet_->stream_index == stream_->index) {
      ++packets_;
      sent = avcodec_send_packet(codec_.get(), packet_.get());
      if (sent < 0) ++damaged_;
    }
    av_packet_unref(packet_.get());
    if (sent == AVERROR(ENOMEM)) out_of_memory();
    // A damaged packet is consumed, so this is progress all the same.
    return true;
  }

  std::optional<Block> take_frame() {
    const int channels = frame_->ch_layout.nb_channels;
    const int rate = frame_->sample_rate;
    const bool usable = channels >= 1 && channels <= kMaxChannels && rate >= kMinSampleRate &&
                        rate <= kMaxSampleRate && frame_->nb_samples > 0 &&
                        to_float(*frame_, samples_);
    const auto count = static_cast<std::int64_t>(frame_->nb_samples);
    const std::optional<double> time = time_of(frame_->best_effort_timestamp);
    av_frame_unref(frame_.get());
    if (!usable) {
      if (count > 0) ++damaged_;
      return std::nullopt;
    }
    if (rate_ == 0) rate_ = rate;
    const ContainerClock::Place place = clock_.place(time, count, rate);
    silent_ = place.silence;
    silent_channels_ = channels;
    silent_rate_ = rate;
    const auto from = static_cast<std::size_t>(place.drop) * static_cast<std::size_t>(channels);
    return Block{std::span<const float>(samples_).subspan(from), channels, rate};
  }

  // Seconds from the container's zero. MP4 and Matroska begin at 0; elsewhere the clock may begin
  // anywhere, and the first stamp of all streams is its zero.
  std::optional<double> time_of(std::int64_t timestamp) const {
    if (timestamp == AV_NOPTS_VALUE) return std::nullopt;
    const std::string_view name = format_->iformat->name;
    const bool begins_at_zero = name.starts_with("mov,") || name.starts_with("matroska,");
    const double zero = begins_at_zero || format_->start_time == AV_NOPTS_VALUE
                            ? 0
                            : static_cast<double>(format_->start_time) / AV_TIME_BASE;
    return static_cast<double>(timestamp) * av_q2d(stream_->time_base) - zero;
  }

  Block silence() {
    const auto frames = static_cast<std::size_t>(
        std::min<std::int64_t>(silent_, static_cast<std::int64_t>(block_frames(silent_channels_))));
    silent_ -= static_cast<std::int64_t>(frames);
    zeros_.assign(frames * static_cast<std::size_t>(silent_channels_), 0.0F);
    return {zeros_, silent_channels_, silent_rate_};
  }

  void report_end() {
    const double seconds = clock_.decoded();
    if (clock_.jumps() > 0) {
      warnings_.push_back(fmt::format(
          "{}: its clock jumps {} times, by {:+.2f} s in all (sound is missing there); times are "
          "those of the sound that is there",
          bytes_.name(), clock_.jumps(), clock_.jumped()));
    }
    if (clock_.restarts() > 0) {
      warnings_.push_back(
          fmt::format("{}: its clock begins again {} times; sound goes on there without a gap",
                      bytes_.name(), clock_.restarts()));
    }
    if (damaged_ > 0 && seconds > 0) {
      warnings_.push_back(
          fmt::format("{}: {} damaged places could not be decoded; times after them may be early",
                      bytes_.name(), damaged_));
    }
    const double announced =
        rate_ != 0 ? static_cast<double>(expected_frames()) / expected_rate() : 0;
    if (seconds + clock_.silence() + 0.5 < announced) {
      warnings_.push_back(
          fmt::format("{}: is cut off: the header announces {:.2f} s, {:.2f} s are there",
                      bytes_.name(), announced, seconds));
    }
  }

  Bytes& bytes_;
  AudioOptions options_;
  FfmpegIo io_;  // outlives format_
  std::unique_ptr<AVFormatContext, Free<close_input>> format_;
  std::unique_ptr<AVCodecContext, Free<free_codec>> codec_;
  std::unique_ptr<AVPacket, Free<free_packet>> packet_;
  std::unique_ptr<AVFrame, Free<free_frame>> frame_;
  AVStream* stream_ = nullptr;
  std::optional<Block> first_;  // decoded while opening
  bool ended_ = false;
  int rate_ = 0;  // of the first frame
  std::int64_t packets_ = 0;
  std::int64_t damaged_ = 0;
  int unreadable_ = 0;  // failures of the demuxer in a row
  ContainerClock clock_;
  std::int64_t silent_ = 0;  // frames of silence to be given before anything else
  int silent_channels_ = 1;
  int silent_rate_ = 16000;
  std::vector<float> zeros_;
  std::vector<float> samples_;
};

}  // namespace

std::unique_ptr<Reader> open_ffmpeg(Bytes& bytes, const AudioOptions& options,
                                    std::string* reason) {
  [[maybe_unused]] static const bool kQuiet = (av_log_set_level(AV_LOG_QUIET), true);
  auto reader = std::make_unique<FfmpegReader>(bytes, options);
  if (!reader->open(reason)) return nullptr;
  return reader;
}

std::string ffmpeg_version() {
  const unsigned version = avcodec_version();
  return fmt::format("FFmpeg {}.{}.{}", AV_VERSION_MAJOR(version), AV_VERSION_MINOR(version),
                     AV_VERSION_MICRO(version));
}

}  // namespace diarist::audio

#else

namespace diarist::audio {

std::unique_ptr<Reader> open_ffmpeg(Bytes&, const AudioOptions&, std::string* reason) {
  if (reason != nullptr) *reason = "this build of diarist has no FFmpeg";
  return nullptr;
}

std::string ffmpeg_version() { return {}; }

}  // namespace diarist::audio

#endif
