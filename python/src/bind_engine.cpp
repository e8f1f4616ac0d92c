// diarist::Diarizer: one recording, or many.

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "diarist/diarizer.hpp"
#include "engine.hpp"
#include "errors.hpp"
#include "job.hpp"
#include "samples.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace diarist::python {

namespace {

using Path = std::filesystem::path;

Precision precision_named(const std::string& name) {
  for (const Precision precision : {Precision::kExact, Precision::kFast, Precision::kTf32})
    if (name == precision_name(precision)) return precision;
  fail_argument("there is no precision '" + name + "'; there are exact, fast and tf32");
}

void make_engine(Engine* self, const std::string& preset, const std::optional<Path>& models,
                 const std::string& device, const std::string& precision, int threads, int batch,
                 std::size_t max_gpu_memory, const std::string& target,
                 bool allow_unknown_weights) {
  const DiarizerOptions options{.preset = preset,
                                .models = models.value_or(Path()),
                                .device = device,
                                .precision = precision_named(precision),
                                .threads = threads,
                                .batch = batch,
                                .max_gpu_memory = max_gpu_memory,
                                .target = target,
                                .allow_unknown_weights = allow_unknown_weights};
  std::shared_ptr<const Diarizer> made;
  {
    const nb::gil_scoped_release release;
    made = std::make_shared<const Diarizer>(options);
  }
  new (self) Engine{std::move(made)};
}

Diarization finish(std::optional<Diarization>& result, Job& job) {
  job.finish();
  return std::move(*result);
}

Diarization run_file(const Engine& self, const Path& file, const RunOptions& options,
                     nb::object progress, nb::object log, const Stopper* stop) {
  std::optional<Diarization> result;
  Job job([&](const RunControl& control,
              const Job::Sink&) { result = self.diarizer->run(file, options, control); },
          {std::move(progress), std::move(log)}, stop);
  return finish(result, job);
}

Diarization run_samples(const Engine& self, AnyArray array, int sample_rate,
                        std::optional<bool> channels_first, const RunOptions& options,
                        nb::object progress, nb::object log, const Stopper* stop) {
  const Samples samples(std::move(array), sample_rate, channels_first);
  std::optional<Diarization> result;
  Job job([&](const RunControl& control,
              const Job::Sink&) { result = self.diarizer->run(samples.view(), options, control); },
          {std::move(progress), std::move(log)}, stop);
  return finish(result, job);
}

// Many files: an outcome per call of next().
struct FileRun {
  FileRun(const Engine& engine, std::vector<Path> files, const RunOptions& options,
          nb::object progress, nb::object log, const Stopper* stop)
      : job(std::make_unique<Job>(
            [diarizer = engine.diarizer, files = std::move(files), options](
                const RunControl& control, const Job::Sink& sink) {
              diarizer->run_files(files, options, control, sink);
            },
            Callbacks{std::move(progress), std::move(log)}, stop)) {}
  // In a child of fork() the parent's thread may hold every lock of its job for ever.
  ~FileRun() {
    if (!job->is_of_this_process()) static_cast<void>(job.release());
  }
  FileRun(const FileRun&) = delete;
  FileRun& operator=(const FileRun&) = delete;

  std::unique_ptr<Job> job;
};

// (index, result or None, error or None), or None at the end.
nb::object next_outcome(FileRun& self) {
  std::optional<FileOutcome> outcome = self.job->next();
  if (!outcome) return nb::none();
  nb::object result = nb::none(), error = nb::none();
  if (outcome->result) result = nb::cast(std::move(*outcome->result));
  if (outcome->error) error = make_error(*outcome->error);
  return nb::make_tuple(outcome->index, result, error);
}

}  // namespace

void bind_engine(nb::module_& module) {
  nb::class_<Engine>(module, "Engine")
      .def("__init__", &make_engine, nb::kw_only(), "preset"_a, "models"_a.none(), "device"_a,
           "precision"_a, "threads"_a, "batch"_a, "max_gpu_memory"_a, "target"_a,
           "allow_unknown_weights"_a)
      .def_prop_ro("preset", [](const Engine& self) { return self.diarizer->preset(); })
      .def("run_file", &run_file, "file"_a, "options"_a, "progress"_a = nb::none(),
           "log"_a = nb::none(), "stop"_a = nb::none())
      .def("run_samples", &run_samples, "samples"_a, "sample_rate"_a,
           "channels_first"_a = nb::none(), "options"_a, "progress"_a = nb::none(),
           "log"_a = nb::none(), "stop"_a = nb::none())
      .def(
          "run_files",
          [](const Engine& self, std::vector<Path> files, const RunOptions& options,
             nb::object progress, nb::object log, const Stopper* stop) {
            return std::make_unique<FileRun>(self, std::move(files), options, std::move(progress),
                                             std::move(log), stop);
          },
          "files"_a, "options"_a, "progress"_a = nb::none(), "log"_a = nb::none(),
          "stop"_a = nb::none());

  nb::class_<FileRun>(module, "FileRun").def("next", &next_outcome);
}

}  // namespace diarist::python
