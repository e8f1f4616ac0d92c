#pragma once
// Everything after the networks on stored stages, with the reference's rules.

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/task_pool.hpp"
#include "cluster/speakers.hpp"
#include "support/golden.hpp"
#include "support/segment_rttm.hpp"
#include "support/support.hpp"
#include "timeline/aggregate.hpp"
#include "timeline/grid.hpp"
#include "timeline/turns.hpp"

namespace diarist::test {

inline std::string text_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline std::shared_ptr<const cluster::Plda> captured_plda() {
  const Golden transform(shared_folder() / "data/plda/xvec_transform.npz");
  const Golden plda(shared_folder() / "data/plda/plda.npz");
  auto made = std::make_shared<cluster::Plda>();
  made->mean1 = transform.get<double>("mean1");
  made->lda = transform.get<double>("lda");
  made->mean2 = transform.get<double>("mean2");
  made->mu = plda.get<double>("mu");
  made->tr = plda.get<double>("tr");
  made->psi = plda.get<double>("psi");
  made->check_and_sort();
  return made;
}

struct ReferenceRun {
  std::vector<std::uint8_t> counts;  // not capped
  timeline::FrameMatrix matrix;
  cluster::Result clusters;
  std::string rttm, exclusive_rttm;
};

inline ReferenceRun reference_run(const std::vector<std::uint8_t>& activity,
                                  const std::vector<float>& embeddings, const SpeakerHints& hints,
                                  const std::string& uri) {
  ReferenceRun run;
  const int chunks = static_cast<int>(activity.size() / 589);
  base::TaskPool pool(2);
  run.clusters =
      cluster::assign_speakers({chunks, 256, activity, embeddings},
                               {.hints = hints, .reference = true, .plda = captured_plda()}, &pool);
  const timeline::Grid grid = timeline::Grid::of_chunks(chunks);
  run.counts = timeline::count_speakers(grid, activity);
  std::vector<std::uint8_t> counts = run.counts;
  if (run.clusters.max_count > 0) timeline::cap_counts(counts, run.clusters.max_count);
  run.matrix = timeline::reconstruct(grid, activity, run.clusters.hard, counts);
  timeline::cap_counts(counts, 1);
  const auto named = timeline::name_like_reference(
      timeline::segments_of(run.matrix),
      timeline::segments_of(timeline::reconstruct(grid, activity, run.clusters.hard, counts)));
  run.rttm = rttm_of(named.turns, named.names, uri);
  run.exclusive_rttm = rttm_of(named.exclusive_turns, named.names, uri);
  return run;
}

/// Largest absolute difference; -1 when the sizes differ.
template <typename A, typename B>
double largest_difference(const std::vector<A>& a, const std::vector<B>& b) {
  if (a.size() != b.size()) return -1;
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return worst;
}

}  // namespace diarist::test
