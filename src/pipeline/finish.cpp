#include "pipeline/finish.hpp"

#include <algorithm>
#include <cmath>

#include "timeline/activity.hpp"
#include "timeline/aggregate.hpp"
#include "timeline/grid.hpp"
#include "timeline/turn_check.hpp"
#include "timeline/turns.hpp"

namespace diarist::pipeline {
namespace {

using timeline::FrameMatrix;
using timeline::kSampleRate;

// A piece moves to another speaker when its cosine there is better by more than this.
constexpr double kMoveMargin = 0.1;

std::vector<double> cosines(std::span<const float> vector, const cluster::Result& clusters) {
  const std::size_t dim = vector.size();
  double norm = 0;
  for (const float value : vector) norm += double{value} * double{value};
  norm = std::sqrt(norm);
  std::vector<double> result;
  for (int k = 0; k < clusters.clusters; ++k) {
    double dot = 0;
    double length = 0;
    for (std::size_t d = 0; d < dim; ++d) {
      const double c = clusters.centroids[static_cast<std::size_t>(k) * dim + d];
      dot += double{vector[d]} * c;
      length += c * c;
    }
    result.push_back(dot / (norm * std::sqrt(length)));
  }
  return result;
}

// Pieces of single-speaker runs whose own vector clearly prefers another centroid move there
// (campplus.md, preset "open", step 10).
void check_turns(const FinishInput& input, const cluster::Result& clusters, FrameMatrix& matrix,
                 FrameMatrix& exclusive) {
  if (!input.embed_pieces || clusters.clusters < 2) return;
  const std::vector<timeline::Piece> pieces =
      timeline::pieces_to_check(matrix, clusters.clusters);
  std::vector<std::pair<std::int64_t, std::int64_t>> rows;
  for (const timeline::Piece& piece : pieces)
    rows.emplace_back(piece.first_row, piece.end_row - piece.first_row);
  const std::vector<float> vectors = input.embed_pieces(rows);
  std::vector<timeline::Move> moves;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::size_t dim = static_cast<std::size_t>(input.dim);
    const std::vector<double> score =
        cosines(std::span<const float>(vectors).subspan(i * dim, dim), clusters);
    const int best =
        static_cast<int>(std::max_element(score.begin(), score.end()) - score.begin());
    const int column = pieces[i].column;
    if (best != column && score[static_cast<std::size_t>(best)] -
                                  score[static_cast<std::size_t>(column)] > kMoveMargin)
      moves.push_back({pieces[i].from, pieces[i].to, column, best});
  }
  timeline::apply_moves(moves, matrix, exclusive);
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
  auto stages = options.keep_stages ? std::make_shared<StageResults>() : nullptr;
  if (stages) {
    stages->chunks = input.chunks;
    stages->embedding_dim = input.dim;
    stages->activity.assign(input.activity.begin(), input.activity.end());
    stages->embeddings.assign(input.embeddings.begin(), input.embeddings.end());
    stages->hard_clusters.assign(
        static_cast<std::size_t>(input.chunks) * timeline::kLocalSpeakers, -2);
    result.stages = stages;
  }
  if (input.chunks == 0) return;
  const timeline::Grid grid =
      timeline::Grid::of_chunks(input.chunks, input.step_seconds * kSampleRate);
  std::vector<std::uint8_t> counts = timeline::count_speakers(grid, input.activity);
  if (stages) stages->counts = counts;
  if (*std::max_element(counts.begin(), counts.end()) == 0) return;

  cluster::Settings requested = settings;
  requested.hints = options.speakers;
  requested.reference = options.reference;
  const cluster::Result clusters = cluster::assign_speakers(
      {input.chunks, input.dim, input.activity, input.embeddings}, requested, pool);
  for (const std::string& warning : clusters.warnings) result.warnings.push_back(warning);
  if (clusters.max_count > 0)
    for (std::uint8_t& count : counts)
      count = static_cast<std::uint8_t>(std::min<int>(count, clusters.max_count));
  if (stages) {
    stages->hard_clusters = clusters.hard;
    stages->counts = counts;
  }

  FrameMatrix matrix = timeline::reconstruct(grid, input.activity, clusters.hard, counts);
  for (std::uint8_t& count : counts) count = std::min<std::uint8_t>(count, 1);
  FrameMatrix exclusive = timeline::reconstruct(grid, input.activity, clusters.hard, counts);
  check_turns(input, clusters, matrix, exclusive);

  const std::vector<timeline::Segment> segments = timeline::segments_of(matrix);
  const std::vector<timeline::Segment> alone = timeline::segments_of(exclusive);
  timeline::NamedTurns named = options.reference
                                   ? timeline::name_like_reference(segments, alone)
                                   : timeline::name_by_first_turn(segments, alone, input.duration);
  add_speakers(named, clusters, input.dim, result);
  result.turns = std::move(named.turns);
  result.exclusive_turns = std::move(named.exclusive_turns);
}

}  // namespace diarist::pipeline
