#include "pipeline/piece_memory.hpp"

#include <algorithm>
#include <cstddef>

namespace diarist::pipeline {

std::vector<float> PieceMemory::run(std::span<const Piece> pieces, std::int64_t settled,
                                    std::size_t dim, const EmbedPieces& embed) {
  std::vector<float> vectors(pieces.size() * dim);
  const auto at = [&](std::size_t i) {
    return vectors.begin() + static_cast<std::ptrdiff_t>(i * dim);
  };
  std::vector<std::size_t> missing;
  std::vector<Piece> wanted;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const auto it = known_.find(pieces[i]);
      if (it != known_.end()) {
        std::copy(it->second.begin(), it->second.end(), at(i));
      } else {
        missing.push_back(i);
        wanted.push_back(pieces[i]);
      }
    }
  }
  const std::vector<float> found = embed(wanted);
  for (std::size_t i = 0; i < missing.size(); ++i)
    std::copy_n(found.begin() + static_cast<std::ptrdiff_t>(i * dim), dim, at(missing[i]));

  std::map<Piece, std::vector<float>> known;
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (pieces[i].first + pieces[i].second <= settled)
      known.try_emplace(pieces[i], at(i), at(i) + static_cast<std::ptrdiff_t>(dim));
  const std::lock_guard lock(mutex_);
  known_ = std::move(known);
  return vectors;
}

}  // namespace diarist::pipeline
