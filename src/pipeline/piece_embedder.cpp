#include "pipeline/piece_embedder.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "base/run_control.hpp"
#include "pipeline/row_masks.hpp"

namespace diarist::pipeline {
namespace {

constexpr int kDim = 192;
constexpr int kMostRows = 320;  // the turn check looks at 3 s at most, and a little more

}  // namespace

PieceEmbedder::PieceEmbedder(backend::Backend& backend, const model::Weights& weights,
                             Precision precision)
    : queue_(backend.make_queue()),
      pieces_per_run_(std::max(16, backend.preferred_windows() / 4)),
      runner_(backend, *queue_, model::campplus_network(weights), pieces_per_run_, kDim, precision,
              kMostRows),
      staging_(backend.allocate(static_cast<std::size_t>(pieces_per_run_ * kMostRows * kBands) *
                                sizeof(float))) {}

std::vector<float> PieceEmbedder::run(const LogMelPages& rows,
                                      std::span<const std::pair<std::int64_t, std::int64_t>> pieces,
                                      const std::stop_token& stop) {
  const std::lock_guard lock(mutex_);
  std::vector<float> result(pieces.size() * kDim);
  GatherRunner::Lists lists;
  const std::size_t most = static_cast<std::size_t>(pieces_per_run_);
  for (std::size_t first = 0; first < pieces.size(); first += most) {
    base::check_stop(stop);
    std::int64_t used = 0;
    lists.clear();
    for (const auto& [start, count] :
         pieces.subspan(first, std::min(most, pieces.size() - first))) {
      if (count > kMostRows)
        base::fail(ErrorCode::kInternal, "turn check: piece of {} rows", count);
      std::int64_t at = used;
      rows.for_each_part(start, count, [&](std::span<const float> part) {
        queue_->upload(*staging_, static_cast<std::size_t>(at * kBands) * sizeof(float),
                       std::as_bytes(part));
        at += static_cast<std::int64_t>(part.size()) / kBands;
      });
      lists.emplace_back(static_cast<std::size_t>(count));
      std::iota(lists.back().begin(), lists.back().end(), static_cast<std::int32_t>(used));
      used += count;
    }
    runner_.run(
        {staging_.get(), 0, 0, used}, lists,
        [&](std::size_t item, std::span<const float> values) {
          std::copy(values.begin(), values.end(),
                    result.begin() + static_cast<std::ptrdiff_t>((first + item) * kDim));
        },
        stop);
  }
  return result;
}

}  // namespace diarist::pipeline
