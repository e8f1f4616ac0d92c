#include "backend/cuda/front/log_mel_front_end.hpp"

#include "backend/cuda/check.hpp"
#include "backend/cuda/cuda_queue.hpp"
#include "backend/cuda/front/packing.hpp"
#include "backend/cuda/front/ragged_views.hpp"
#include "backend/cuda/kernels/log_mel.hpp"
#include "base/run_control.hpp"

namespace diarist::backend::cuda {

bool LogMelFrontEnd::serves(const model::Graph& graph) {
  return graph.nodes.size() == 1 && graph.outputs.size() == 1 &&
         graph.outputs[0] == graph.nodes[0].output &&
         std::holds_alternative<model::LogMel>(graph.nodes[0].block);
}

LogMelFrontEnd::LogMelFrontEnd(int device, const model::Graph& graph, const CompileOptions& options)
    : device_(device), name_(graph.name), options_(options) {
  if (!serves(graph))
    base::fail(ErrorCode::kUnsupported, "graph {}: the CUDA kernel serves one log-mel block",
               graph.name);
  const auto& block = std::get<model::LogMel>(graph.nodes[0].block);
  scale_ = block.scale;
  const LogMelTables tables = log_mel_tables(block);
  WeightBlock bytes;
  bytes.add(std::span<const LogMelTables>(&tables, 1));
  tables_ = to_device(device, bytes.words(), "tables of the log-mel features");
  choices_.push_back({graph.nodes[0].name, "log_mel",
                      "a warp per frame; in double, which costs little beside the networks"});
}

void LogMelFrontEnd::run(Queue& queue, const Run& run) {
  base::check_stop(run.stop);
  const RowShape shape{kMelFrame, kMelHop, kMelBands};
  const std::vector<FrontItems> groups = items_of(run, options_, shape, name_);
  LogMelArgs args;
  args.samples = static_cast<const float*>(run.inputs[0].buffer->address());
  args.tables = tables_.as<const LogMelTables>();
  args.rows = static_cast<float*>(run.outputs[0].buffer->address());
  args.scale = scale_;
  const DeviceGuard guard(device_);
  const cudaStream_t stream = static_cast<CudaQueue&>(queue).stream();
  for (const FrontItems& items : groups) {
    args.items = items;
    check(launch_log_mel(args, stream), "log-mel features");
  }
}

}  // namespace diarist::backend::cuda
