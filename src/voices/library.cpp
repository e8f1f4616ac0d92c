#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.hpp"
#include "base/file.hpp"
#include "diarist/voices.hpp"
#include "voices/checks.hpp"

namespace diarist {
namespace voices {
namespace {

constexpr int kMostNumbers = 4096;  // of a vector: far more than any network has

bool is_utf8(const std::string& text) {
  try {
    nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

// "SPEAKER_00": what an unknown speaker is called.
bool is_number_of_speaker(std::string_view name) {
  constexpr std::string_view kPrefix = "SPEAKER_";
  if (!name.starts_with(kPrefix) || name.size() == kPrefix.size()) return false;
  name.remove_prefix(kPrefix.size());
  return name.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::string as_utf8(const std::string& text) {
  using nlohmann::json;
  if (is_utf8(text)) return text;
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace))
      .get<std::string>();
}

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string trouble_with_name(const std::string& name) {
  if (name.empty()) return "a voice has no name; give it letters";
  if (name.size() > VoiceLibrary::kMostNameBytes)
    return fmt::format("a name of {} bytes is too long; {} are the limit", name.size(),
                       VoiceLibrary::kMostNameBytes);
  if (!is_utf8(name)) return "a name is no UTF-8; write it in that encoding";
  const bool control = std::any_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '\x7F';
  });
  if (control) return "a name has a line end, tab or other control character; leave it out";
  if (name.front() == ' ' || name.back() == ' ')
    return fmt::format("the name '{}' has blanks at its ends; leave them out", name);
  if (is_number_of_speaker(name))
    return fmt::format("the name '{}' is one that unknown speakers get; take another", name);
  return {};
}

std::string trouble_with_model(const VoiceModel& model) {
  if (model.network.empty()) return "the network of the vectors has no name";
  if (!is_sha256(model.sha256))
    return fmt::format("the sha256 of the weights of {} is not known", model.network);
  if (model.dim < 1 || model.dim > kMostNumbers)
    return fmt::format("vectors of {} numbers; 1 to {} can be", model.dim, kMostNumbers);
  return {};
}

std::string trouble_with_vector(std::span<const float> embedding, const VoiceModel& model) {
  if (embedding.size() != static_cast<std::size_t>(model.dim))
    return fmt::format("the vector has {} numbers, those of {} have {}", embedding.size(),
                       model.network, model.dim);
  double squares = 0;
  for (const float value : embedding) {
    if (!std::isfinite(value)) return "the vector has NaN or infinite numbers";
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  // The least length whose numbers keep their digits at length 1.
  if (std::sqrt(squares) < 1e-30) return "the vector is zero: there is no voice in it";
  return {};
}

std::string trouble_with_seconds(double seconds) {
  if (std::isfinite(seconds) && seconds >= 0) return {};
  return fmt::format("{} seconds of speech; give a number >= 0", seconds);
}

std::string words_of(const VoiceModel& model) {
  return fmt::format("{} {} ({} numbers)", model.network, model.sha256.substr(0, 12), model.dim);
}

bool same_network(const VoiceModel& a, const VoiceModel& b) {
  return a.network == b.network && a.sha256 == b.sha256 &&
         (a.dim == 0 || b.dim == 0 || a.dim == b.dim);
}

}  // namespace voices

namespace {

[[noreturn]] void refuse(const std::string& text) {
  base::fail(ErrorCode::kInvalidArgument, "{}", text);
}

void need(const std::string& trouble) {
  if (!trouble.empty()) refuse(trouble);
}

bool before(const Voice& voice, std::string_view name) { return voice.name < name; }

[[noreturn]] void refuse_unknown(std::string_view name, std::span<const Voice> voices) {
  constexpr std::size_t kShown = 8;
  std::string known;
  for (std::size_t i = 0; i < std::min(voices.size(), kShown); ++i)
    known += (i > 0 ? ", " : "") + voices[i].name;
  if (voices.size() > kShown) known += ", ...";
  refuse(
      fmt::format("there is no voice '{}'; there are: {}", name, known.empty() ? "none" : known));
}

}  // namespace

VoiceLibrary VoiceLibrary::load(const std::filesystem::path& file) {
  return parse(base::read_text(file), file.string());
}

void VoiceLibrary::save(const std::filesystem::path& file) const {
  constexpr unsigned kOwnerOnly = 0600;
  base::write_atomic(file, to_text(), kOwnerOnly);
}

const Voice* VoiceLibrary::find(std::string_view name) const noexcept {
  const auto found = std::lower_bound(voices_.begin(), voices_.end(), name, before);
  return found != voices_.end() && found->name == name ? &*found : nullptr;
}

void VoiceLibrary::add(const std::string& name, const VoiceModel& model, VoiceSample sample) {
  need(voices::trouble_with_name(name));
  need(voices::trouble_with_model(model));
  if (model_ && *model_ != model) {
    refuse(fmt::format(
        "'{}': the vector is of {}, the voices are of {}; vectors of two networks can't be "
        "compared, so enrol into a library of its own, or with the preset of the others",
        name, voices::words_of(model), voices::words_of(*model_)));
  }
  for (const std::string& trouble : {voices::trouble_with_vector(sample.embedding, model),
                                     voices::trouble_with_seconds(sample.seconds)})
    if (!trouble.empty()) refuse(fmt::format("'{}': {}", name, trouble));
  sample.embedding = voices::unit_vector(sample.embedding);
  sample.source = voices::as_utf8(sample.source);

  auto place = std::lower_bound(voices_.begin(), voices_.end(), name, before);
  if (place == voices_.end() || place->name != name) {
    place = voices_.insert(place, Voice{name, {}});
  } else if (place->samples.size() >= kMostSamples) {
    refuse(fmt::format("'{}' has {} samples, which is the limit; remove one first", name,
                       place->samples.size()));
  }
  place->samples.push_back(std::move(sample));
  model_ = model;
}

void VoiceLibrary::add(const std::string& name, const Diarization& result,
                       const std::string& speaker) {
  const auto found = std::find_if(result.speakers.begin(), result.speakers.end(),
                                  [&](const Speaker& other) { return other.name == speaker; });
  if (found == result.speakers.end()) {
    std::string known;
    for (const Speaker& other : result.speakers) known += (known.empty() ? "" : ", ") + other.name;
    refuse(fmt::format("the result of '{}' has no speaker '{}'; it has: {}", result.uri, speaker,
                       known.empty() ? "none" : known));
  }
  const bool silent = std::all_of(found->embedding.begin(), found->embedding.end(),
                                  [](float value) { return value == 0; });
  if (silent) {
    refuse(fmt::format(
        "{} of '{}' has no vector: it speaks too little alone; give a recording or stretch in "
        "which it speaks longer",
        speaker, result.uri));
  }
  std::string source = result.uri.empty() ? speaker : result.uri + " " + speaker;
  add(name, voice_model(result), {found->embedding, found->speech_seconds, std::move(source)});
}

void VoiceLibrary::remove(const std::string& name) {
  const Voice* const voice = find(name);
  if (voice == nullptr) refuse_unknown(name, voices_);
  voices_.erase(voices_.begin() + (voice - voices_.data()));
  if (voices_.empty()) model_.reset();
}

void VoiceLibrary::remove(const std::string& name, std::size_t sample) {
  const Voice* const voice = find(name);
  if (voice == nullptr) refuse_unknown(name, voices_);
  if (sample >= voice->samples.size()) {
    refuse(fmt::format("'{}' has no sample {}: it has {}, counted from 0", name, sample,
                       voice->samples.size()));
  }
  if (voice->samples.size() == 1) return remove(name);
  std::vector<VoiceSample>& samples =
      voices_[static_cast<std::size_t>(voice - voices_.data())].samples;
  samples.erase(samples.begin() + static_cast<std::ptrdiff_t>(sample));
}

void VoiceLibrary::rename(const std::string& name, const std::string& to) {
  const Voice* const voice = find(name);
  if (voice == nullptr) refuse_unknown(name, voices_);
  if (name == to) return;
  need(voices::trouble_with_name(to));
  if (find(to) != nullptr)
    refuse(fmt::format("there is a voice '{}' already; remove it first, or take another name", to));
  Voice renamed = *voice;
  renamed.name = to;
  voices_.erase(voices_.begin() + (voice - voices_.data()));
  voices_.insert(std::lower_bound(voices_.begin(), voices_.end(), to, before), std::move(renamed));
}

}  // namespace diarist
