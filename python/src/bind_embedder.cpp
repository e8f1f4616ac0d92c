// diarist::Embedder: vectors of voices.

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "diarist/embedder.hpp"
#include "errors.hpp"
#include "job.hpp"
#include "samples.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace diarist::python {

namespace {

using Path = std::filesystem::path;
using Spans = std::vector<std::pair<double, double>>;

std::optional<Precision> precision_or_default(const std::optional<std::string>& name) {
  if (!name) return std::nullopt;
  for (const Precision precision : {Precision::kExact, Precision::kFast, Precision::kTf32})
    if (*name == precision_name(precision)) return precision;
  fail_argument("there is no precision '" + *name + "'; there are exact, fast and tf32");
}

void make_embedder(Embedder* self, const std::string& preset, const std::optional<Path>& models,
                   const std::optional<Path>& weights, const std::string& device,
                   const std::optional<std::string>& precision, int threads, int batch,
                   bool allow_unknown_weights) {
  const EmbedderOptions options{.preset = preset,
                                .models = models.value_or(Path()),
                                .weights = weights.value_or(Path()),
                                .allow_unknown_weights = allow_unknown_weights,
                                .device = device,
                                .precision = precision_or_default(precision),
                                .threads = threads,
                                .batch = batch};
  const nb::gil_scoped_release release;
  new (self) Embedder(options);
}

std::vector<TimeSpan> time_spans(const Spans& spans) {
  std::vector<TimeSpan> made;
  for (const auto& [start, end] : spans) made.push_back({.start = start, .end = end});
  return made;
}

nb::object rows_of(const Embedder& self, std::vector<float> values) {
  const auto dim = static_cast<std::size_t>(self.dim());
  const std::size_t rows = values.size() / dim;
  return own_array(std::move(values), {rows, dim});
}

nb::object embed_file(const Embedder& self, const Path& file, const Spans& spans,
                      const RunOptions& options, nb::object log, const Stopper* stop) {
  std::vector<float> values;
  const std::vector<TimeSpan> wanted = time_spans(spans);
  Job job([&](const RunControl& control,
              const Job::Sink&) { values = self.embed(file, wanted, control, options.audio); },
          {nb::none(), std::move(log)}, stop);
  job.finish();
  return rows_of(self, std::move(values));
}

nb::object embed_samples(const Embedder& self, AnyArray array, int sample_rate,
                         std::optional<bool> channels_first, const Spans& spans, nb::object log,
                         const Stopper* stop) {
  const Samples samples(std::move(array), sample_rate, channels_first);
  std::vector<float> values;
  const std::vector<TimeSpan> wanted = time_spans(spans);
  Job job([&](const RunControl& control,
              const Job::Sink&) { values = self.embed(samples.view(), wanted, control); },
          {nb::none(), std::move(log)}, stop);
  job.finish();
  return rows_of(self, std::move(values));
}

nb::object features(const Embedder& self, AnyArray array, int sample_rate,
                    std::optional<bool> channels_first, bool piece) {
  const Samples samples(std::move(array), sample_rate, channels_first);
  std::vector<float> values;
  {
    const nb::gil_scoped_release release;
    values = self.features(samples.view(), piece ? FeatureMean::kPiece : FeatureMean::kChunk);
  }
  return own_array(std::move(values), {Embedder::kRows, Embedder::kBands});
}

nb::object forward(const Embedder& self, const AnyArray& features, const AnyArray& masks,
                   const Stopper* stop) {
  const std::span<const float> rows = floats_of(features, "features");
  const std::span<const float> weights = floats_of(masks, "masks");
  const auto dim = static_cast<std::size_t>(self.dim());
  constexpr std::size_t kChunk = static_cast<std::size_t>(Embedder::kRows) * Embedder::kBands;
  const std::size_t vectors = rows.size() / kChunk * Embedder::kSpeakers;
  std::vector<float> values(vectors * dim);
  Job job([&](const RunControl& control,
              const Job::Sink&) { self.forward(rows, weights, values, control.stop); },
          {}, stop);
  job.finish();
  return own_array(std::move(values), {vectors, dim});
}

nb::dict info(const Embedder& self) {
  const EmbedderInfo info = self.info();
  nb::list layers;
  for (const LayerChoice& layer : info.layers)
    layers.append(nb::make_tuple(layer.layer, layer.kernel, layer.reason));
  nb::dict made;
  made["network"] = info.network;
  made["weights"] = info.weights;
  made["dim"] = info.dim;
  made["device"] = info.device;
  made["kernels"] = info.kernels;
  made["features_device"] = info.features_device;
  made["precision"] = info.precision;
  made["threads"] = info.threads;
  made["batch"] = info.batch;
  made["layers"] = layers;
  return made;
}

}  // namespace

void bind_embedder(nb::module_& module) {
  nb::class_<Embedder>(module, "Embedder")
      .def("__init__", &make_embedder, nb::kw_only(), "preset"_a, "models"_a.none(),
           "weights"_a.none(), "device"_a, "precision"_a = nb::none(), "threads"_a, "batch"_a,
           "allow_unknown_weights"_a)
      .def_prop_ro("dim", &Embedder::dim)
      .def_prop_ro("info", &info)
      .def("embed_file", &embed_file, "file"_a, "spans"_a, "options"_a, "log"_a = nb::none(),
           "stop"_a = nb::none())
      .def("embed_samples", &embed_samples, "samples"_a, "sample_rate"_a,
           "channels_first"_a = nb::none(), "spans"_a, "log"_a = nb::none(), "stop"_a = nb::none())
      .def("features", &features, "samples"_a, "sample_rate"_a, "channels_first"_a = nb::none(),
           "piece"_a = false)
      .def("forward", &forward, "features"_a, "masks"_a, "stop"_a = nb::none());
}

}  // namespace diarist::python
