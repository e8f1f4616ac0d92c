// Clustering of recordings of many hours: vectors drawn from a captured recording, with noise.
// Nothing of the capture is stored. Prints seconds, peak memory and the longest time without a look
// at the stop token after every stage.

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/npy.hpp"
#include "base/task_pool.hpp"
#include "cluster/linkage.hpp"
#include "cluster/plda.hpp"
#include "cluster/rows.hpp"
#include "cluster/speakers.hpp"
#include "cluster/training.hpp"
#include "cluster/vbx.hpp"
#include "support/look_clock.hpp"

namespace diarist::bench {
namespace {

constexpr std::size_t kDim = 256;

struct Options {
  std::filesystem::path capture, plda;
  std::size_t rows = 120000;
  double noise = 0.02;  // length of the noise over that of the vector
  double threshold = 0.6;
  int threads = 2;
  std::size_t most_stored = cluster::kMostStoredRows;
  std::size_t most_fallback = cluster::kMostFallbackRows;
  double patience = cluster::LinkageOptions{}.patience;
  std::size_t vectors = 0;  // so many different ones, drawn again and again; 0: all differ
  bool whole = false;       // with assignment, from windows
  bool compare = false;     // linkage on centroids with that on stored distances
  bool scatter = false;     // vectors without any speakers instead of the capture
};

using Arrays = std::map<std::string, base::NpyArray>;

template <typename T>
std::vector<T> array(const Arrays& arrays, const std::string& name) {
  return arrays.at(name).as<T>(name);
}

std::shared_ptr<const cluster::Plda> read_plda(const std::filesystem::path& folder) {
  const Arrays transform = base::read_npz(folder / "xvec_transform.npz");
  const Arrays plda = base::read_npz(folder / "plda.npz");
  auto made = std::make_shared<cluster::Plda>();
  made->mean1 = array<double>(transform, "mean1");
  made->lda = array<double>(transform, "lda");
  made->mean2 = array<double>(transform, "mean2");
  made->mu = array<double>(plda, "mu");
  made->tr = array<double>(plda, "tr");
  made->psi = array<double>(plda, "psi");
  made->check_and_sort();
  return made;
}

struct Windows {
  std::vector<std::uint8_t> activity;
  std::vector<float> embeddings;
  std::size_t count() const { return activity.size() / cluster::kFrames; }
};

Windows read_capture(const std::filesystem::path& folder) {
  Windows windows;
  const auto cells =
      array<std::uint8_t>(base::read_npz(folder / "segmentations.npz"), "segmentations");
  windows.activity.resize(cells.size() / 3);
  for (std::size_t i = 0; i < windows.activity.size(); ++i)
    windows.activity[i] =
        static_cast<std::uint8_t>(cells[3 * i] | cells[3 * i + 1] << 1 | cells[3 * i + 2] << 2);
  windows.embeddings = array<float>(base::read_npz(folder / "raw_embeddings.npz"), "embeddings");
  return windows;
}

// Draws windows with their three vectors until `rows` of these are good for training.
Windows draw(const Windows& from, std::size_t rows, double noise) {
  std::vector<std::size_t> training(from.count());
  for (const std::int32_t chunk :
       cluster::training_pairs(
           {static_cast<int>(from.count()), static_cast<int>(kDim), from.activity, from.embeddings})
           .chunk)
    ++training[static_cast<std::size_t>(chunk)];
  std::mt19937_64 engine(7);
  std::normal_distribution<double> normal;
  Windows drawn;
  drawn.embeddings.reserve(rows * 3 * kDim);
  for (std::size_t have = 0; have < rows;) {
    const std::size_t window = engine() % from.count();
    have += training[window];
    drawn.activity.insert(
        drawn.activity.end(),
        from.activity.begin() + static_cast<std::ptrdiff_t>(window * cluster::kFrames),
        from.activity.begin() + static_cast<std::ptrdiff_t>((window + 1) * cluster::kFrames));
    for (std::size_t speaker = 0; speaker < 3; ++speaker) {
      const float* vector = &from.embeddings[(3 * window + speaker) * kDim];
      const float length = std::sqrt(cluster::sum_of_squares({vector, kDim}));
      const double each = noise * length / std::sqrt(static_cast<double>(kDim));
      for (std::size_t d = 0; d < kDim; ++d)
        drawn.embeddings.push_back(
            static_cast<float>(vector[d] + (noise > 0 ? each * normal(engine) : 0.0)));
    }
  }
  return drawn;
}

// Vectors in all directions, three per window: the worst case for searches of neighbours.
Windows scattered(std::size_t rows) {
  std::mt19937_64 engine(7);
  std::normal_distribution<double> normal;
  Windows windows;
  const std::size_t count = (rows + 2) / 3;
  windows.activity.resize(count * cluster::kFrames);
  for (std::size_t i = 0; i < windows.activity.size(); ++i)
    windows.activity[i] = static_cast<std::uint8_t>(1U << (i % cluster::kFrames / 200));
  windows.embeddings.resize(count * 3 * kDim);
  for (float& x : windows.embeddings) x = static_cast<float>(normal(engine));
  return windows;
}

// Puts one of the first `vectors` rows in the place of every row.
void repeat(std::vector<float>& rows, std::size_t vectors) {
  std::mt19937_64 engine(8);
  for (std::size_t first = 0; first < rows.size(); first += kDim)
    if (const std::size_t from = engine() % vectors * kDim; first >= vectors * kDim)
      std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(from), kDim,
                  rows.begin() + static_cast<std::ptrdiff_t>(first));
}

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

class Watch {
 public:
  void lap(const char* what) {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto now = std::chrono::steady_clock::now();
    const double processor = processor_seconds();
    std::printf("%-12s %8.2f s wall %8.2f s of processors, peak %5.0f MB, a look every %.3f s\n",
                what, std::chrono::duration<double>(now - wall_).count(), processor - processor_,
                static_cast<double>(usage.ru_maxrss) / 1000, test::longest_without_a_look());
    std::fflush(stdout);
    wall_ = now;
    processor_ = processor;
  }

 private:
  std::chrono::steady_clock::time_point wall_ = std::chrono::steady_clock::now();
  double processor_ = processor_seconds();
};

std::size_t clusters_of(const std::vector<std::int32_t>& labels) {
  return static_cast<std::size_t>(*std::max_element(labels.begin(), labels.end())) + 1;
}

// Both ways to make the tree: the first merge that differs, or that none does.
void compare(const Options& options, const std::vector<float>& unit, base::TaskPool& pool,
             Watch& watch) {
  const auto tree_of = [&](std::size_t most_stored, const char* what) {
    auto tree = cluster::centroid_linkage(unit, kDim, &pool,
                                          {.most_stored_rows = most_stored,
                                           .patience = options.patience,
                                           .most_fallback_rows = options.most_fallback,
                                           .cut = options.threshold,
                                           .order = true,
                                           .stop = {}});
    watch.lap(what);
    return tree;
  };
  const std::vector<cluster::Merge> compact = tree_of(0, "centroids");
  const std::vector<cluster::Merge> stored = tree_of(options.rows, "distances");
  for (std::size_t k = 0; k < stored.size(); ++k)
    if (compact[k].left != stored[k].left || compact[k].right != stored[k].right) {
      std::printf("merge %zu of %zu differs\n", k, stored.size());
      return;
    }
  const bool labels = cluster::flat_clusters(compact, options.threshold) ==
                      cluster::flat_clusters(stored, options.threshold);
  std::printf("%zu merges are equal, labels %s\n", stored.size(), labels ? "too" : "differ");
}

void run_stages(const Options& options, Windows windows, base::TaskPool& pool, Watch& watch) {
  cluster::Training training =
      cluster::training_pairs({static_cast<int>(windows.count()), static_cast<int>(kDim),
                               windows.activity, windows.embeddings},
                              &pool);
  windows = {};
  training.rows.resize(options.rows * kDim);
  if (options.vectors > 0) repeat(training.rows, options.vectors);
  std::vector<std::int32_t> labels;
  {
    const std::vector<float> unit = cluster::unit_rows(training.rows, kDim);
    watch.lap("vectors");
    if (options.compare) return compare(options, unit, pool, watch);
    const auto tree = cluster::centroid_linkage(unit, kDim, &pool,
                                                {.most_stored_rows = options.most_stored,
                                                 .patience = options.patience,
                                                 .most_fallback_rows = options.most_fallback,
                                                 .cut = options.threshold,
                                                 .stop = {}});
    labels = cluster::flat_clusters(tree, options.threshold);
  }
  watch.lap("linkage");
  const auto plda = read_plda(options.plda);
  std::vector<double> features;
  plda->features(training.rows, nullptr, features, &pool);
  watch.lap("PLDA");
  const cluster::VbxResult result = cluster::vbx(features, plda->psi, labels, {}, &pool);
  watch.lap("VBx");
  std::size_t kept = 0;
  for (const double prior : result.priors) kept += prior > 1e-7 ? 1 : 0;
  std::printf("%zu rows, %zu initial clusters, %zu rounds, %zu speakers kept\n", labels.size(),
              clusters_of(labels), result.elbo.size(), kept);
}

void run_whole(const Options& options, const Windows& windows, base::TaskPool& pool, Watch& watch) {
  cluster::Settings settings;
  settings.plda = read_plda(options.plda);
  watch.lap("windows");
  const cluster::Result result =
      cluster::assign_speakers({static_cast<int>(windows.count()), static_cast<int>(kDim),
                                windows.activity, windows.embeddings},
                               settings, &pool);
  watch.lap("all");
  std::printf("%zu rows, %zu windows, %zu initial clusters, %zu rounds, %d speakers\n",
              result.initial_labels.size(), windows.count(), clusters_of(result.initial_labels),
              result.elbo.size(), result.clusters);
}

int run(int count, char** arguments) {
  Options options;
  std::vector<std::string> names;
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    const auto value = [&] { return i + 1 < count ? std::atof(arguments[++i]) : 0.0; };
    if (name == "--rows")
      options.rows = static_cast<std::size_t>(value());
    else if (name == "--noise")
      options.noise = value();
    else if (name == "--threshold")
      options.threshold = value();
    else if (name == "--threads")
      options.threads = static_cast<int>(value());
    else if (name == "--most-stored")
      options.most_stored = static_cast<std::size_t>(value());
    else if (name == "--most-fallback")
      options.most_fallback = static_cast<std::size_t>(value());
    else if (name == "--patience")
      options.patience = value();
    else if (name == "--vectors")
      options.vectors = static_cast<std::size_t>(value());
    else if (name == "--whole")
      options.whole = true;
    else if (name == "--scatter")
      options.scatter = true;
    else if (name == "--compare")
      options.compare = true;
    else
      names.push_back(name);
  }
  if (names.size() != 2) {
    std::printf(
        "usage: long_clustering CAPTURE PLDA [--rows N] [--noise X] [--threshold X] [--threads N]\n"
        "                       [--most-stored N] [--most-fallback N] [--patience X] [--vectors "
        "N]\n"
        "                       [--whole] [--compare] [--scatter]\n"
        "CAPTURE has raw_embeddings.npz and segmentations.npz, PLDA xvec_transform.npz and "
        "plda.npz\n");
    return 2;
  }
  options.capture = names[0];
  options.plda = names[1];
  base::TaskPool pool(options.threads);
  Watch watch;
  Windows windows = options.scatter
                        ? scattered(options.rows)
                        : draw(read_capture(options.capture), options.rows, options.noise);
  test::longest_without_a_look();
  if (options.whole)
    run_whole(options, windows, pool, watch);
  else
    run_stages(options, std::move(windows), pool, watch);
  return 0;
}

}  // namespace
}  // namespace diarist::bench

int main(int count, char** arguments) {
  try {
    return diarist::bench::run(count, arguments);
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
