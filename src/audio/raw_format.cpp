// "f32le:16000:1" as people write it.

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "audio/raw_reader.hpp"
#include "audio/reader.hpp"
#include "audio/source.hpp"
#include "base/error.hpp"

namespace diarist {
namespace {

constexpr std::array<std::pair<std::string_view, SampleFormat>, 9> kNames = {
    {{"s16le", SampleFormat::kS16Le},
     {"s16be", SampleFormat::kS16Be},
     {"u8", SampleFormat::kU8},
     {"s24le", SampleFormat::kS24Le},
     {"s32le", SampleFormat::kS32Le},
     {"f32le", SampleFormat::kF32Le},
     {"f64le", SampleFormat::kF64Le},
     {"mulaw", SampleFormat::kMuLaw},
     {"alaw", SampleFormat::kALaw}}};

[[noreturn]] void fail_format(std::string_view text) {
  std::string names;
  for (const auto& [name, format] : kNames) {
    if (!names.empty()) names += ", ";
    names += name;
  }
  base::fail(ErrorCode::kInvalidArgument,
             "raw format '{}': give FORMAT:RATE:CHANNELS, e.g. s16le:16000:1, with one of {}, {} "
             "to {} Hz and 1 to {} channels",
             text, names, audio::kMinSampleRate, audio::kMaxSampleRate, audio::kMaxChannels);
}

bool read_number(std::string_view text, int& number) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [rest, error] = std::from_chars(begin, end, number);
  return error == std::errc() && rest == end && !text.empty();
}

}  // namespace

RawFormat parse_raw_format(std::string_view text) {
  const std::size_t first = text.find(':');
  const std::size_t second = text.find(':', first == text.npos ? first : first + 1);
  if (second == text.npos) fail_format(text);
  RawFormat raw;
  bool known = false;
  for (const auto& [name, format] : kNames) {
    if (text.substr(0, first) != name) continue;
    raw.format = format;
    known = true;
  }
  if (!known || !read_number(text.substr(first + 1, second - first - 1), raw.sample_rate) ||
      !read_number(text.substr(second + 1), raw.channels) || !audio::is_possible(raw)) {
    fail_format(text);
  }
  return raw;
}

namespace audio {

bool is_possible(const RawFormat& raw) {
  return raw.sample_rate >= kMinSampleRate && raw.sample_rate <= kMaxSampleRate &&
         raw.channels >= 1 && raw.channels <= kMaxChannels;
}

std::string raw_text(const RawFormat& raw) {
  std::string_view its_name;
  for (const auto& [name, format] : kNames) {
    if (format == raw.format) its_name = name;
  }
  return fmt::format("{}:{}:{}", its_name, raw.sample_rate, raw.channels);
}

}  // namespace audio
}  // namespace diarist
