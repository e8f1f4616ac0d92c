#include "model/bundle_reader.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/sha256.hpp"
#include "model/checkpoint.hpp"
#include "model/fold.hpp"
#include "model/known_weights.hpp"
#include "model/plda_files.hpp"

namespace diarist::model {
namespace {

namespace fs = std::filesystem;

// Whatever is wrong with a file of a bundle, the bundle is bad.
template <typename Body>
auto as_bad_model(const std::string& source, Body body) {
  try {
    return body();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kNotFound) {
      base::fail(ErrorCode::kBadModel, "{}: missing; install the bundle again", source);
    }
    if (error.code() == ErrorCode::kBadFile) throw Error(ErrorCode::kBadModel, error.what());
    throw;
  }
}

// Size and hash as the manifest says; fills in the hash found.
void check_bytes(std::span<const std::byte> bytes, const std::string& source,
                 const ManifestFile& file, ModelFileReport& report) {
  report.sha256 = base::sha256_hex(bytes);
  if (bytes.size() != file.bytes || report.sha256 != file.sha256) {
    base::fail(ErrorCode::kBadModel,
               "{}: damaged, its sha256 is {} instead of {}; install the bundle again", source,
               report.sha256, file.sha256);
  }
}

void check_names(const std::map<std::string, base::Shape>& found, const std::string& source,
                 const ManifestFile& file) {
  if (found != file.tensors) {
    base::fail(ErrorCode::kBadModel,
               "{}: its tensors are not those of the manifest; install the bundle again", source);
  }
}

}  // namespace

Manifest read_manifest(const fs::path& folder) {
  const fs::path file = folder / kManifestName;
  std::error_code error;
  if (!fs::exists(file, error)) {
    const std::string name = folder.filename().string();
    base::fail(ErrorCode::kBadModel,
               "the model bundle '{}' is not installed in {}; get it with: diarist models pull {}",
               name, folder.parent_path().string(), name);
  }
  if (fs::file_size(file, error) > (std::uintmax_t{8} << 20)) {
    base::fail(ErrorCode::kBadModel, "{}: too large for a manifest; install the bundle again",
               file.string());
  }
  return parse_manifest(base::read_text(file), file.string());
}

ModelFileReport report_of(const ManifestFile& file) {
  ModelFileReport report;
  report.name = file.file;
  report.kind = file.kind;
  report.sha256 = file.sha256;
  report.licence = file.licence;
  report.source = file.source;
  for (const Trust trust : {Trust::kKnownHash, Trust::kFingerprint, Trust::kTestWeights}) {
    if (file.trust == trust_name(trust)) report.trust = trust;
  }
  return report;
}

Weights read_weights(const fs::path& folder, const ManifestFile& file, ModelFileReport& report) {
  const fs::path path = folder / file.file;
  const std::string source = path.string();
  report = report_of(file);
  report.trust = Trust::kUnknown;
  const Checkpoint checkpoint = as_bad_model(source, [&] {
    const base::MappedFile mapped(path);
    check_bytes(mapped.bytes(), source, file, report);
    return parse_safetensors(mapped.bytes(), source);
  });
  std::map<std::string, base::Shape> shapes;
  for (const auto& [name, tensor] : checkpoint) shapes[name] = tensor.shape();
  check_names(shapes, source, file);
  Weights weights = fold(file.kind, checkpoint, source);
  const KnownFile* known = find_known_file(report.sha256);
  report.trust = known != nullptr && known->kind == file.kind ? known->trust
                                                              : judge_weights(file.kind, weights);
  report.ok = true;
  return weights;
}

void read_plda(const fs::path& folder, const ManifestFile& file,
               std::map<std::string, base::NpyArray>& arrays, ModelFileReport& report) {
  const fs::path path = folder / file.file;
  const std::string source = path.string();
  report = report_of(file);
  report.trust = Trust::kUnknown;
  auto found = as_bad_model(source, [&] {
    const base::MappedFile mapped(path);
    check_bytes(mapped.bytes(), source, file, report);
    return read_plda_file(mapped.bytes(), file.file, source);
  });
  std::map<std::string, base::Shape> shapes;
  for (auto& [name, array] : found) {
    shapes[name] = array.shape;
    arrays[name] = std::move(array);
  }
  check_names(shapes, source, file);
  const KnownFile* known = find_known_file(report.sha256);
  if (known != nullptr && known->kind == file.kind) report.trust = known->trust;
  report.ok = true;
}

std::vector<std::string> served_presets(const std::string& bundle,
                                        const std::string& embedding_kind, bool has_plda) {
  std::vector<std::string> names;
  for (const Preset& preset : presets()) {
    if (preset.bundle == bundle && preset.embedding_kind == embedding_kind &&
        (has_plda || !preset.needs_plda)) {
      names.push_back(preset.name);
    }
  }
  return names;
}

void require_permission(const ModelFileReport& report, const std::string& where, bool allowed) {
  if (allowed || !needs_permission(report.trust)) return;
  const char* what = report.trust == Trust::kTestWeights
                         ? "test weights, made for tests and no speaker model"
                         : "weights that diarist doesn't know";
  base::fail(ErrorCode::kBadModel,
             "{}: {} ({}); use the published file, or allow it with --allow-unknown-weights", where,
             what, report.kind);
}

}  // namespace diarist::model
