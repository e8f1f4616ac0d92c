#include "pipeline/piece_embedder.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "base/run_control.hpp"
#include "pipeline/row_masks.hpp"

namespace diarist::pipeline {
namespace {

constexpr int kDim = 192;
constexpr std::int64_t kStagingRows = 16 * 320;  // sixteen pieces of 3 s and a little more

}  // namespace

PieceEmbedder::PieceEmbedder(backend::Backend& backend, backend::Queue& queue)
    : queue_(queue),
      staging_(backend.allocate(static_cast<std::size_t>(kStagingRows * kBands) * sizeof(float))) {}

std::vector<float> PieceEmbedder::run(GatherRunner& runner, std::span<const float> rows,
                                      std::span<const std::pair<std::int64_t, std::int64_t>> pieces,
                                      const std::stop_token& stop) {
  std::vector<float> result(pieces.size() * kDim);
  std::vector<std::vector<std::int32_t>> lists;
  for (std::size_t first = 0; first < pieces.size();) {
    base::check_stop(stop);
    std::int64_t used = 0;
    lists.clear();
    std::size_t next = first;
    for (; next < pieces.size(); ++next) {
      const auto [start, count] = pieces[next];
      if (count > kRowsPerWindow ||
          (start + count) * kBands > static_cast<std::int64_t>(rows.size()))
        base::fail(ErrorCode::kInternal, "turn check: piece of rows {}..{} is out of bounds", start,
                   start + count);
      if (used + count > kStagingRows) break;
      queue_.upload(*staging_, static_cast<std::size_t>(used * kBands) * sizeof(float),
                    std::as_bytes(rows.subspan(static_cast<std::size_t>(start * kBands),
                                               static_cast<std::size_t>(count * kBands))));
      lists.emplace_back(static_cast<std::size_t>(count));
      std::iota(lists.back().begin(), lists.back().end(), static_cast<std::int32_t>(used));
      used += count;
    }
    runner.run(
        {staging_.get(), 0, 0, used}, lists,
        [&](std::size_t item, std::span<const float> values) {
          std::copy(values.begin(), values.end(),
                    result.begin() + static_cast<std::ptrdiff_t>((first + item) * kDim));
        },
        stop);
    first = next;
  }
  return result;
}

}  // namespace diarist::pipeline
