#include "support/odd_audio.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace diarist::test {

std::vector<float> test_signal(std::int64_t count, int sample_rate) {
  std::vector<float> samples(static_cast<std::size_t>(count));
  std::uint32_t random = 12345;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double t = static_cast<double>(i) / sample_rate;
    const double phase = 2 * std::numbers::pi * (120 * t + 4 * std::sin(3 * t));
    random = random * 1664525U + 1013904223U;
    const double noise = static_cast<double>(random >> 8) / (1 << 24) - 0.5;
    samples[i] = static_cast<float>(0.2 * std::sin(phase) + 0.1 * std::sin(3 * phase) +
                                    0.05 * std::sin(11 * phase) + 0.01 * noise);
  }
  return samples;
}

std::vector<std::int16_t> to_pcm16(std::span<const float> samples) {
  std::vector<std::int16_t> values;
  values.reserve(samples.size());
  for (const float x : samples) {
    values.push_back(
        static_cast<std::int16_t>(std::clamp(std::nearbyint(x * 32768.0F), -32768.0F, 32767.0F)));
  }
  return values;
}

std::string little(std::uint64_t value, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes.push_back(static_cast<char>(value >> (8 * i) & 0xff));
  return bytes;
}

std::string chunk(std::string_view id, std::string_view body, std::int64_t size, bool padded) {
  const auto announced = size < 0 ? body.size() : static_cast<std::uint64_t>(size);
  std::string bytes = std::string(id) + little(announced, 4) + std::string(body);
  if (padded && body.size() % 2 != 0) bytes.push_back('\0');
  return bytes;
}

std::string wav_format(const WavFormat& format) {
  const int frame = format.channels * ((format.bits + 7) / 8);
  std::string body = little(static_cast<std::uint64_t>(format.extensible ? 0xFFFE : format.tag), 2);
  body += little(static_cast<std::uint64_t>(format.channels), 2);
  body += little(static_cast<std::uint64_t>(format.sample_rate), 4);
  body += little(static_cast<std::uint64_t>(format.sample_rate) * static_cast<unsigned>(frame), 4);
  body += little(static_cast<std::uint64_t>(frame), 2);
  body += little(static_cast<std::uint64_t>(format.bits), 2);
  if (format.extensible) {
    body += little(22, 2) + little(static_cast<std::uint64_t>(format.bits), 2) + little(0, 4);
    body += little(static_cast<std::uint64_t>(format.tag), 2);
    body += std::string("\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71", 14);
  }
  return body;
}

std::string wav_file(std::string_view chunks, std::string_view form, std::int64_t size) {
  const auto announced = size < 0 ? chunks.size() + 4 : static_cast<std::uint64_t>(size);
  return std::string(form) + little(announced, 4) + "WAVE" + std::string(chunks);
}

std::string wav_pcm16(std::span<const float> samples, int sample_rate, int channels) {
  std::string data;
  data.reserve(samples.size() * 2);
  for (const std::int16_t value : to_pcm16(samples)) {
    data += little(static_cast<std::uint16_t>(value), 2);
  }
  return wav_file(chunk("fmt ", wav_format({.channels = channels, .sample_rate = sample_rate})) +
                  chunk("data", data));
}

std::string float_bytes(std::span<const float> samples) {
  std::string bytes;
  bytes.reserve(samples.size() * 4);
  for (const float x : samples) bytes += little(std::bit_cast<std::uint32_t>(x), 4);
  return bytes;
}

void write_bytes(const std::filesystem::path& file, std::string_view bytes) {
  std::ofstream out(file, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw std::runtime_error("can't write " + file.string());
}

std::vector<OddFile> make_odd_audio(const std::filesystem::path& folder,
                                    std::span<const float> speech) {
  std::vector<OddFile> files;
  const auto sound = [&](std::int64_t count) {
    if (speech.empty()) return test_signal(count);
    std::vector<float> samples(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = speech[i % speech.size()];
    return samples;
  };
  const auto add = [&](const char* name, std::string_view bytes, OddOutcome outcome,
                       std::int64_t samples = 0, std::int64_t not_finite = 0) {
    const std::filesystem::path path = folder / name;
    write_bytes(path, bytes);
    files.push_back({path, outcome, samples, not_finite});
  };
  constexpr auto kFine = OddOutcome::kFine;

  files.push_back({folder / "missing.wav", OddOutcome::kNotFound});
  add("empty.wav", "", OddOutcome::kBadFile);
  add("header_only.wav", wav_pcm16({}), kFine);
  const std::string whole = wav_pcm16(sound(160000));
  add("cut_in_header.wav", whole.substr(0, 30), OddOutcome::kBadFile);
  add("truncated.wav", whole.substr(0, 44 + 100001), OddOutcome::kFineWithWarning, 50000);
  add("text.wav", "This is no recording, whatever its name says.\n", OddOutcome::kBadFile);
  add("notes.txt", "first line\nsecond line\n", OddOutcome::kBadFile);

  std::vector<float> broken = sound(192000);
  for (std::size_t i = 0; i < 100; ++i) {
    broken[80000 + i] = std::numeric_limits<float>::quiet_NaN();
    broken[90000 + i] = std::numeric_limits<float>::infinity() * (i % 2 == 0 ? 1.0F : -1.0F);
  }
  add("nan_and_infinite.wav",
      wav_file(chunk("fmt ", wav_format({.tag = 3, .bits = 32})) +
               chunk("data", float_bytes(broken))),
      kFine, 192000, 200);

  add("one_sample.wav", wav_pcm16(sound(1)), kFine, 1);
  add("399_samples.wav", wav_pcm16(sound(399)), kFine, 399);
  add("400_samples.wav", wav_pcm16(sound(400)), kFine, 400);
  add("silence.wav", wav_pcm16(std::vector<float>(20 * 16000)), kFine, 20 * 16000);
  add("9.9_s.wav", wav_pcm16(sound(158400)), kFine, 158400);
  add("10.0_s.wav", whole, kFine, 160000);
  add("10.1_s.wav", wav_pcm16(sound(161600)), kFine, 161600);

  std::vector<float> stereo;
  for (const float x : sound(176000)) stereo.insert(stereo.end(), {x, 0.5F * x});
  add("stereo.wav", wav_pcm16(stereo, 16000, 2), kFine, 176000);
  for (const int rate : {8000, 44100, 48000}) {
    const std::string name = std::to_string(rate) + "_hz.wav";
    add(name.c_str(), wav_pcm16(test_signal(std::int64_t{11} * rate, rate), rate), kFine, 176000);
  }
  return files;
}

}  // namespace diarist::test
