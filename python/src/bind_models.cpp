// Bundles of models, and what this build and machine can do.

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "diarist/info.hpp"
#include "diarist/models.hpp"
#include "errors.hpp"
#include "job.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace diarist::python {

namespace {

using Path = std::filesystem::path;

nb::dict bundle(const BundleReport& report) {
  nb::list files;
  for (const ModelFileReport& file : report.files) {
    nb::dict entry;
    entry["name"] = file.name;
    entry["kind"] = file.kind;
    entry["sha256"] = file.sha256;
    entry["licence"] = file.licence;
    entry["source"] = file.source;
    entry["trust"] = trust_name(file.trust);
    entry["ok"] = file.ok;
    entry["problem"] = file.problem;
    files.append(entry);
  }
  nb::dict made;
  made["name"] = report.name;
  made["folder"] = report.folder;
  made["presets"] = report.presets;
  made["files"] = files;
  made["ok"] = report.ok;
  made["problem"] = report.problem;
  return made;
}

nb::dict pull(const std::string& name, const std::optional<Path>& models,
              bool allow_unknown_weights, const std::string& hub_url, const std::string& python,
              nb::object progress, nb::object log, const Stopper* stop) {
  const FetchOptions options{.models = models.value_or(Path()),
                             .allow_unknown_weights = allow_unknown_weights,
                             .hub_url = hub_url,
                             .python = python};
  BundleReport report;
  Job job([&](const RunControl& control,
              const Job::Sink&) { report = pull_bundle(name, options, control); },
          {std::move(progress), std::move(log)}, stop);
  job.finish();
  return bundle(report);
}

nb::dict import_files(const std::vector<Path>& inputs, const std::optional<Path>& plda,
                      const std::optional<Path>& models, bool allow_unknown_weights) {
  const FetchOptions options{.models = models.value_or(Path()),
                             .allow_unknown_weights = allow_unknown_weights};
  BundleReport report;
  Job job(
      [&](const RunControl& control, const Job::Sink&) {
        report = import_bundle(inputs, plda.value_or(Path()), options, control);
      },
      {}, nullptr);
  job.finish();
  return bundle(report);
}

nb::list bundles(const std::optional<Path>& models, bool check) {
  const Path folder = models.value_or(Path());
  std::vector<BundleReport> reports;
  {
    const nb::gil_scoped_release release;
    reports = check ? check_bundles(folder) : list_bundles(folder);
  }
  nb::list list;
  for (const BundleReport& report : reports) list.append(bundle(report));
  return list;
}

nb::dict build() {
  const BuildInfo info = build_info();
  nb::dict presets;
  for (const PresetInfo& preset : info.presets) presets[preset.name.c_str()] = preset.description;
  nb::dict made;
  made["version"] = version();
  made["presets"] = presets;
  made["devices"] = info.devices;
  made["cpu_targets_supported"] = info.cpu_targets_supported;
  made["cpu_targets_compiled"] = info.cpu_targets_compiled;
  made["audio_readers"] = info.audio_readers;
  return made;
}

}  // namespace

void bind_models(nb::module_& module) {
  module.attr("version") = version();
  module.def("build_info", &build);
  module.def("default_models_folder", &default_models_folder);
  module.def("bundles", &bundles, "models"_a.none(), "check"_a = false);
  module.def("pull", &pull, "name"_a, nb::kw_only(), "models"_a.none(), "allow_unknown_weights"_a,
             "hub_url"_a, "python"_a, "progress"_a = nb::none(), "log"_a = nb::none(),
             "stop"_a = nb::none());
  module.def("import_files", &import_files, "inputs"_a, nb::kw_only(), "plda"_a.none(),
             "models"_a.none(), "allow_unknown_weights"_a);
}

}  // namespace diarist::python
