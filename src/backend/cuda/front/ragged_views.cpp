#include "backend/cuda/front/ragged_views.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace diarist::backend::cuda {
namespace {

void check_range(const View& view, std::int64_t first, std::int64_t count, const std::string& graph,
                 const char* what, int item) {
  const std::int64_t need = (first + count) * 4;
  if (first < 0 || need > static_cast<std::int64_t>(view.buffer->bytes()))
    base::fail(ErrorCode::kInvalidArgument, "{}: {} of item {}: {} bytes needed, {} there", graph,
               what, item, need, view.buffer->bytes());
}

}  // namespace

std::vector<FrontItems> items_of(const Run& run, const CompileOptions& options,
                                 const RowShape& shape, const std::string& graph) {
  if (run.items < 1 || run.items > options.max_items)
    base::fail(ErrorCode::kInvalidArgument, "{}: batch of {} items; this program takes 1 to {}",
               graph, run.items, options.max_items);
  if (run.inputs.size() != 1 || run.outputs.size() != 1 || run.inputs[0].buffer == nullptr ||
      run.outputs[0].buffer == nullptr || run.lengths.size() < static_cast<std::size_t>(run.items))
    base::fail(ErrorCode::kInvalidArgument,
               "{}: one input, one output and a length per item expected", graph);
  const View &input = run.inputs[0], &output = run.outputs[0];
  std::vector<FrontItems> groups;
  std::int64_t from = input.offset, to = output.offset;
  for (int i = 0; i < run.items; ++i) {
    const std::int32_t length = run.lengths[static_cast<std::size_t>(i)];
    if (length < 1 || length > options.max_length)
      base::fail(ErrorCode::kInvalidArgument, "{}: item {} has {} samples; 1 to {} expected", graph,
                 i, length, options.max_length);
    const std::int64_t rows = length < shape.reach ? 0 : (length - shape.reach) / shape.stride + 1;
    check_range(input, from, length, graph, "samples", i);
    check_range(output, to, rows * shape.columns, graph, "rows", i);
    if (groups.empty() || groups.back().count == kItemsPerLaunch) groups.emplace_back();
    FrontItems& group = groups.back();
    group.length[group.count] = length;
    group.input[group.count] = from;
    group.output[group.count] = to;
    ++group.count;
    from += input.item_stride == 0 ? length : input.item_stride;
    to += output.item_stride == 0 ? rows * shape.columns : output.item_stride;
  }
  return groups;
}

}  // namespace diarist::backend::cuda
