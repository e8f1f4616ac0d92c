#include "pipeline/recording.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace diarist::pipeline {

std::span<float> LogMelPages::append(std::int64_t rows) {
  first_row_.push_back(rows_);
  pages_.push_back(std::make_shared<std::vector<float>>(static_cast<std::size_t>(rows * kBands)));
  rows_ += rows;
  return *pages_.back();
}

void LogMelPages::append_from(const LogMelPages& other, std::int64_t first) {
  if (first >= other.rows()) return;
  auto to = append(other.rows() - first).begin();
  other.for_each_part(first, other.rows() - first, [&](std::span<const float> part) {
    to = std::copy(part.begin(), part.end(), to);
  });
}

void LogMelPages::for_each_part(std::int64_t first, std::int64_t count,
                                const std::function<void(std::span<const float>)>& part) const {
  if (first < 0 || count < 0 || first + count > rows_)
    base::fail(ErrorCode::kInternal, "log-mel rows {} to {} of {}", first, first + count, rows_);
  auto page = static_cast<std::size_t>(
      std::upper_bound(first_row_.begin(), first_row_.end(), first) - first_row_.begin());
  for (std::int64_t done = 0; done < count; ++page) {
    const std::span<const float> values = *pages_[page - 1];
    const std::int64_t skip = first + done - first_row_[page - 1];
    const std::int64_t here =
        std::min(count - done, static_cast<std::int64_t>(values.size()) / kBands - skip);
    part(values.subspan(static_cast<std::size_t>(skip * kBands),
                        static_cast<std::size_t>(here * kBands)));
    done += here;
  }
}

}  // namespace diarist::pipeline
