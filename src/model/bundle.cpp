// Loading, listing and checking of installed bundles.

#include "model/bundle.hpp"

#include <algorithm>
#include <future>

#include "base/error.hpp"
#include "base/file.hpp"
#include "model/bundle_reader.hpp"
#include "model/manifest.hpp"
#include "model/plda_files.hpp"

namespace diarist::model {
namespace {

namespace fs = std::filesystem;

void check_name(const Manifest& manifest, const fs::path& folder) {
  if (manifest.name != folder.filename().string()) {
    base::fail(ErrorCode::kBadModel,
               "{}: its manifest says '{}'; a bundle's folder must carry the bundle's name",
               folder.string(), manifest.name);
  }
}

Bundle load_folder(const fs::path& folder, bool allow_unknown_weights) {
  const Manifest manifest = read_manifest(folder);
  check_name(manifest, folder);
  Bundle bundle;
  bundle.name = manifest.name;
  bundle.folder = folder;
  std::map<std::string, base::NpyArray> arrays;
  bundle.files.resize(manifest.files.size());
  // Reading, hashing and folding a network takes long enough for a thread each.
  std::vector<std::future<Weights>> weights(manifest.files.size());
  for (std::size_t i = 0; i < manifest.files.size(); ++i) {
    const ManifestFile& file = manifest.files[i];
    ModelFileReport& report = bundle.files[i];
    if (file.role != "plda")
      weights[i] = std::async(std::launch::async, [&folder, &file, &report] {
        return read_weights(folder, file, report);
      });
  }
  for (std::size_t i = 0; i < manifest.files.size(); ++i) {
    const ManifestFile& file = manifest.files[i];
    ModelFileReport& report = bundle.files[i];
    if (file.role == "plda") {
      read_plda(folder, file, arrays, report);
    } else if (file.role == "segmentation") {
      bundle.segmentation = weights[i].get();
    } else {
      bundle.embedding = weights[i].get();
      bundle.embedding_kind = file.kind;
    }
    require_permission(report, (folder / file.file).string(), allow_unknown_weights);
  }
  if (!arrays.empty()) bundle.plda = assemble_plda(arrays, folder.string());
  return bundle;
}

// Folders below `models` that hold a manifest, sorted by name.
std::vector<fs::path> bundle_folders(const fs::path& models) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator at(models, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    std::error_code ignored;
    if (!name.starts_with('.') && fs::exists(at->path() / kManifestName, ignored)) {
      folders.push_back(at->path());
    }
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

BundleReport summary(const Manifest& manifest, const fs::path& folder) {
  BundleReport report;
  report.name = manifest.name;
  report.folder = folder;
  report.presets = served_presets(manifest.name, manifest.with_role("embedding").front()->kind,
                                  !manifest.with_role("plda").empty());
  return report;
}

BundleReport list_folder(const fs::path& folder) {
  BundleReport report;
  report.name = folder.filename().string();
  report.folder = folder;
  try {
    const Manifest manifest = read_manifest(folder);
    check_name(manifest, folder);
    report = summary(manifest, folder);
    report.ok = true;
    for (const ManifestFile& file : manifest.files) {
      ModelFileReport entry = report_of(file);
      std::error_code error;
      entry.ok = fs::file_size(folder / file.file, error) == file.bytes && !error;
      if (!entry.ok) entry.problem = "missing, or its size is not that of the manifest";
      report.ok = report.ok && entry.ok;
      report.files.push_back(std::move(entry));
    }
    if (!report.ok) report.problem = "some files are damaged; install the bundle again";
  } catch (const Error& error) {
    report.problem = error.what();
  }
  return report;
}

BundleReport check_folder(const fs::path& folder) {
  BundleReport report;
  report.name = folder.filename().string();
  report.folder = folder;
  try {
    const Manifest manifest = read_manifest(folder);
    check_name(manifest, folder);
    report = summary(manifest, folder);
    report.ok = true;
    std::map<std::string, base::NpyArray> arrays;
    for (const ManifestFile& file : manifest.files) {
      ModelFileReport& entry = report.files.emplace_back();
      try {
        if (file.role == "plda") {
          read_plda(folder, file, arrays, entry);
        } else {
          read_weights(folder, file, entry);
        }
      } catch (const Error& error) {
        entry.ok = false;
        entry.problem = error.what();
        report.ok = false;
        report.problem = "some files are damaged; install the bundle again";
      }
    }
    if (report.ok && !manifest.with_role("plda").empty()) assemble_plda(arrays, folder.string());
  } catch (const Error& error) {
    report.ok = false;
    report.problem = error.what();
  }
  return report;
}

}  // namespace

Bundle load_bundle(const fs::path& models, const std::string& name, bool allow_unknown_weights) {
  const fs::path folder = models / name;
  for (int attempt = 0;; ++attempt) {
    std::string before;
    try {
      std::error_code error;
      if (fs::exists(folder / kManifestName, error)) {
        before = base::read_text(folder / kManifestName);
      }
      return load_folder(folder, allow_unknown_weights);
    } catch (const Error&) {
      // Another process may have installed a new version between two reads: then once more.
      std::error_code error;
      const bool there = fs::exists(folder / kManifestName, error);
      if (attempt > 0 || !there || base::read_text(folder / kManifestName) == before) throw;
    }
  }
}

PldaArrays load_plda(const fs::path& models, const std::string& name, bool allow_unknown_weights) {
  const fs::path folder = models / name;
  const Manifest manifest = read_manifest(folder);
  check_name(manifest, folder);
  std::map<std::string, base::NpyArray> arrays;
  for (const ManifestFile* file : manifest.with_role("plda")) {
    ModelFileReport report;
    read_plda(folder, *file, arrays, report);
    require_permission(report, (folder / file->file).string(), allow_unknown_weights);
  }
  if (arrays.empty()) {
    base::fail(ErrorCode::kBadModel,
               "{}: the bundle has no PLDA; import it again with --plda FOLDER", folder.string());
  }
  return assemble_plda(arrays, folder.string());
}

BundleReport check_bundle(const fs::path& models, const std::string& name) {
  return check_folder(models / name);
}

std::vector<BundleReport> list_bundles(const fs::path& models) {
  std::vector<BundleReport> reports;
  for (const fs::path& folder : bundle_folders(models)) reports.push_back(list_folder(folder));
  return reports;
}

std::vector<BundleReport> check_bundles(const fs::path& models) {
  std::vector<BundleReport> reports;
  for (const fs::path& folder : bundle_folders(models)) reports.push_back(check_folder(folder));
  return reports;
}

}  // namespace diarist::model
