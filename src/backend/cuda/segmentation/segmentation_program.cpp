#include "backend/cuda/segmentation/segmentation_program.hpp"

#include <cuda_fp16.h>

#include <algorithm>
#include <cstring>

#include "backend/cuda/check.hpp"
#include "backend/cuda/cuda_queue.hpp"
#include "backend/cuda/device_facts.hpp"
#include "backend/cuda/kernels/gate_products.hpp"
#include "backend/cuda/kernels/lstm.hpp"
#include "base/run_control.hpp"

namespace diarist::backend::cuda {
namespace {

constexpr int kFrames = SegmentationFront::kFrames;
// Input products of a stretch of steps; larger ones would save a few launches.
constexpr std::size_t kProductBytes = std::size_t{128} << 20;
// Windows that go through the front end together.
constexpr int kFrontWindows = 132;

template <typename T>
T* elements_of(const View& view) {
  return reinterpret_cast<T*>(static_cast<const CudaBuffer&>(*view.buffer).data()) + view.offset;
}

std::int64_t element_bytes(model::ElementType type) {
  return type == model::ElementType::kU8 ? 1 : 4;
}

// Windows that fill the device: both recurrence kernels serve four for each multiprocessor.
int windows_per_pass(const DeviceFacts& device, int max_items) {
  return std::min(max_items, std::max(kLstmGroup, 4 * device.multiprocessors));
}

bool same_positions(const Run& run) {
  const auto &a = run.inputs[0].positions, &b = run.inputs[1].positions;
  const auto items = static_cast<std::size_t>(run.items);
  if (a.empty() || b.empty()) return a.empty() == b.empty();
  return std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(items), b.begin());
}

std::int64_t position_of(const View& view, int item) {
  return view.positions.empty() ? item : view.positions[static_cast<std::size_t>(item)];
}

}  // namespace

bool SegmentationProgram::serves(const model::Graph& graph, const DeviceFacts& device) {
  return has_recurrence(device) && device.shared_bytes >= kGateProductsShared &&
         device.shared_bytes >= kFrameHeadShared && find_segmentation(graph).has_value();
}

SegmentationProgram::SegmentationProgram(int device, const model::Graph& graph,
                                         const CompileOptions& options)
    : device_(device),
      facts_(device_facts(device)),
      max_items_(options.max_items),
      pass_windows_(windows_per_pass(facts_, options.max_items)),
      values_(graph.values),
      inputs_(graph.inputs),
      outputs_(graph.outputs),
      staging_(device) {
  if (max_items_ < 1)
    base::fail(ErrorCode::kInvalidArgument, "graph {} compiled for {} items; at least 1 is needed",
               graph.name, max_items_);
  if (!serves(graph, facts_))
    base::fail(ErrorCode::kUnsupported,
               "graph {} on {}: no segmentation kernels for this network or this GPU; take "
               "another device, e.g. --device cpu",
               graph.name, facts_.name);
  const SegmentationParts parts = *find_segmentation(graph);
  ids_ = parts.values;
  const DeviceGuard guard(device);
  prepare_lstm(facts_);
  check(prepare_frame_head(), "dense layers");
  front_ =
      std::make_unique<SegmentationFront>(device, *parts.pool, *parts.conv[0], *parts.conv[1],
                                          pass_windows_, std::min(pass_windows_, kFrontWindows));
  for (const model::BiLstm* lstm : parts.lstm)
    layers_.emplace_back(device, *lstm,
                         layers_.empty() ? SegmentationFront::kLowPart : 2 * kLstmUnits,
                         layers_.empty() ? SegmentationFront::kRowScale : kStateScale);
  head_ = std::make_unique<FrameHeadLayer>(device, parts);

  std::size_t product = 0, cells = 0;
  int windows = 0;
  for (int count = kLstmGroup;; count += kLstmGroup) {
    const LstmPlan plan = plan_lstm(facts_, std::min(count, pass_windows_), kFrames, kProductBytes);
    product = std::max(product, product_bytes(plan));
    cells = std::max(cells, cell_bytes(plan));
    windows = std::max(windows, plan.windows);
    if (count >= pass_windows_) break;
  }
  const std::size_t rows = static_cast<std::size_t>(kFrames) * static_cast<std::size_t>(windows);
  for (DeviceMemory& states : states_)
    states = DeviceMemory(device, rows * 4 * kLstmUnits * sizeof(std::uint16_t), "LSTM states");
  // The front end's rows lie where the second layer's states will be.
  front_rows_ = LstmRows(facts_, states_[1].as<__half>(), SegmentationFront::kLowPart,
                         static_cast<int>(rows));
  for (int i = 0; i < 2; ++i)
    state_rows_[i] =
        LstmRows(facts_, states_[i].as<__half>(), 2 * kLstmUnits, static_cast<int>(rows));
  products_ = DeviceMemory(device, product, "LSTM input products");
  cells_ = DeviceMemory(device, cells, "LSTM cells");
  classes_ = DeviceMemory(device, rows, "classes");
  positions_ = DeviceMemory(device, static_cast<std::size_t>(max_items_) * sizeof(std::int32_t),
                            "positions");
  name_choices(graph);
}

void SegmentationProgram::name_choices(const model::Graph& graph) {
  const LstmPlan plan = plan_lstm(facts_, pass_windows_, kFrames, kProductBytes);
  const bool pair = plan.recurrence == Recurrence::kPair;
  for (const model::Node& node : graph.nodes) {
    Choice choice{node.name, "frame_head", "three products of split halves, one kernel"};
    if (std::holds_alternative<model::SincPool>(node.block) ||
        std::holds_alternative<model::Conv1d>(node.block))
      choice = {node.name, "segmentation_front", "three products of split halves"};
    if (std::holds_alternative<model::BiLstm>(node.block))
      choice = {node.name,
                std::string(plan.products == Products::kWarpgroup ? "hopper gate_products"
                                                                  : "gate_products") +
                    (pair ? " + lstm_pair" : " + lstm_single"),
                pair ? "clusters: two CTAs hold all recurrent weights in registers"
                     : "no clusters: low parts of the recurrent weights in shared memory"};
    if (std::holds_alternative<model::EmbeddingMasks>(node.block))
      choice = {node.name, "frame_masks", "one pass over the classes"};
    choices_.push_back(std::move(choice));
  }
}

std::size_t SegmentationProgram::workspace_bytes() const noexcept {
  return front_->workspace_bytes() + states_[0].bytes() + states_[1].bytes() + products_.bytes() +
         cells_.bytes() + classes_.bytes() + positions_.bytes();
}

void SegmentationProgram::check_view(const View& view, int value, int items, bool input) const {
  const model::Value& v = values_[static_cast<std::size_t>(value)];
  const std::int64_t count = base::element_count(v.shape);
  std::int64_t last = items - 1;
  if (!view.positions.empty()) {
    if (!input) base::fail(ErrorCode::kInvalidArgument, "{}: outputs have no positions", v.name);
    if (view.positions.size() < static_cast<std::size_t>(items))
      base::fail(ErrorCode::kInvalidArgument, "{}: {} positions for {} items", v.name,
                 view.positions.size(), items);
    const auto [low, high] =
        std::minmax_element(view.positions.begin(), view.positions.begin() + items);
    if (*low < 0)
      base::fail(ErrorCode::kInvalidArgument, "{}: position {}; they count from 0", v.name, *low);
    last = *high;
  }
  const std::int64_t need = (view.offset + last * view.item_stride + count) * element_bytes(v.type);
  if (view.buffer == nullptr || view.offset < 0 || view.item_stride < 0 ||
      need > static_cast<std::int64_t>(view.buffer->bytes()))
    base::fail(ErrorCode::kInvalidArgument, "buffer of {}: {} bytes needed, {} there", v.name, need,
               view.buffer == nullptr ? 0 : view.buffer->bytes());
  if (!input && items > 1 && view.item_stride < count)
    base::fail(ErrorCode::kInvalidArgument,
               "{}: items of {} elements would overlap at a stride of {}", v.name, count,
               view.item_stride);
}

void SegmentationProgram::check_arguments(const Run& run) const {
  if (run.items < 1 || run.items > max_items_)
    base::fail(ErrorCode::kInvalidArgument, "batch of {} items; this program takes 1 to {}",
               run.items, max_items_);
  if (run.inputs.size() != inputs_.size() || run.outputs.size() != outputs_.size())
    base::fail(ErrorCode::kInvalidArgument, "{} inputs and {} outputs given, {} and {} expected",
               run.inputs.size(), run.outputs.size(), inputs_.size(), outputs_.size());
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    check_view(run.inputs[i], inputs_[i], run.items, true);
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    check_view(run.outputs[i], outputs_[i], run.items, false);
}

const std::int32_t* SegmentationProgram::upload_positions(const Run& run, cudaStream_t stream) {
  if (run.inputs[0].positions.empty() || !same_positions(run)) return nullptr;
  const std::size_t bytes = static_cast<std::size_t>(run.items) * sizeof(std::int32_t);
  PinnedPool::Block& block = staging_.take(bytes);
  std::memcpy(block.data, run.inputs[0].positions.data(), bytes);
  check(cudaMemcpyAsync(positions_.data(), block.data, bytes, cudaMemcpyHostToDevice, stream),
        "positions");
  check(cudaEventRecord(block.released, stream), "event");
  return positions_.as<std::int32_t>();
}

FrameTap SegmentationProgram::tap_of(const Run& run, int value, int first) const {
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (value >= 0 && outputs_[i] == value)
      return {elements_of<float>(run.outputs[i]) + first * run.outputs[i].item_stride,
              run.outputs[i].item_stride};
  return {};
}

void SegmentationProgram::run_front(const Run& run, int first, int count,
                                    const std::int32_t* positions, __half* rows, int windows,
                                    cudaStream_t stream) const {
  const View &samples = run.inputs[0], &raw = run.inputs[1];
  FrontWindows source;
  source.samples = elements_of<float>(samples);
  source.sample_stride = samples.item_stride;
  source.raw = elements_of<float>(raw);
  source.raw_stride = raw.item_stride;
  const auto taps_from = [&](int item) {
    const FrameTap sinc0 = tap_of(run, ids_.sinc[0], item), sinc1 = tap_of(run, ids_.sinc[1], item),
                   sinc2 = tap_of(run, ids_.sinc[2], item);
    return FrontTaps{sinc0.data, sinc0.stride, sinc1.data, sinc1.stride, sinc2.data, sinc2.stride};
  };
  if (same_positions(run)) {
    source.count = count;
    if (positions != nullptr) {
      source.positions = positions + first;
    } else {
      source.samples += first * source.sample_stride;
      source.raw += first * source.raw_stride;
    }
    front_->run(stream, source, rows, windows, taps_from(first));
    return;
  }
  // Windows whose samples and raw rows lie in different orders: one by one.
  for (int i = 0; i < count; ++i) {
    FrontWindows one = source;
    one.count = 1;
    one.samples += position_of(samples, first + i) * source.sample_stride;
    one.raw += position_of(raw, first + i) * source.raw_stride;
    front_->run(stream, one, rows + i * SegmentationFront::kRowHalves, windows,
                taps_from(first + i));
  }
}

void SegmentationProgram::run_pass(const Run& run, int first, int count,
                                   const std::int32_t* positions, cudaStream_t stream,
                                   const Visit& reached) const {
  const auto visit = [&](const char* part) {
    if (reached) reached(part);
  };
  const LstmPlan plan = plan_lstm(facts_, count, kFrames, kProductBytes);
  // Padding windows hold whatever was there before: no window looks at another.
  run_front(run, first, count, positions, states_[1].as<__half>(), plan.windows, stream);
  visit("front end");
  const LstmRows* input = &front_rows_;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    __half* const output = states_[i % 2].as<__half>();
    layers_[i].run(plan, *input, output, products_.as<float>(), cells_.as<float>(), stream);
    RowTapArgs tap;
    tap.tap = tap_of(run, ids_.states[i], first);
    if (tap.tap.data != nullptr) {
      tap.rows = output;
      tap.windows = plan.windows;
      tap.frames = kFrames;
      tap.columns = 2 * kLstmUnits;
      tap.count = count;
      tap.unscale = 1 / kStateScale;
      check(launch_row_tap(tap, stream), "LSTM states");
    }
    input = &state_rows_[i % 2];
    visit("LSTM layer");
  }
  FrameHeadArgs head;
  head.rows = input->data();
  head.windows = plan.windows;
  head.frames = kFrames;
  head.count = count;
  head.classes = classes_.as<std::uint8_t>();
  head.linear0 = tap_of(run, ids_.hidden[0], first);
  head.linear1 = tap_of(run, ids_.hidden[1], first);
  head.logits = tap_of(run, ids_.logits, first);
  head.log_probabilities = tap_of(run, ids_.log_probabilities, first);
  head_->run(head, stream);
  visit("dense layers");
  finish(run, first, count, stream);
  visit("masks");
}

void SegmentationProgram::finish(const Run& run, int first, int count, cudaStream_t stream) const {
  FrameMaskArgs args;
  args.classes = classes_.as<std::uint8_t>();
  args.count = count;
  args.frames = kFrames;
  const FrameTap masks = tap_of(run, ids_.masks, first);
  args.masks = masks.data;
  args.mask_stride = masks.stride;
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (outputs_[i] == ids_.classes) {
      args.copy_stride = run.outputs[i].item_stride;
      args.copy = elements_of<std::uint8_t>(run.outputs[i]) + first * args.copy_stride;
    }
  if (args.copy != nullptr || args.masks != nullptr)
    check(launch_frame_masks(args, stream), "masks");
}

void SegmentationProgram::run(Queue& queue, const Run& run) {
  base::check_stop(run.stop);
  check_arguments(run);
  const DeviceGuard guard(device_);
  const cudaStream_t stream = static_cast<CudaQueue&>(queue).stream();
  try {
    const std::int32_t* const positions = upload_positions(run, stream);
    for (int first = 0; first < run.items; first += pass_windows_) {
      base::check_stop(run.stop);
      run_pass(run, first, std::min(pass_windows_, run.items - first), positions, stream, {});
    }
  } catch (...) {
    // What is queued already uses memory that the caller may free now.
    cudaStreamSynchronize(stream);
    cudaGetLastError();
    throw;
  }
}

std::vector<PartTime> SegmentationProgram::times(Queue& queue, const Run& run, int repeats) {
  check_arguments(run);
  const DeviceGuard guard(device_);
  const cudaStream_t stream = static_cast<CudaQueue&>(queue).stream();
  const std::int32_t* const positions = upload_positions(run, stream);
  Events events(layers_.size() + 4);
  std::vector<PartTime> parts;
  std::vector<std::vector<double>> measured(layers_.size() + 3);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    parts.clear();
    events.record(0, stream);
    run_pass(run, 0, std::min(pass_windows_, run.items), positions, stream, [&](const char* part) {
      parts.push_back({part, 0});
      events.record(parts.size(), stream);
    });
    queue.wait();
    for (std::size_t i = 0; i < measured.size(); ++i)
      measured[i].push_back(events.milliseconds(i, i + 1));
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::sort(measured[i].begin(), measured[i].end());
    parts[i].milliseconds = measured[i][measured[i].size() / 2];
  }
  return parts;
}

}  // namespace diarist::backend::cuda
