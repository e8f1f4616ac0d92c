// Which network vectors come from, and what was measured for it.

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "diarist/voices.hpp"
#include "voices/checks.hpp"

namespace diarist {
namespace {

constexpr std::string_view kMark = "sha256:";

struct Measured {
  std::string_view network;
  double threshold;
};

// docs/voices.md tells from what. Networks that are not here were never measured.
constexpr auto kMeasured = std::to_array<Measured>({{"campplus", 0.55}});

constexpr auto kNetworks = std::to_array<std::string_view>({"campplus", "wespeaker-resnet34"});

// The 64 digits behind "sha256:"; empty when there are none.
std::string hash_in(std::string_view text) {
  const std::size_t mark = text.find(kMark);
  if (mark == std::string_view::npos) return {};
  const std::string hash(text.substr(mark + kMark.size(), 64));
  return voices::is_sha256(hash) ? hash : std::string();
}

}  // namespace

VoiceModel voice_model(const Diarization& result) {
  VoiceModel model;
  for (const std::string& line : result.settings.models) {
    const std::string_view kind = std::string_view(line).substr(0, line.find(' '));
    if (std::find(kNetworks.begin(), kNetworks.end(), kind) == kNetworks.end()) continue;
    model.network = kind;
    model.sha256 = hash_in(line);
  }
  if (model.network.empty() || model.sha256.empty()) {
    base::fail(ErrorCode::kInvalidArgument,
               "the result of '{}' does not say which network its speakers' vectors are from; "
               "voices need the result of a run on audio",
               result.uri);
  }
  for (const Speaker& speaker : result.speakers) {
    if (!speaker.embedding.empty()) model.dim = static_cast<int>(speaker.embedding.size());
  }
  return model;
}

VoiceModel voice_model(const EmbedderInfo& info) {
  return {info.network, hash_in(info.weights), info.dim};
}

std::optional<double> measured_voice_threshold(const VoiceModel& model) {
  for (const Measured& row : kMeasured) {
    if (row.network == model.network) return row.threshold;
  }
  return std::nullopt;
}

}  // namespace diarist
