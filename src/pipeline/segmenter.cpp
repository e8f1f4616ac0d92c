#include "pipeline/segmenter.hpp"

#include "timeline/activity.hpp"
#include "timeline/grid.hpp"

namespace diarist::pipeline {

using timeline::kFramesPerChunk;

Segmenter::Segmenter(backend::Backend& backend, backend::Queue& queue, const model::Graph& graph,
                     int max_windows, Precision precision)
    : queue_(queue),
      program_(backend.compile(graph, {.max_items = max_windows, .precision = precision})),
      classes_(backend.allocate(static_cast<std::size_t>(max_windows) * kFramesPerChunk)),
      host_(static_cast<std::size_t>(max_windows) * kFramesPerChunk) {}

void Segmenter::run(const Strip& strip, std::int64_t first, std::int64_t stride, int windows,
                    std::span<std::uint8_t> activity, const std::stop_token& stop) {
  backend::Run run;
  run.items = windows;
  run.inputs = {strip.samples(first, stride), strip.raw(first, stride)};
  run.outputs = {{classes_.get(), 0, kFramesPerChunk, 0}};
  run.stop = stop;
  program_->run(queue_, run);
  const std::span<std::uint8_t> classes =
      std::span(host_).first(static_cast<std::size_t>(windows) * kFramesPerChunk);
  queue_.download(*classes_, 0, std::as_writable_bytes(classes));
  queue_.wait();
  timeline::decode_classes(classes, activity);
}

}  // namespace diarist::pipeline
