#include "model/manifest.hpp"

#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"

namespace diarist::model {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "diarist-bundle";
constexpr int kFormatVersion = 1;
constexpr std::size_t kMaxFiles = 64;

[[noreturn]] void bad(const std::string& source, const std::string& what) {
  base::fail(ErrorCode::kBadModel, "{}: {}; install the bundle again", source, what);
}

std::string text_of(const Json& object, const char* key, const std::string& source) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) {
    bad(source, fmt::format("'{}' is missing or not a text", key));
  }
  return found->get<std::string>();
}

// A name that stays inside the bundle's folder.
bool is_plain_name(const std::string& name) {
  if (name.empty() || name.size() > 128 || name.front() == '.') return false;
  for (const char c : name) {
    const bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '.' || c == '_' || c == '-';
    if (!ok) return false;
  }
  return true;
}

bool is_sha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

base::Shape shape_of(const Json& value, const std::string& source, const std::string& tensor) {
  if (!value.is_array() || value.size() > 8) bad(source, "bad shape of tensor '" + tensor + "'");
  base::Shape shape;
  for (const Json& axis : value) {
    if (!axis.is_number_unsigned() || axis.get<std::uint64_t>() > (std::uint64_t{1} << 31)) {
      bad(source, "bad shape of tensor '" + tensor + "'");
    }
    shape.push_back(static_cast<std::int64_t>(axis.get<std::uint64_t>()));
  }
  return shape;
}

ManifestFile file_of(const Json& object, const std::string& source) {
  if (!object.is_object()) bad(source, "an entry of 'files' is not an object");
  ManifestFile file;
  file.file = text_of(object, "file", source);
  file.role = text_of(object, "role", source);
  file.kind = text_of(object, "kind", source);
  file.sha256 = text_of(object, "sha256", source);
  file.licence = text_of(object, "licence", source);
  file.source = text_of(object, "source", source);
  file.source_sha256 = text_of(object, "source_sha256", source);
  file.trust = text_of(object, "trust", source);
  if (!is_plain_name(file.file)) bad(source, "'" + file.file + "' is no plain file name");
  if (!is_sha256(file.sha256)) bad(source, "bad sha256 of '" + file.file + "'");
  const auto bytes = object.find("bytes");
  if (bytes == object.end() || !bytes->is_number_unsigned()) {
    bad(source, "bad size of '" + file.file + "'");
  }
  file.bytes = bytes->get<std::uint64_t>();
  const auto tensors = object.find("tensors");
  if (tensors == object.end() || !tensors->is_object()) {
    bad(source, "no tensors listed for '" + file.file + "'");
  }
  for (const auto& [name, shape] : tensors->items()) {
    file.tensors[name] = shape_of(shape, source, name);
  }
  return file;
}

void check_roles(const Manifest& manifest, const std::string& source) {
  std::set<std::string> names;
  for (const ManifestFile& file : manifest.files) {
    if (!names.insert(file.file).second) bad(source, "'" + file.file + "' is listed twice");
    if (file.role != "segmentation" && file.role != "embedding" && file.role != "plda") {
      bad(source, "role '" + file.role + "' is not known");
    }
  }
  for (const char* role : {"segmentation", "embedding"}) {
    if (manifest.with_role(role).size() != 1) {
      bad(source, fmt::format("there must be exactly one {} file", role));
    }
  }
}

}  // namespace

std::vector<const ManifestFile*> Manifest::with_role(const std::string& role) const {
  std::vector<const ManifestFile*> found;
  for (const ManifestFile& file : files) {
    if (file.role == role) found.push_back(&file);
  }
  return found;
}

Manifest parse_manifest(std::string_view text, const std::string& source) {
  const Json root = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded() || !root.is_object()) bad(source, "not a JSON object");
  if (text_of(root, "format", source) != kFormat) bad(source, "not a diarist bundle");
  const auto version = root.find("format_version");
  if (version == root.end() || !version->is_number_integer()) bad(source, "no format version");
  if (*version != kFormatVersion) {
    bad(source, fmt::format("format version {} is not {}", version->dump(), kFormatVersion));
  }
  Manifest manifest;
  manifest.name = text_of(root, "name", source);
  if (!is_plain_name(manifest.name)) bad(source, "bad bundle name");
  const auto files = root.find("files");
  if (files == root.end() || !files->is_array() || files->size() > kMaxFiles) {
    bad(source, "no list of files");
  }
  for (const Json& file : *files) manifest.files.push_back(file_of(file, source));
  check_roles(manifest, source);
  return manifest;
}

std::string to_json_text(const Manifest& manifest) {
  Json root;
  root["format"] = kFormat;
  root["format_version"] = kFormatVersion;
  root["name"] = manifest.name;
  Json& files = root["files"] = Json::array();
  for (const ManifestFile& file : manifest.files) {
    Json entry;
    entry["file"] = file.file;
    entry["role"] = file.role;
    entry["kind"] = file.kind;
    entry["bytes"] = file.bytes;
    entry["sha256"] = file.sha256;
    entry["licence"] = file.licence;
    entry["source"] = file.source;
    entry["source_sha256"] = file.source_sha256;
    entry["trust"] = file.trust;
    Json& tensors = entry["tensors"] = Json::object();
    for (const auto& [name, shape] : file.tensors) tensors[name] = shape;
    files.push_back(std::move(entry));
  }
  // Names come from weight files and may hold bytes that are no UTF-8: replaced, never thrown.
  return root.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace diarist::model
