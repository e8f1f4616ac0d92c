#include "unit/audio/media_writer.hpp"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/channel_layout.h>
}

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace diarist::test {
namespace {

void check(int code, const char* what) {
  if (code < 0) throw std::runtime_error(what);
}

void fill(AVFrame* frame, std::span<const float> samples) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (frame->format == AV_SAMPLE_FMT_S16 || frame->format == AV_SAMPLE_FMT_S16P) {
      reinterpret_cast<std::int16_t*>(frame->data[0])[i] =
          static_cast<std::int16_t>(std::nearbyint(samples[i] * 32768.0F));
    } else if (frame->format == AV_SAMPLE_FMT_S32 || frame->format == AV_SAMPLE_FMT_S32P) {
      reinterpret_cast<std::int32_t*>(frame->data[0])[i] =
          static_cast<std::int32_t>(std::nearbyint(samples[i] * 32768.0F) * 65536);
    } else if (frame->format == AV_SAMPLE_FMT_FLTP || frame->format == AV_SAMPLE_FMT_FLT) {
      reinterpret_cast<float*>(frame->data[0])[i] = samples[i];
    } else {
      throw std::runtime_error("sample format of this encoder is not known to the test");
    }
  }
}

// The first that fill() knows.
AVSampleFormat known_format(const AVCodec& encoder) {
  for (const AVSampleFormat* format = encoder.sample_fmts; *format != AV_SAMPLE_FMT_NONE; ++format)
    if (*format != AV_SAMPLE_FMT_U8 && *format != AV_SAMPLE_FMT_U8P) return *format;
  return encoder.sample_fmts[0];
}

void drain(AVCodecContext* codec, AVFormatContext* format, AVStream* stream, AVPacket* packet) {
  while (avcodec_receive_packet(codec, packet) == 0) {
    av_packet_rescale_ts(packet, codec->time_base, stream->time_base);
    packet->stream_index = stream->index;
    check(av_interleaved_write_frame(format, packet), "write packet");
  }
}

void encode(const MediaTrack& track, AVCodecContext* codec, AVFormatContext* format,
            AVStream* stream) {
  AVPacket* packet = av_packet_alloc();
  AVFrame* frame = av_frame_alloc();
  const std::size_t block =
      codec->frame_size > 0 ? static_cast<std::size_t>(codec->frame_size) : std::size_t{1000};
  for (std::size_t at = 0; at < track.samples.size(); at += block) {
    const auto part =
        std::span(track.samples).subspan(at, std::min(block, track.samples.size() - at));
    frame->nb_samples = static_cast<int>(part.size());
    frame->format = codec->sample_fmt;
    frame->sample_rate = codec->sample_rate;
    av_channel_layout_copy(&frame->ch_layout, &codec->ch_layout);
    const double seconds = static_cast<double>(at) / track.sample_rate;
    const double shift = track.start + (track.gap > 0 && seconds >= track.gap_at ? track.gap : 0);
    frame->pts = static_cast<std::int64_t>(at) + std::llround(shift * track.sample_rate);
    check(av_frame_get_buffer(frame, 0), "frame buffer");
    fill(frame, part);
    check(avcodec_send_frame(codec, frame), "send frame");
    drain(codec, format, stream, packet);
    av_frame_unref(frame);
  }
  check(avcodec_send_frame(codec, nullptr), "end");
  drain(codec, format, stream, packet);
  av_frame_free(&frame);
  av_packet_free(&packet);
}

}  // namespace

bool write_media(const std::filesystem::path& file, const std::string& container,
                 const std::string& codec_name, std::span<const MediaTrack> tracks) {
  const AVCodec* encoder = avcodec_find_encoder_by_name(codec_name.c_str());
  if (encoder == nullptr || av_guess_format(container.c_str(), nullptr, nullptr) == nullptr) {
    return false;
  }
  AVFormatContext* format = nullptr;
  check(avformat_alloc_output_context2(&format, nullptr, container.c_str(), file.c_str()),
        "container");
  std::vector<AVCodecContext*> codecs;
  for (const MediaTrack& track : tracks) {
    AVStream* stream = avformat_new_stream(format, nullptr);
    AVCodecContext* codec = avcodec_alloc_context3(encoder);
    codec->sample_rate = track.sample_rate;
    codec->sample_fmt = known_format(*encoder);
    codec->time_base = {1, track.sample_rate};
    codec->bit_rate = track.bit_rate;
    av_channel_layout_default(&codec->ch_layout, 1);
    if ((format->oformat->flags & AVFMT_GLOBALHEADER) != 0) {
      codec->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    }
    check(avcodec_open2(codec, encoder, nullptr), "open encoder");
    check(avcodec_parameters_from_context(stream->codecpar, codec), "parameters");
    stream->time_base = codec->time_base;
    codecs.push_back(codec);
  }
  check(avio_open(&format->pb, file.c_str(), AVIO_FLAG_WRITE), "open file");
  check(avformat_write_header(format, nullptr), "write header");
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    encode(tracks[i], codecs[i], format, format->streams[i]);
    avcodec_free_context(&codecs[i]);
  }
  check(av_write_trailer(format), "write trailer");
  avio_closep(&format->pb);
  avformat_free_context(format);
  return true;
}

}  // namespace diarist::test
