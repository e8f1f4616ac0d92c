#include "backend/cuda/embedding_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

#include "backend/cuda/check.hpp"
#include "backend/cuda/kernels/features.hpp"
#include "base/run_control.hpp"

namespace diarist::backend::cuda {
namespace {

float* rows_of(const View& view) {
  return reinterpret_cast<float*>(static_cast<const CudaBuffer&>(*view.buffer).data()) +
         view.offset;
}

// Rows of `width` floats from one stride to another.
void copy_rows(float* target, std::int64_t target_stride, const float* source,
               std::int64_t source_stride, std::int64_t width, int rows, cudaStream_t stream) {
  const auto bytes = [](std::int64_t count) { return static_cast<std::size_t>(count) * 4; };
  // A stride smaller than the width (or 0) is only meant for one row.
  check(cudaMemcpy2DAsync(target, bytes(std::max(target_stride, width)), source,
                          bytes(std::max(source_stride, width)), bytes(width),
                          static_cast<std::size_t>(rows), cudaMemcpyDeviceToDevice, stream),
        "copy of rows");
}

}  // namespace

EmbeddingProgram::EmbeddingProgram(std::shared_ptr<const EmbeddingModel> model,
                                   const model::Graph& graph, const CompileOptions& options)
    : model_(std::move(model)),
      graph_(graph),
      options_(options),
      store_(model_->device()),
      buffers_(*model_, options.max_items),
      words_(make_pinned_words<std::uint32_t>(model_->device(),
                                              static_cast<std::size_t>(options.max_items), 0)),
      staging_(model_->device()) {
  for (std::size_t i = 0; i < model_->layers().size(); ++i) {
    const LayerChoice& choice = model_->choice().layers[i];
    choices_.push_back({model_->layers()[i].name, choice.name,
                        std::string(source_name(choice.source)) + ": " + choice.reason});
  }
  choices_.push_back({"pooling",
                      model_->format() == MapFormat::kFloat ? "masked_pool_ffma" : "masked_pool",
                      "FP32; the map is read once for all masks"});
  choices_.push_back({"head", "head", "FP32 products in one fixed order"});
  CudaQueue queue(model_->device());
  if (model_->uses_library()) {
    library_ =
        std::make_unique<LibraryConvolutions>(model_->device(), model_->mode(), options.max_items);
    pass_of(options.max_items, queue.stream()).bind(queue.stream());
  }
  // What a full batch needs is there from now on.
  for (int left = options.max_items; left > 0;) {
    const int size = size_for(left);
    pass_of(size, queue.stream());
    left -= size;
  }
  queue.wait();
}

EmbeddingProgram::~EmbeddingProgram() = default;

int EmbeddingProgram::pass_size(int items, int max_items) {
  int size = 1;
  while (size < items && size < max_items) size = std::min(2 * size, max_items);
  // Now the smallest size that holds the items; take the one below unless this is 3/4 full.
  if (size <= items || 4 * items >= 3 * size) return size;
  int below = 1;
  while (2 * below < size) below *= 2;
  return below;
}

// The library may take another kernel, with other bits, for another number of items, though the
// algorithm is the same: it sees one batch size only.
int EmbeddingProgram::size_for(int items) const {
  return library_ != nullptr ? options_.max_items : pass_size(items, options_.max_items);
}

EmbeddingPass& EmbeddingProgram::pass_of(int items, cudaStream_t stream) {
  std::unique_ptr<EmbeddingPass>& pass = passes_[items];
  if (pass == nullptr) {
    pass = std::make_unique<EmbeddingPass>(*model_, items, store_, buffers_, library_.get());
    store_.reserve(pass->arena_bytes(), stream);
  }
  return *pass;
}

std::size_t EmbeddingProgram::workspace_bytes() const noexcept {
  return store_.bytes() + buffers_.bytes() +
         (library_ != nullptr ? library_->workspace_bytes() : 0);
}

int EmbeddingProgram::plans() const noexcept {
  std::set<std::tuple<int, int, int, int, int, int, bool, int>> shapes;
  for (std::size_t i = 0; i < model_->layers().size(); ++i) {
    const LayerShape& s = model_->layers()[i].shape;
    shapes.insert({s.cin, s.cout, s.taps, s.stride_f, s.frequency, s.time, s.residual,
                   static_cast<int>(model_->choice().layers[i].kernel)});
  }
  return static_cast<int>(shapes.size());
}

void EmbeddingProgram::check_arguments(const Run& run) const {
  if (run.items < 1 || run.items > options_.max_items)
    base::fail(ErrorCode::kInvalidArgument, "batch of {} items; this program takes 1 to {}",
               run.items, options_.max_items);
  const std::vector<int>&inputs = model_->inputs(), &outputs = model_->outputs();
  if (run.inputs.size() != inputs.size() || run.outputs.size() != outputs.size())
    base::fail(ErrorCode::kInvalidArgument, "{} inputs and {} outputs given, {} and {} expected",
               run.inputs.size(), run.outputs.size(), inputs.size(), outputs.size());
  // `apart`: rows are copied two-dimensionally, which takes no stride below their width.
  const auto check_view = [&](const View& view, int value, bool apart) {
    const model::Value& v = model_->values()[static_cast<std::size_t>(value)];
    const std::int64_t count = base::element_count(v.shape);
    std::int64_t last = run.items - 1;
    if (!view.positions.empty()) {
      if (view.positions.size() < static_cast<std::size_t>(run.items))
        base::fail(ErrorCode::kInvalidArgument, "{}: {} positions for {} items", v.name,
                   view.positions.size(), run.items);
      const auto [low, high] =
          std::minmax_element(view.positions.begin(), view.positions.begin() + run.items);
      if (*low < 0)
        base::fail(ErrorCode::kInvalidArgument, "{}: position {}; they count from 0", v.name, *low);
      last = *high;
    }
    const std::int64_t need = (view.offset + last * view.item_stride + count) * 4;
    if (view.buffer == nullptr || view.offset < 0 || view.item_stride < 0 ||
        need > static_cast<std::int64_t>(view.buffer->bytes()))
      base::fail(ErrorCode::kInvalidArgument, "buffer of {}: {} bytes needed, {} there", v.name,
                 need, view.buffer == nullptr ? 0 : view.buffer->bytes());
    if (apart && run.items > 1 && view.positions.empty() && view.item_stride < count)
      base::fail(ErrorCode::kInvalidArgument,
                 "{}: items of {} elements would overlap at a stride of {}", v.name, count,
                 view.item_stride);
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) check_view(run.inputs[i], inputs[i], i > 0);
  for (std::size_t i = 0; i < outputs.size(); ++i) check_view(run.outputs[i], outputs[i], true);
}

void EmbeddingProgram::run(Queue& queue, const Run& run) {
  base::check_stop(run.stop);
  check_arguments(run);
  const DeviceGuard guard(model_->device());
  const cudaStream_t stream = static_cast<CudaQueue&>(queue).stream();
  if (run.flags.buffer != nullptr &&
      static_cast<std::size_t>(run.flags.offset + run.items) * 4 > run.flags.buffer->bytes())
    base::fail(ErrorCode::kInvalidArgument, "buffer of flags: {} bytes for {} items at {}",
               run.flags.buffer->bytes(), run.items, run.flags.offset);
  try {
    upload_positions(run, stream);
    for (int first = 0; first < run.items;) {
      base::check_stop(run.stop);
      EmbeddingPass& pass = pass_of(size_for(run.items - first), stream);
      const int count = std::min(pass.items(), run.items - first);
      run_pass(pass, first, count, run, stream);
      first += count;
    }
  } catch (...) {
    // What is queued already uses memory that the caller may free now.
    cudaStreamSynchronize(stream);
    cudaGetLastError();
    throw;
  }
}

void EmbeddingProgram::upload_positions(const Run& run, cudaStream_t stream) {
  const auto items = static_cast<std::size_t>(run.items);
  for (std::size_t i = 0; i < 2; ++i) {
    if (run.inputs[i].positions.empty()) continue;
    PinnedPool::Block& block = staging_.take(items * sizeof(std::int32_t));
    std::memcpy(block.data, run.inputs[i].positions.data(), items * sizeof(std::int32_t));
    check(cudaMemcpyAsync(buffers_.positions.as<std::int32_t>() +
                              i * static_cast<std::size_t>(options_.max_items),
                          block.data, items * sizeof(std::int32_t), cudaMemcpyHostToDevice, stream),
          "positions");
    check(cudaEventRecord(block.released, stream), "event");
  }
}

void EmbeddingProgram::run_pass(EmbeddingPass& pass, int first, int count, const Run& run,
                                cudaStream_t stream) {
  const View& rows = run.inputs[0];
  const View& masks = run.inputs[1];
  // Where an input has positions they count from its offset, whatever the pass.
  const auto positions = [&](int input) -> const std::int32_t* {
    if (run.inputs[static_cast<std::size_t>(input)].positions.empty()) return nullptr;
    return buffers_.positions.as<std::int32_t>() + input * options_.max_items + first;
  };
  const auto first_of = [&](const View& view) {
    return rows_of(view) + (view.positions.empty() ? first * view.item_stride : 0);
  };
  pass.prepare(first_of(rows), rows.item_stride, positions(0), count, stream);
  GatherArgs gather;
  gather.source = first_of(masks);
  gather.item_stride = masks.item_stride;
  gather.positions = positions(1);
  gather.target = buffers_.masks.as<float>();
  gather.items = count;
  gather.width = buffers_.mask_floats;
  check(launch_gather(gather, stream), "masks");
  bool taps = false;
  for (const int value : model_->outputs())
    taps = taps || model_->values()[static_cast<std::size_t>(value)].shape.size() == 3;
  pass.run(stream, options_.record && !taps);
  for (std::size_t i = 0; i < model_->outputs().size(); ++i) {
    const int value = model_->outputs()[i];
    const View& view = run.outputs[i];
    float* const target = rows_of(view) + first * view.item_stride;
    const base::Shape& shape = model_->values()[static_cast<std::size_t>(value)].shape;
    if (shape.size() == 3) {
      pass.tap(value, target, view.item_stride, count, stream);
      continue;
    }
    const auto head = std::find_if(model_->heads().begin(), model_->heads().end(),
                                   [&](const HeadWeights& h) { return h.output == value; });
    const std::int64_t width = std::int64_t{head->speakers} * head->dim;
    const float* const source =
        head->weights.bytes() > 0 ? buffers_.embeddings() : buffers_.statistics.as<float>();
    copy_rows(target, view.item_stride, source, width, width, count, stream);
  }
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(std::uint32_t);
  check(cudaMemcpyAsync(words_.get() + first, buffers_.range(), bytes, cudaMemcpyDeviceToHost,
                        stream),
        "range words");
  if (run.flags.buffer != nullptr)
    check(cudaMemcpyAsync(rows_of(run.flags) + first, buffers_.range(), bytes,
                          cudaMemcpyDeviceToDevice, stream),
          "range words");
}

bool EmbeddingProgram::settle(Queue& queue, const Run& run) {
  queue.wait();
  std::vector<int> bad;
  for (int i = 0; i < run.items; ++i)
    if (words_.get()[i] != 0) bad.push_back(i);
  if (bad.empty()) return false;
  recompute(queue, run, bad);
  return true;
}

std::vector<LaunchTime> EmbeddingProgram::times(Queue& queue, const Run& run, int repeats) {
  check_arguments(run);
  const DeviceGuard guard(model_->device());
  const cudaStream_t stream = static_cast<CudaQueue&>(queue).stream();
  EmbeddingPass& pass = pass_of(size_for(run.items), stream);
  const int count = std::min(pass.items(), run.items);
  pass.bind(stream);
  const std::vector<Launch>& launches = pass.launches();
  std::vector<LaunchTime> times(launches.size() + 1);
  times[0].layer = "features";
  times[0].kernel = "features";
  for (std::size_t i = 0; i < launches.size(); ++i) {
    times[i + 1].layer = launches[i].layer;
    times[i + 1].kernel = launches[i].kernel;
  }
  Events events(launches.size() + 2);
  std::vector<std::vector<double>> measured(times.size());
  for (int repeat = 0; repeat < repeats; ++repeat) {
    events.record(0, stream);
    pass.prepare(rows_of(run.inputs[0]), run.inputs[0].item_stride, nullptr, count, stream);
    events.record(1, stream);
    for (std::size_t i = 0; i < launches.size(); ++i) {
      check(launches[i].run(stream), launches[i].layer.c_str());
      events.record(i + 2, stream);
    }
    queue.wait();
    for (std::size_t i = 0; i < times.size(); ++i)
      measured[i].push_back(events.milliseconds(i, i + 1));
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    std::sort(measured[i].begin(), measured[i].end());
    times[i].milliseconds = measured[i][measured[i].size() / 2];
  }
  return times;
}

// Each item by itself: their number is small, and the FP32 maps are large.
void EmbeddingProgram::recompute(Queue& queue, const Run& run, std::span<const int> items) {
  if (model_->format() == MapFormat::kFloat)
    base::fail(ErrorCode::kInvalidArgument,
               "item {} of the batch: activations are not finite even in FP32; look for NaN or "
               "huge values in its features, or damaged weights",
               items.front());
  if (!reported_ && options_.log)
    options_.log(LogLevel::kWarning,
                 fmt::format("{} of {} chunks left the range of half precision; such chunks are "
                             "computed again in FP32 from now on, which takes longer",
                             items.size(), run.items));
  reported_ = true;
  if (without_halves_ == nullptr) {
    ModelOptions wanted;
    wanted.choice.mode = Mode::kExact;
    wanted.choice.family = Family::kFp32;
    CompileOptions options = options_;
    options.max_items = 1;
    without_halves_ = std::make_unique<EmbeddingProgram>(
        std::make_shared<const EmbeddingModel>(model_->device(), graph_, wanted), graph_, options);
  }
  for (const int item : items) {
    Run single = run;
    single.items = 1;
    single.flags = {};
    for (View& view : single.inputs) {
      const int at = view.positions.empty() ? item : view.positions[static_cast<std::size_t>(item)];
      view.offset += at * view.item_stride;
      view.positions = {};
    }
    for (View& view : single.outputs) view.offset += item * view.item_stride;
    without_halves_->run(queue, single);
    without_halves_->settle(queue, single);
    words_.get()[item] = 0;
  }
}

}  // namespace diarist::backend::cuda
