#include "backend/cuda/campplus/campplus_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "backend/cuda/check.hpp"
#include "backend/cuda/cuda_queue.hpp"
#include "backend/cuda/kernels/campplus/gather.hpp"
#include "base/run_control.hpp"

namespace diarist::backend::cuda::campplus {
namespace {

std::byte* data_of(const View& view) {
  return static_cast<const CudaBuffer&>(*view.buffer).data() + view.offset * 4;
}

float* floats_of(const View& view) { return reinterpret_cast<float*>(data_of(view)); }

CampplusParts parts_of(const model::Graph& graph) {
  CampplusParts parts;
  if (!find_parts(graph, parts))
    base::fail(ErrorCode::kUnsupported, "graph {} is not CAM++ as its CUDA kernels know it",
               graph.name);
  return parts;
}

CompileOptions checked(const CompileOptions& options, const model::Graph& graph) {
  if (options.max_items < 1 || options.max_length < 1)
    base::fail(ErrorCode::kInvalidArgument,
               "graph {} compiled for {} items of length {}; both must be at least 1", graph.name,
               options.max_items, options.max_length);
  return options;
}

int count_multiprocessors(int device) {
  int count = 0;
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "GPU");
  return count;
}

PackLimits limits_of(const CampplusModel& model, const CompileOptions& options,
                     int multiprocessors) {
  if (model.has_trunk()) return pack_limits(options.max_items, options.max_length, multiprocessors);
  PackLimits limits;
  limits.items = options.max_items;
  return limits;
}

// FP32 accuracy unless halves are asked for.
bool is_exact(const CompileOptions& options) { return options.precision != Precision::kFast; }

cudaError_t prepare_kernels(bool exact, FrameLaunch* frames) {
  cudaError_t error = prepare_map_conv(exact);
  if (error == cudaSuccess) error = prepare_frames(exact, frames);
  if (error != cudaSuccess) cudaGetLastError();
  return error;
}

}  // namespace

/// Events between the parts of a run; a part that occurs in every pack adds up.
class CampplusProgram::PartClock {
 public:
  explicit PartClock(cudaStream_t stream) : stream_(stream), events_(kMost) { mark("start"); }
  void mark(const char* part) {
    if (parts_.size() >= kMost) return;
    events_.record(parts_.size(), stream_);
    parts_.emplace_back(part);
  }
  /// Adds the times to a list in the order of first appearance; the stream has been waited for.
  void read(std::vector<PartTime>& times) const {
    for (std::size_t i = 1; i < parts_.size(); ++i) {
      auto found = std::find_if(times.begin(), times.end(),
                                [&](const PartTime& time) { return time.part == parts_[i]; });
      if (found == times.end()) found = times.insert(times.end(), {parts_[i], 0});
      found->milliseconds += events_.milliseconds(i - 1, i);
    }
  }

 private:
  static constexpr std::size_t kMost = 1024;
  cudaStream_t stream_;
  Events events_;
  std::vector<std::string> parts_;
};

bool CampplusProgram::serves(const model::Graph& graph, const CompileOptions& options, int device) {
  CampplusParts parts;
  if (!find_parts(graph, parts)) return false;
  if (!parts.has_trunk()) return true;
  const DeviceGuard guard(device);
  FrameLaunch frames;
  return prepare_kernels(is_exact(options), &frames) == cudaSuccess;
}

CampplusProgram::CampplusProgram(int device, const model::Graph& graph,
                                 const CompileOptions& options, MakeProgram without_halves)
    : model_(device, parts_of(graph), is_exact(options)),
      graph_(graph),
      options_(checked(options, graph)),
      make_without_halves_(std::move(without_halves)),
      launch_{count_multiprocessors(device), {}},
      limits_(limits_of(model_, options, launch_.multiprocessors)),
      planner_(limits_.rows, limits_.slab_rows),
      workspace_(device, limits_, model_.exact(), model_.kind() == GraphKind::kNetwork,
                 model_.last_columns),
      staging_(device),
      words_(make_pinned_words<std::uint32_t>(device, static_cast<std::size_t>(options.max_items),
                                              0)) {
  const DeviceGuard guard(device);
  if (model_.has_trunk()) check(prepare_kernels(model_.exact(), &launch_.frames), "CAM++ kernels");
  const auto items = static_cast<std::size_t>(options.max_items);
  places_.input.reserve(items);
  places_.output.reserve(items);
  pool_items_.reserve(items);
  list_choices();
}

CampplusProgram::~CampplusProgram() = default;

void CampplusProgram::list_choices() {
  const char* precision = model_.exact() ? "products of high and low halves, FP32 sums"
                                         : "products of halves, FP32 sums";
  for (const model::Node& node : graph_.nodes) {
    const char* kernel = "campplus_map_conv";
    const char* reason = precision;
    if (std::holds_alternative<model::GatherRows>(node.block)) {
      kernel = model_.has_trunk() ? "campplus_gather" : "campplus_pool";
      reason = "items of a run on one time axis";
    } else if (std::holds_alternative<model::Conv1d>(node.block)) {
      kernel = "campplus_tdnn";
    } else if (std::holds_alternative<model::DenseTdnnBlock>(node.block)) {
      kernel = "campplus_dense_layer";
    } else if (std::holds_alternative<model::Dense>(node.block)) {
      kernel = "campplus_transit";
    } else if (std::holds_alternative<model::StatsHead>(node.block)) {
      kernel = "campplus_pool";
      reason = "FP32 in one fixed order";
    } else if (std::holds_alternative<model::MapToRows>(node.block)) {
      reason = "only another reading of the map";
    }
    choices_.push_back({node.name, kernel, reason});
  }
}

void CampplusProgram::check_view(const View& view, const char* name, std::int64_t elements,
                                 std::int64_t item_elements, int items) const {
  if (view.buffer == nullptr || view.offset < 0 || view.item_stride < 0 ||
      (view.offset + elements) * 4 > static_cast<std::int64_t>(view.buffer->bytes()))
    base::fail(ErrorCode::kInvalidArgument, "buffer of {}: {} bytes needed, {} there", name,
               (view.offset + elements) * 4, view.buffer == nullptr ? 0 : view.buffer->bytes());
  if (!view.positions.empty())
    base::fail(ErrorCode::kInvalidArgument, "{}: only inputs of a fixed shape have positions",
               name);
  if (item_elements > 0 && items > 1 && view.item_stride < item_elements)
    base::fail(ErrorCode::kInvalidArgument,
               "{}: items of {} elements would overlap at a stride of {}", name, item_elements,
               view.item_stride);
}

void CampplusProgram::check_arguments(const Run& run) const {
  if (run.items < 1 || run.items > options_.max_items)
    base::fail(ErrorCode::kInvalidArgument, "batch of {} items; this program takes 1 to {}",
               run.items, options_.max_items);
  if (run.inputs.size() != graph_.inputs.size() || run.outputs.size() != 1)
    base::fail(ErrorCode::kInvalidArgument, "{} inputs and {} outputs given, {} and 1 expected",
               run.inputs.size(), run.outputs.size(), graph_.inputs.size());
  if (run.lengths.size() < static_cast<std::size_t>(run.items))
    base::fail(ErrorCode::kInvalidArgument, "{} lengths for {} items", run.lengths.size(),
               run.items);
  for (int i = 0; i < run.items; ++i)
    if (run.lengths[static_cast<std::size_t>(i)] < 1 ||
        run.lengths[static_cast<std::size_t>(i)] > options_.max_length)
      base::fail(ErrorCode::kInvalidArgument, "item {} has length {}; this program takes 1 to {}",
                 i, run.lengths[static_cast<std::size_t>(i)], options_.max_length);
  if (run.flags.buffer != nullptr &&
      (run.flags.offset < 0 ||
       static_cast<std::size_t>(run.flags.offset + run.items) * 4 > run.flags.buffer->bytes()))
    base::fail(ErrorCode::kInvalidArgument, "buffer of flags: {} bytes for {} items at {}",
               run.flags.buffer->bytes(), run.items, run.flags.offset);
}

void CampplusProgram::find_places(const Run& run) {
  const auto value = [&](model::ValueId id) -> const model::Value& {
    return graph_.values[static_cast<std::size_t>(id)];
  };
  if (run.inputs.size() == 2) {
    const View& shared = run.inputs[0];
    if (shared.rows < 0)
      base::fail(ErrorCode::kInvalidArgument, "{}: {} rows", value(graph_.inputs[0]).name,
                 shared.rows);
    check_view(shared, value(graph_.inputs[0]).name.c_str(),
               shared.rows * value(graph_.inputs[0]).shape[1], 0, 1);
  }
  // Elements of a ragged item: its length times the width of a row.
  const auto place = [&](const View& view, const model::Value& of, bool halved,
                         std::vector<std::int64_t>& places) {
    const std::int64_t width = of.shape.size() > 1 ? of.shape[1] : 1;
    std::int64_t next = 0, end = 0;
    places.clear();
    for (int i = 0; i < run.items; ++i) {
      const std::int64_t length = run.lengths[static_cast<std::size_t>(i)];
      const std::int64_t count = (halved ? (length + 1) / 2 : length) * width;
      places.push_back(view.item_stride == 0 ? next : i * view.item_stride);
      next += count;
      end = std::max(end, places.back() + count);
    }
    check_view(view, of.name.c_str(), end, 0, run.items);
  };
  place(run.inputs.back(), value(graph_.inputs.back()), false, places_.input);
  const model::Value& output = value(graph_.outputs[0]);
  if (model_.kind() == GraphKind::kTrunk) {
    place(run.outputs[0], output, true, places_.output);
    // The kernels count in rows.
    if (run.outputs[0].item_stride % output.shape[1] != 0)
      base::fail(ErrorCode::kInvalidArgument, "{}: a stride of {} is no multiple of {} columns",
                 output.name, run.outputs[0].item_stride, output.shape[1]);
  } else {
    const std::int64_t size = output.shape[0];
    check_view(run.outputs[0], output.name.c_str(),
               (run.items - 1) * run.outputs[0].item_stride + size, size, run.items);
  }
}

void CampplusProgram::run(Queue& queue, const Run& run) {
  base::check_stop(run.stop);
  check_arguments(run);
  find_places(run);
  const DeviceGuard guard(model_.device());
  run_all(run, static_cast<CudaQueue&>(queue).stream(), nullptr);
}

void CampplusProgram::run_all(const Run& run, cudaStream_t stream, PartClock* clock) {
  try {
    if (!model_.has_trunk()) {
      run_statistics(run, stream);
      return;
    }
    const std::size_t word_bytes = static_cast<std::size_t>(run.items) * sizeof(std::uint32_t);
    check(cudaMemsetAsync(workspace_.range, 0, word_bytes, stream), "range words");
    const std::span<const std::int32_t> lengths =
        run.lengths.first(static_cast<std::size_t>(run.items));
    const int target = planner_.balanced_rows(lengths);
    for (int first = 0; first < run.items;) {
      base::check_stop(run.stop);
      planner_.next(lengths, first, target, plan_);
      run_pack(run, plan_, stream, clock);
      first += static_cast<int>(plan_.items.size());
    }
    check(
        cudaMemcpyAsync(words_.get(), workspace_.range, word_bytes, cudaMemcpyDeviceToHost, stream),
        "range words");
    if (run.flags.buffer != nullptr)
      check(cudaMemcpyAsync(data_of(run.flags), workspace_.range, word_bytes,
                            cudaMemcpyDeviceToDevice, stream),
            "range words");
  } catch (...) {
    // What is queued already uses memory that the caller may free now.
    cudaStreamSynchronize(stream);
    cudaGetLastError();
    throw;
  }
}

void CampplusProgram::upload_pack(const PackPlan& plan, cudaStream_t stream) {
  const std::size_t items = plan.items.size() * sizeof(PackItem);
  const std::size_t segments = plan.segments.size() * sizeof(PackSegment);
  const std::size_t tiles = plan.tiles.size() * sizeof(PackTile);
  PinnedPool::Block& block = staging_.take(items + segments + tiles);
  std::byte* from = block.data;
  const auto copy = [&](void* target, const void* source, std::size_t bytes) {
    std::memcpy(from, source, bytes);
    check(cudaMemcpyAsync(target, from, bytes, cudaMemcpyHostToDevice, stream), "pack");
    from += bytes;
  };
  copy(workspace_.items, plan.items.data(), items);
  copy(workspace_.segments, plan.segments.data(), segments);
  copy(workspace_.tiles, plan.tiles.data(), tiles);
  check(cudaEventRecord(block.released, stream), "event");
}

void CampplusProgram::upload_pool(std::span<const PoolItem> items, cudaStream_t stream) {
  PinnedPool::Block& block = staging_.take(items.size_bytes());
  std::memcpy(block.data, items.data(), items.size_bytes());
  check(cudaMemcpyAsync(workspace_.pool_items, block.data, items.size_bytes(),
                        cudaMemcpyHostToDevice, stream),
        "items");
  check(cudaEventRecord(block.released, stream), "event");
}

void CampplusProgram::run_pack(const Run& run, PackPlan& plan, cudaStream_t stream,
                               PartClock* clock) {
  const bool trunk = model_.kind() == GraphKind::kTrunk;
  PackSource source;
  source.features = floats_of(run.inputs[0]);
  source.feature_rows = run.inputs[0].rows;
  source.indices = reinterpret_cast<const std::int32_t*>(data_of(run.inputs[1]));
  source.frames = trunk ? floats_of(run.outputs[0]) : workspace_.frames;
  std::int64_t frame = 0;
  for (std::size_t i = 0; i < plan.items.size(); ++i) {
    PackItem& item = plan.items[i];
    const auto at = static_cast<std::size_t>(plan.first_item) + i;
    item.first_index = places_.input[at];
    item.first_frame = trunk ? places_.output[at] / model_.transits[2].outputs : frame;
    frame += item.units();
  }
  upload_pack(plan, stream);
  const std::function<void(const char*)> mark = [&](const char* part) {
    if (clock != nullptr) clock->mark(part);
  };
  CampplusPack(model_, workspace_, plan, launch_, stream, mark).run(source);
  if (trunk) return;
  pool_items_.clear();
  for (const PackItem& item : plan.items) pool_items_.push_back({item.first_frame, item.units()});
  pool(workspace_.frames, nullptr, 0, run.outputs[0], plan.first_item, stream);
  mark("pooling");
}

// Pooling and the last layer of pool_items_, whose embeddings begin with that of item `first`.
void CampplusProgram::pool(const float* frames, const std::int32_t* indices, std::int64_t rows,
                           const View& output, int first, cudaStream_t stream) {
  upload_pool(pool_items_, stream);
  PoolArgs pool;
  pool.frames = frames;
  pool.indices = indices;
  pool.rows = rows;
  pool.items = workspace_.pool_items;
  pool.statistics = workspace_.statistics;
  pool.items_count = static_cast<int>(pool_items_.size());
  pool.columns = model_.last_columns;
  check(launch_pool(pool, stream), "pooling");
  LastLayerArgs last;
  last.statistics = workspace_.statistics;
  last.weight = model_.last_weight;
  last.bias = model_.last_bias;
  last.out = floats_of(output) + first * output.item_stride;
  last.item_stride = output.item_stride;
  last.items_count = pool.items_count;
  last.inputs = 2 * model_.last_columns;
  last.outputs = model_.last_outputs;
  check(launch_last_layer(last, stream), "last layer");
}

// Pooling and the last layer alone.
void CampplusProgram::run_statistics(const Run& run, cudaStream_t stream) {
  const bool gathered = model_.kind() == GraphKind::kPooled;
  pool_items_.clear();
  for (int i = 0; i < run.items; ++i) {
    const auto at = static_cast<std::size_t>(i);
    pool_items_.push_back({places_.input[at], run.lengths[at]});
    if (gathered) continue;
    if (places_.input[at] % model_.last_columns != 0)
      base::fail(ErrorCode::kInvalidArgument, "frames: a stride of {} is no multiple of {} columns",
                 run.inputs[0].item_stride, model_.last_columns);
    pool_items_.back().first /= model_.last_columns;
  }
  pool(floats_of(run.inputs[0]),
       gathered ? reinterpret_cast<const std::int32_t*>(data_of(run.inputs[1])) : nullptr,
       run.inputs[0].rows, run.outputs[0], 0, stream);
}

bool CampplusProgram::settle(Queue& queue, const Run& run) {
  queue.wait();
  std::vector<int> bad;
  for (int i = 0; i < run.items; ++i)
    if (words_.get()[i] != 0) bad.push_back(i);
  if (bad.empty()) return false;
  recompute(queue, run, bad);
  return true;
}

void CampplusProgram::recompute(Queue& queue, const Run& run, std::span<const int> items) {
  queue.wait();
  check_arguments(run);
  find_places(run);
  if (!half_precision())
    base::fail(ErrorCode::kInternal, "graph {} has nothing to compute again", graph_.name);
  for (const int item : items)
    if (words_.get()[item] == kBadIndex)
      base::fail(ErrorCode::kInvalidArgument,
                 "item {}: an index is outside of the {} rows that there are", item,
                 run.inputs[0].rows);
  if (make_without_halves_ == nullptr)
    base::fail(ErrorCode::kUnsupported,
               "item {} left the range of half precision; use --device cpu for this recording",
               items.front());
  if (!reported_ && options_.log)
    options_.log(LogLevel::kWarning,
                 fmt::format("{} of {} inputs of CAM++ left the range of half precision; such "
                             "inputs are computed again in FP32 from now on, which takes longer",
                             items.size(), run.items));
  reported_ = true;
  if (without_halves_ == nullptr) {
    CompileOptions options = options_;
    options.max_items = 1;
    options.precision = Precision::kExact;
    without_halves_ = make_without_halves_(graph_, options);
  }
  for (const int item : items) {
    const auto at = static_cast<std::size_t>(item);
    Run single = run;
    single.items = 1;
    single.flags = {};
    single.lengths = run.lengths.subspan(at, 1);
    single.inputs[1].offset += places_.input[at];
    single.outputs[0].offset +=
        model_.kind() == GraphKind::kTrunk ? places_.output[at] : item * run.outputs[0].item_stride;
    without_halves_->run(queue, single);
    without_halves_->settle(queue, single);
    words_.get()[item] = 0;
  }
}

std::vector<PartTime> CampplusProgram::times(Queue& queue, const Run& run, int repeats) {
  check_arguments(run);
  find_places(run);
  const DeviceGuard guard(model_.device());
  const cudaStream_t stream = static_cast<CudaQueue&>(queue).stream();
  std::vector<std::vector<PartTime>> all(static_cast<std::size_t>(repeats));
  for (std::vector<PartTime>& times : all) {
    PartClock clock(stream);
    run_all(run, stream, &clock);
    queue.wait();
    clock.read(times);
  }
  std::vector<PartTime> medians = all.front();
  for (std::size_t i = 0; i < medians.size(); ++i) {
    std::vector<double> values;
    for (const std::vector<PartTime>& times : all) values.push_back(times[i].milliseconds);
    std::nth_element(values.begin(),
                     values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    medians[i].milliseconds = values[values.size() / 2];
  }
  return medians;
}

}  // namespace diarist::backend::cuda::campplus
