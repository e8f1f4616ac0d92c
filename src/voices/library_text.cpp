// The file of a library: JSON of one sample per line. docs/voices.md describes it.

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.hpp"
#include "diarist/voices.hpp"
#include "voices/checks.hpp"

namespace diarist {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "diarist.voices";
constexpr int kVersion = 1;

std::string quoted(const std::string& text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

// Nine digits name every float32 and are far enough from its neighbours to come back through a
// double as well.
std::string number(float value) {
  if (value == 0) return std::signbit(value) ? "-0.0" : "0";  // "-0" would be a whole number
  return fmt::format("{:.9g}", value);
}

std::string sample_text(const VoiceSample& sample) {
  std::string numbers;
  for (const float value : sample.embedding) {
    if (!numbers.empty()) numbers += ',';
    numbers += number(value);
  }
  return fmt::format(R"(    {{"seconds": {}, "source": {}, "embedding": [{}]}})", sample.seconds,
                     quoted(sample.source), numbers);
}

/// Reads one file; every complaint names the file and the place in it.
class Reader {
 public:
  explicit Reader(const std::string& source) : source_(source) {}

  VoiceLibrary read(std::string_view text) const {
    const json root = parsed(text);
    if (!root.is_object() || root.value("format", json()) != kFormat)
      fail("file", fmt::format("is no library of voices; its \"format\" must be \"{}\"", kFormat));
    const int version = whole(root, "version", "file");
    if (version != kVersion)
      fail("version",
           fmt::format("is {}; this diarist reads {}, take a newer one", version, kVersion));
    const json& voices = member(root, "voices", "file");
    if (!voices.is_array()) fail("voices", "must be a list");
    VoiceLibrary library;
    if (voices.empty()) return library;
    const VoiceModel model = model_of(member(root, "model", "file"));
    for (std::size_t i = 0; i < voices.size(); ++i)
      add_voice(library, model, voices[i], fmt::format("voices[{}]", i));
    return library;
  }

 private:
  [[noreturn]] void fail(const std::string& place, const std::string& what) const {
    base::fail(ErrorCode::kBadFile, "{}: {} {}", source_, place, what);
  }

  json parsed(std::string_view text) const {
    try {
      return json::parse(text);
    } catch (const json::exception& error) {
      // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
      std::string what = error.what();
      if (const std::size_t name = what.find("] "); name != std::string::npos)
        what.erase(0, name + 2);
      fail("text", fmt::format("is no valid JSON ({})", quoted(what.substr(0, 240))));
    }
  }

  const json& member(const json& object, const char* key, const std::string& place) const {
    if (!object.is_object()) fail(place, "must be an object");
    const auto found = object.find(key);
    if (found == object.end()) fail(place, fmt::format("has no \"{}\"", key));
    return *found;
  }

  std::string text(const json& object, const char* key, const std::string& place) const {
    const json& value = member(object, key, place);
    if (!value.is_string()) fail(fmt::format("{}.{}", place, key), "must be text");
    return value.get<std::string>();
  }

  int whole(const json& object, const char* key, const std::string& place) const {
    const json& value = member(object, key, place);
    constexpr int kMost = 1'000'000;
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMost)
      fail(fmt::format("{}.{}", place, key), "must be a small whole number");
    return value.get<int>();
  }

  void need(const std::string& place, const std::string& trouble) const {
    if (!trouble.empty()) fail(place + ":", trouble);
  }

  VoiceModel model_of(const json& object) const {
    const VoiceModel model{text(object, "network", "model"), text(object, "sha256", "model"),
                           whole(object, "dim", "model")};
    need("model", voices::trouble_with_model(model));
    return model;
  }

  void add_voice(VoiceLibrary& library, const VoiceModel& model, const json& voice,
                 const std::string& place) const {
    const std::string name = text(voice, "name", place);
    need(place, voices::trouble_with_name(name));
    if (library.find(name) != nullptr)
      fail(place, fmt::format("has the name {} of another voice", quoted(name)));
    const json& samples = member(voice, "samples", place);
    if (!samples.is_array() || samples.empty() || samples.size() > VoiceLibrary::kMostSamples)
      fail(place + ".samples",
           fmt::format("must be a list of 1 to {}", VoiceLibrary::kMostSamples));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const std::string where = fmt::format("{}.samples[{}]", place, i);
      library.add(name, model, sample_of(samples[i], model, where));
    }
  }

  VoiceSample sample_of(const json& object, const VoiceModel& model,
                        const std::string& place) const {
    VoiceSample sample;
    const json& seconds = member(object, "seconds", place);
    if (!seconds.is_number()) fail(place + ".seconds", "must be a number");
    sample.seconds = seconds.get<double>();
    need(place, voices::trouble_with_seconds(sample.seconds));
    sample.source = text(object, "source", place);
    const json& numbers = member(object, "embedding", place);
    if (!numbers.is_array()) fail(place + ".embedding", "must be a list of numbers");
    for (const json& value : numbers) {
      if (!value.is_number()) fail(place + ".embedding", "must be a list of numbers");
      sample.embedding.push_back(static_cast<float>(value.get<double>()));
    }
    need(place, voices::trouble_with_vector(sample.embedding, model));
    return sample;
  }

  const std::string& source_;
};

}  // namespace

VoiceLibrary VoiceLibrary::parse(std::string_view text, const std::string& source) {
  return Reader(source).read(text);
}

std::string VoiceLibrary::to_text() const {
  std::string text = fmt::format("{{\n\"format\": \"{}\",\n\"version\": {},\n", kFormat, kVersion);
  if (model_)
    text += fmt::format("\"model\": {{\"network\": {}, \"sha256\": \"{}\", \"dim\": {}}},\n",
                        quoted(model_->network), model_->sha256, model_->dim);
  text += "\"voices\": [";
  for (std::size_t i = 0; i < voices_.size(); ++i) {
    text += fmt::format("{}\n  {{\"name\": {}, \"samples\": [", i > 0 ? "," : "",
                        quoted(voices_[i].name));
    const std::vector<VoiceSample>& samples = voices_[i].samples;
    for (std::size_t k = 0; k < samples.size(); ++k) {
      text += k > 0 ? ",\n" : "\n";
      text += sample_text(samples[k]);
    }
    text += "\n  ]}";
  }
  text += voices_.empty() ? "]\n}\n" : "\n]\n}\n";
  return text;
}

}  // namespace diarist
