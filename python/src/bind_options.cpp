// Options of a run, and the handle that stops one.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "bindings.hpp"
#include "diarist/options.hpp"
#include "errors.hpp"
#include "job.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace diarist::python {

namespace {

void make_options(RunOptions* self, std::optional<int> num_speakers,
                  std::optional<int> min_speakers, std::optional<int> max_speakers, int step,
                  bool reference, bool keep_stages, bool keep_waveform,
                  const std::optional<std::string>& raw, int track, int channel,
                  bool split_channels, double start, std::optional<double> end,
                  bool container_clock) {
  if (track < 0 || channel < 0)
    fail_argument("track and channel count from 1; 0 leaves the choice");
  RunOptions options;
  options.speakers = {.num = num_speakers, .min = min_speakers, .max = max_speakers};
  options.step_seconds = step;
  options.reference = reference;
  options.keep_stages = keep_stages;
  options.keep_waveform = keep_waveform;
  if (raw) options.audio.raw = parse_raw_format(*raw);
  options.audio.track = track;
  options.audio.channel = channel;
  options.audio.split_channels = split_channels;
  options.audio.from = start;
  options.audio.to = end;
  options.audio.container_clock = container_clock;
  new (self) RunOptions(options);
}

}  // namespace

void bind_options(nb::module_& module) {
  nb::class_<RunOptions>(module, "RunOptions")
      .def("__init__", &make_options, nb::kw_only(), "num_speakers"_a = nb::none(),
           "min_speakers"_a = nb::none(), "max_speakers"_a = nb::none(), "step"_a = 1,
           "reference"_a = false, "keep_stages"_a = false, "keep_waveform"_a = false,
           "raw"_a = nb::none(), "track"_a = 0, "channel"_a = 0, "split_channels"_a = false,
           "start"_a = 0.0, "end"_a = nb::none(), "container_clock"_a = false);

  nb::class_<Stopper>(module, "Stopper",
                      "Ends a run from another thread: hand it over as stop=, then call stop().")
      .def(nb::init<>())
      .def("stop", [](Stopper& self) { self.source.request_stop(); })
      .def_prop_ro("stopped", [](const Stopper& self) { return self.source.stop_requested(); });

  module.def("stop_all", &stop_all_jobs);
  module.def("forget_jobs", &forget_jobs);
}

}  // namespace diarist::python
