// model::parse_manifest; what it accepts must come back from its own text.

#include "model/manifest.hpp"

#include "fuzz.hpp"

namespace diarist::fuzz {

std::vector<std::string> seeds() {
  model::Manifest manifest;
  manifest.name = "open";
  for (const char* role : {"segmentation", "embedding", "plda"}) {
    model::ManifestFile file;
    file.file = std::string(role) + ".safetensors";
    file.role = role;
    file.kind = "pyannet";
    file.bytes = 77;
    file.sha256 = std::string(64, 'a');
    file.licence = "MIT";
    file.source = "made up";
    file.source_sha256 = std::string(64, '0');
    file.trust = "unknown";
    file.tensors = {{"a.weight", {7, 128}}, {"b", {}}};
    manifest.files.push_back(file);
  }
  const std::string text = model::to_json_text(manifest);
  manifest.files.pop_back();
  return {text, model::to_json_text(manifest), "{}", "[[[[", "{\"format\": \"diarist-bundle\"}"};
}

}  // namespace diarist::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace diarist;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz::expect_error_or_result([&] {
    const std::string once = model::to_json_text(model::parse_manifest(text, "input"));
    const std::string twice = model::to_json_text(model::parse_manifest(once, "input"));
    if (once != twice) std::abort();
  });
  return 0;
}
