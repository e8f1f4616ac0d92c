#include "pipeline/finish.hpp"

#include <algorithm>

#include "base/run_control.hpp"
#include "cluster/hints.hpp"
#include "cluster/parallel.hpp"
#include "pipeline/stopwatch.hpp"
#include "timeline/activity.hpp"
#include "timeline/aggregate.hpp"
#include "timeline/confidence.hpp"
#include "timeline/grid.hpp"
#include "timeline/turn_check.hpp"
#include "timeline/turns.hpp"

namespace diarist::pipeline {
namespace {

using timeline::FrameMatrix;
using timeline::kSampleRate;

// Pieces of single-speaker runs whose own vector clearly prefers another centroid move there
// (campplus.md, preset "open", step 10).
std::vector<timeline::Move> check_turns(const FinishInput& input, const cluster::Result& clusters,
                                        FrameMatrix& matrix, FrameMatrix& exclusive) {
  if (!input.embed_pieces) return {};
  const std::int64_t log_mel_rows = 998 + std::int64_t{input.chunks - 1} * input.step_seconds * 100;
  const std::vector<timeline::Piece> pieces =
      timeline::pieces_to_check(matrix, clusters.clusters, log_mel_rows);
  std::vector<std::pair<std::int64_t, std::int64_t>> rows;
  for (const timeline::Piece& piece : pieces)
    rows.emplace_back(piece.first_row, piece.end_row - piece.first_row);
  const std::vector<float> vectors = input.embed_pieces(rows);
  const std::size_t dim = static_cast<std::size_t>(input.dim);
  std::vector<timeline::Move> moves;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const timeline::Piece& piece = pieces[i];
    const int column = timeline::preferred_column(
        std::span<const float>(vectors).subspan(i * dim, dim), clusters.centroids, piece.column);
    if (column != piece.column) moves.push_back({piece.from, piece.to, piece.column, column});
  }
  timeline::apply_moves(matrix, moves);
  timeline::apply_moves(exclusive, moves);
  return moves;
}

void add_speakers(const timeline::NamedTurns& named, const cluster::Result& clusters, int dim,
                  Diarization& result) {
  for (std::size_t i = 0; i < named.names.size(); ++i) {
    Speaker speaker;
    speaker.name = named.names[i];
    speaker.embedding.assign(static_cast<std::size_t>(dim), 0.0F);
    const int column = named.columns[i];
    if (column < clusters.clusters)  // a phantom column stands for no cluster
      for (int d = 0; d < dim; ++d)
        speaker.embedding[static_cast<std::size_t>(d)] = static_cast<float>(
            clusters.centroids[static_cast<std::size_t>(column) * static_cast<std::size_t>(dim) +
                               static_cast<std::size_t>(d)]);
    for (const Turn& turn : named.turns)
      if (turn.speaker == static_cast<int>(i)) speaker.speech_seconds += turn.end - turn.start;
    result.speakers.push_back(std::move(speaker));
  }
}

// Turns and speakers; none where no frame has a voice.
void find_turns(const FinishInput& input, const cluster::Settings& settings,
                const RunOptions& options, base::TaskPool* pool, StageResults* stages,
                Diarization& result) {
  if (input.chunks == 0) return;
  const timeline::Grid grid =
      timeline::Grid::of_chunks(input.chunks, input.step_seconds * kSampleRate);
  std::vector<std::uint8_t> counts = timeline::count_speakers(grid, input.activity, input.stop);
  if (stages) stages->counts = counts;
  if (*std::max_element(counts.begin(), counts.end()) == 0) return;
  base::check_stop(input.stop);

  cluster::Settings requested = settings;
  requested.hints = options.speakers;
  requested.reference = options.reference;
  const cluster::Result clusters = [&] {
    const Stopwatch watch(result.timings.clustering);
    return cluster::assign_speakers({input.chunks, input.dim, input.activity, input.embeddings},
                                    requested, pool, input.stop);
  }();
  base::check_stop(input.stop);
  for (const std::string& warning : clusters.warnings) result.warnings.push_back(warning);
  if (clusters.max_count > 0) timeline::cap_counts(counts, clusters.max_count);
  if (stages) {
    stages->hard_clusters = clusters.hard;
    stages->counts = counts;
  }

  base::check_stop(input.stop);
  std::vector<std::uint8_t> single = counts;
  timeline::cap_counts(single, 1);
  FrameMatrix matrix, exclusive;
  cluster::parallel_for(pool, 2, [&](std::size_t which) {
    (which == 0 ? matrix : exclusive) = timeline::reconstruct(
        grid, input.activity, clusters.hard, which == 0 ? counts : single, input.stop);
  });
  base::check_stop(input.stop);
  const std::vector<timeline::Move> moves = check_turns(input, clusters, matrix, exclusive);
  base::check_stop(input.stop);

  base::check_stop(input.stop);
  std::vector<timeline::Segment> segments = timeline::segments_of(matrix);
  std::vector<timeline::Segment> alone = timeline::segments_of(exclusive);
  timeline::add_confidence(grid, input.activity, clusters.hard, moves, segments, input.stop);
  timeline::add_confidence(grid, input.activity, clusters.hard, moves, alone, input.stop);
  timeline::NamedTurns named = options.reference
                                   ? timeline::name_like_reference(segments, alone)
                                   : timeline::name_by_first_turn(segments, alone, input.duration);
  add_speakers(named, clusters, input.dim, result);
  result.turns = std::move(named.turns);
  result.exclusive_turns = std::move(named.exclusive_turns);
}

}  // namespace

cluster::Settings cluster_settings(const model::Preset& preset,
                                   const std::optional<model::PldaArrays>& plda) {
  cluster::Settings settings;
  if (preset.embedding_kind == "campplus") {
    settings.method = cluster::Method::kVbxIsotropic;
  } else if (!preset.needs_plda) {
    settings.method = cluster::Method::kAgglomerative;
  } else {
    settings.method = cluster::Method::kVbxPlda;
    auto checked = std::make_shared<cluster::Plda>();
    if (plda) *checked = {plda->mean1, plda->lda, plda->mean2, plda->mu, plda->tr, plda->psi};
    checked->check_and_sort();
    settings.plda = std::move(checked);
  }
  return settings;
}

void finish(const FinishInput& input, const cluster::Settings& settings, const RunOptions& options,
            base::TaskPool* pool, Diarization& result) {
  double seconds = 0;
  const double others = result.timings.clustering + result.timings.embedding;
  auto stages = options.keep_stages ? std::make_shared<StageResults>() : nullptr;
  if (stages) {
    stages->chunks = input.chunks;
    stages->embedding_dim = input.dim;
    stages->activity.assign(input.activity.begin(), input.activity.end());
    stages->embeddings.assign(input.embeddings.begin(), input.embeddings.end());
    stages->hard_clusters.assign(static_cast<std::size_t>(input.chunks) * timeline::kLocalSpeakers,
                                 -2);
    result.stages = stages;
  }
  {
    const Stopwatch watch(seconds);
    find_turns(input, settings, options, pool, stages.get(), result);
  }
  result.timings.output +=
      seconds - (result.timings.clustering + result.timings.embedding - others);
  // Silence as well: whoever asked for speakers hears that there are none.
  if (!options.reference)
    if (auto warning =
            cluster::unmet_minimum(options.speakers, static_cast<int>(result.speakers.size())))
      result.warnings.push_back(std::move(*warning));
}

}  // namespace diarist::pipeline
