#include "model/embedding_weights.hpp"

#include "base/error.hpp"
#include "model/bundle_reader.hpp"
#include "model/import_inputs.hpp"

namespace diarist::model {
namespace {

namespace fs = std::filesystem;

EmbeddingWeights of_bundle(const fs::path& folder) {
  const Manifest manifest = read_manifest(folder);
  const ManifestFile& file = *manifest.with_role("embedding").front();
  EmbeddingWeights result;
  result.kind = file.kind;
  result.weights = read_weights(folder, file, result.report);
  return result;
}

EmbeddingWeights of_file(const fs::path& path) {
  const FoundInputs found = find_inputs({path});
  const FoundModel* resnet = pick_model(found.models, "wespeaker-resnet34");
  const FoundModel* campplus = pick_model(found.models, "campplus");
  if ((resnet != nullptr) == (campplus != nullptr))
    base::fail(ErrorCode::kBadModel,
               "{}: holds {} embedding network; give a file with one (WeSpeaker ResNet34 or CAM++)",
               path.string(), resnet != nullptr ? "more than one" : "no");
  const FoundModel& model = resnet != nullptr ? *resnet : *campplus;
  EmbeddingWeights result;
  result.kind = model.kind;
  result.weights = model.weights;
  result.report = {.name = path.filename().string(),
                   .kind = model.kind,
                   .sha256 = model.source_sha256,
                   .licence = "",
                   .source = path.string(),
                   .trust = model.trust,
                   .ok = true,
                   .problem = ""};
  return result;
}

}  // namespace

EmbeddingWeights load_embedding(const fs::path& bundle_or_file, bool allow_unknown_weights) {
  std::error_code error;
  const bool is_file =
      fs::exists(bundle_or_file, error) && !fs::is_directory(bundle_or_file, error);
  EmbeddingWeights result = is_file ? of_file(bundle_or_file) : of_bundle(bundle_or_file);
  require_permission(result.report,
                     (is_file ? bundle_or_file : bundle_or_file / result.report.name).string(),
                     allow_unknown_weights);
  return result;
}

EmbeddingWeights load_named_embedding(const fs::path& bundle_or_file, bool allow_unknown_weights) {
  std::error_code error;
  if (!fs::exists(bundle_or_file, error))
    base::fail(ErrorCode::kBadModel, "{}: does not exist; name a bundle's folder or a weight file",
               bundle_or_file.string());
  if (fs::is_directory(bundle_or_file, error) && !fs::exists(bundle_or_file / kManifestName, error))
    base::fail(ErrorCode::kBadModel,
               "{}: a folder without {}, so no bundle; name a bundle's folder or a weight file",
               bundle_or_file.string(), kManifestName);
  return load_embedding(bundle_or_file, allow_unknown_weights);
}

}  // namespace diarist::model
