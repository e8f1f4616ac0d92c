#include "option_facts.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "diarist/formats.hpp"
#include "diarist/info.hpp"

namespace diarist::cli {
namespace {

constexpr const char* kModel = "Models";
constexpr const char* kAudio = "Recording";
constexpr const char* kSpeakers = "Speakers";
constexpr const char* kTurns = "Turns";
constexpr const char* kLabels = "Labels";
constexpr const char* kScoring = "Scoring";
constexpr const char* kOutput = "Output";
constexpr const char* kDevice = "Device and speed";
constexpr const char* kMeasuring = "Measuring";
constexpr const char* kGeneral = "General";

// One name means the same wherever it occurs, so one table serves all verbs.
constexpr auto kFacts = std::to_array<OptionFacts>({
    {"preset", kModel, "NAME"},
    {"models", kModel, "DIR", ValueKind::kFolder},
    {"weights", kModel, "FILE", ValueKind::kFile},
    {"allow-unknown-weights", kModel, ""},
    {"plda", kModel, "DIR", ValueKind::kFolder},
    {"python", kModel, "PROGRAM", ValueKind::kFile},
    {"hub", kModel, "URL"},
    {"stall", kModel, "SECONDS", ValueKind::kNumber},

    {"raw", kAudio, "FORMAT:HZ:CHANNELS"},
    {"track", kAudio, "N", ValueKind::kNumber},
    {"channel", kAudio, "N", ValueKind::kNumber},
    {"split-channels", kAudio, ""},
    {"from", kAudio, "TIME"},
    {"to", kAudio, "TIME"},
    {"container-clock", kAudio, ""},
    {"segments", kAudio, "FILE", ValueKind::kFile},
    {"segmentations", kAudio, "FILE", ValueKind::kFile},
    {"embeddings", kAudio, "FILE", ValueKind::kFile},
    {"audio", kAudio, "FILE", ValueKind::kFile},
    {"turns", kAudio, "FILE", ValueKind::kFile},
    {"replay", kAudio, "DIR", ValueKind::kFolder},
    {"uri", kAudio, "NAME"},
    {"id", kAudio, "NAME"},

    {"num-speakers", kSpeakers, "N", ValueKind::kNumber},
    {"min-speakers", kSpeakers, "N", ValueKind::kNumber},
    {"max-speakers", kSpeakers, "N", ValueKind::kNumber},
    {"reference", kSpeakers, ""},
    {"names", kSpeakers, "NAMES"},
    {"speaker", kSpeakers, "NAME"},
    {"sample", kSpeakers, "N", ValueKind::kNumber},
    {"voices", kSpeakers, "LIBRARY", ValueKind::kFile},
    {"voices-threshold", kSpeakers, "SCORE", ValueKind::kNumber},
    {"voices-margin", kSpeakers, "SCORE", ValueKind::kNumber},
    {"voices-min-seconds", kSpeakers, "SECONDS", ValueKind::kNumber},

    {"exclusive", kTurns, ""},
    {"min-duration-on", kTurns, "SECONDS", ValueKind::kNumber},
    {"min-duration-off", kTurns, "SECONDS", ValueKind::kNumber},
    {"merge-gap", kTurns, "SECONDS", ValueKind::kNumber},
    {"pad", kTurns, "SECONDS", ValueKind::kNumber},
    {"step", kTurns, "SECONDS", ValueKind::kNumber},

    {"offset", kLabels, "SECONDS", ValueKind::kNumber},
    {"max-distance", kLabels, "SECONDS", ValueKind::kNumber},
    {"smooth", kLabels, ""},
    {"whole", kLabels, ""},
    {"unknown", kLabels, "NAME"},
    {"style", kLabels, "STYLE"},
    {"overlapping", kLabels, ""},

    {"collar", kScoring, "SECONDS", ValueKind::kNumber},
    {"skip-overlap", kScoring, ""},
    {"uem", kScoring, "FILE", ValueKind::kFile},
    {"md-eval", kScoring, ""},
    {"bootstrap", kScoring, "N", ValueKind::kNumber},
    {"seed", kScoring, "S", ValueKind::kNumber},
    {"level", kScoring, "P", ValueKind::kNumber},
    {"interval", kScoring, "KIND"},
    {"compare", kScoring, "HYP2", ValueKind::kFile},
    {"min-seconds", kScoring, "SECONDS", ValueKind::kNumber},
    {"by-name", kScoring, ""},

    {"out", kOutput, "", ValueKind::kFile},
    {"format", kOutput, "NAME"},
    {"json", kOutput, ""},
    {"save-stages", kOutput, "DIR", ValueKind::kFolder},
    {"report", kOutput, "FILE", ValueKind::kFile},
    {"plot", kOutput, "FILE", ValueKind::kFile},
    {"embed-audio", kOutput, ""},
    {"embed-limit", kOutput, "MB", ValueKind::kNumber},
    {"title", kOutput, "TEXT"},
    {"mapping", kOutput, ""},
    {"top", kOutput, "N", ValueKind::kNumber},
    {"exit-code", kOutput, ""},
    {"markdown", kOutput, "FILE", ValueKind::kFile},
    {"timings", kOutput, ""},
    {"choices", kOutput, ""},
    {"check", kOutput, "FILE", ValueKind::kFile},

    {"device", kDevice, "NAME"},
    {"precision", kDevice, "NAME"},
    {"threads", kDevice, "N", ValueKind::kNumber},
    {"batch", kDevice, "N", ValueKind::kNumber},
    {"max-gpu-memory", kDevice, "SIZE"},
    {"cpu-target", kDevice, "NAME"},
    {"family", kDevice, "NAME"},
    {"kernel-only", kDevice, ""},
    {"tune-file", kDevice, "FILE", ValueKind::kFile},

    {"seconds", kMeasuring, "SECONDS", ValueKind::kNumber},
    {"repeat", kMeasuring, "N", ValueKind::kNumber},
    {"warm-up", kMeasuring, "N", ValueKind::kNumber},
    {"no-check", kMeasuring, ""},
    {"profile", kMeasuring, ""},
    {"algorithms", kMeasuring, ""},
    {"fusion", kMeasuring, ""},

    {"config", kGeneral, "FILE", ValueKind::kFile},
    {"quiet", kGeneral, ""},
    {"json-progress", kGeneral, ""},
    {"dry-run", kGeneral, ""},
    {"help", kGeneral, ""},
    {"version", kGeneral, ""},
});

}  // namespace

const OptionFacts* facts_of(std::string_view name) {
  const auto* found = std::find_if(kFacts.begin(), kFacts.end(),
                                   [&](const OptionFacts& facts) { return name == facts.name; });
  return found == kFacts.end() ? nullptr : &*found;
}

const std::vector<std::string>& option_groups() {
  static const std::vector<std::string> kGroups = {kAudio,   kSpeakers,  kTurns,    kLabels,
                                                   kScoring, kOutput,    "Options", kModel,
                                                   kDevice,  kMeasuring, kGeneral};
  return kGroups;
}

bool means_something_else(std::string_view verb, std::string_view name) {
  // Formats of scores and transcripts; formats where others have times; files where others have
  // folders.
  constexpr auto kOwn =
      std::to_array<std::pair<std::string_view, std::string_view>>({{"score", "format"},
                                                                    {"label", "format"},
                                                                    {"label", "out"},
                                                                    {"embed", "out"},
                                                                    {"report", "out"},
                                                                    {"man", "out"},
                                                                    {"convert", "from"},
                                                                    {"convert", "to"},
                                                                    {"bench run", "format"},
                                                                    {"bench embed", "format"},
                                                                    {"tune", "out"}});
  return std::find(kOwn.begin(), kOwn.end(), std::pair(verb, name)) != kOwn.end();
}

std::vector<std::string> offered_values(std::string_view name) {
  std::vector<std::string> values;
  if (name == "preset")
    for (const PresetInfo& preset : build_info().presets) values.push_back(preset.name);
  // Those of any machine: a page or a completion made here may be read elsewhere.
  if (name == "device") values = {"cpu", "cuda", "cuda:0", "reference"};
  if (name == "format")
    for (const FormatInfo& format : formats()) values.emplace_back(format.name);
  if (name == "step") values = {"1", "2", "5"};
  if (name == "raw")
    values = {"s16le:16000:1", "s24le:48000:2", "s32le:48000:2", "f32le:16000:1",
              "u8:8000:1",     "mulaw:8000:1",  "alaw:8000:1"};
  return values;
}

std::string example_of(std::string_view verb) {
  if (verb == "score") return "Example:\n  diarist score reference.rttm hypothesis.rttm";
  if (verb == "info") return "Examples:\n  diarist info\n  diarist info --choices --device cuda";
  if (verb == "models list") return "Example:\n  diarist models list";
  if (verb == "models check") return "Example:\n  diarist models check --models /srv/diarist";
  if (verb == "bench") return "Example: diarist bench run --preset open meeting.wav";
  return {};
}

}  // namespace diarist::cli
