#pragma once
// From spans of seconds to the pieces of audio that an embedding network takes.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "diarist/embedder.hpp"

namespace diarist::pipeline {

/// Samples [first, first + samples) of a recording, at most 10 s of them.
struct Piece {
  std::int64_t first = 0;
  std::int64_t samples = 0;
  std::size_t span = 0;  // the span it belongs to
};

struct CutSpans {
  std::vector<Piece> pieces;          // of all spans, in their order
  std::vector<std::string> warnings;  // ends behind that of the recording
};

/// Cuts every span into equal pieces. Without spans the whole recording is the only one.
/// \throws Error kInvalidArgument naming the span that is empty, outside, or under 0.25 s.
CutSpans cut_spans(std::span<const TimeSpan> spans, std::int64_t recording_samples);

/// Log-mel rows that lie wholly in so many samples: frames of 400 every 160.
std::int64_t whole_rows(std::int64_t samples) noexcept;

/// Mask frames of the first `rows` rows of a chunk: those that row t is read from by the rule
/// floor(t*589/998). 998 rows have all 589.
std::int64_t mask_frames(std::int64_t rows) noexcept;

/// Subtracts from every row its band's mean over the first `mean_rows` rows. rows: [*, 80].
void remove_mean(std::span<float> rows, std::int64_t mean_rows);

}  // namespace diarist::pipeline
