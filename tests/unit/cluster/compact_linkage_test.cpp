// Linkage on centroids against linkage on stored distances: the same merges, ties included.

#include "cluster/compact_linkage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <tuple>

#include "base/task_pool.hpp"
#include "cluster/codes.hpp"
#include "cluster/exact_distances.hpp"
#include "cluster/rows.hpp"
#include "support/golden.hpp"

namespace diarist::cluster {
namespace {

// mt19937 is the same everywhere, its distributions are not.
class Noise {
 public:
  explicit Noise(unsigned seed) : engine_(seed) {}
  std::uint32_t below(std::uint32_t end) { return engine_() % end; }
  // About normal: the sum of twelve uniform numbers.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(engine_()) / 4294967296.0;
    return sum;
  }

 private:
  std::mt19937 engine_;
};

constexpr double kCut = 0.6;

// Centroids only, whatever it takes.
LinkageOptions on_centroids(std::optional<double> cut = std::nullopt, bool order = false) {
  return {.most_stored_rows = 0, .most_fallback_rows = 0, .cut = cut, .order = order, .stop = {}};
}

// With so much patience the work ends in different places: at once, while neighbours are searched,
// between merges, never.
LinkageOptions on_centroids_for(double patience) {
  LinkageOptions options = on_centroids(kCut, true);
  options.patience = patience;
  options.most_fallback_rows = kMostFallbackRows;
  return options;
}

void expect_same_merges(const std::vector<Merge>& tree, const std::vector<Merge>& expected,
                        const std::string& what) {
  ASSERT_EQ(tree.size(), expected.size()) << what;
  for (std::size_t k = 0; k < tree.size(); ++k) {
    ASSERT_EQ(tree[k].left, expected[k].left) << what << ", merge " << k;
    ASSERT_EQ(tree[k].right, expected[k].right) << what << ", merge " << k;
    ASSERT_EQ(tree[k].distance, expected[k].distance) << what << ", merge " << k;
    ASSERT_EQ(tree[k].size, expected[k].size) << what << ", merge " << k;
  }
}

void expect_same_tree(const std::vector<float>& rows, std::size_t dim, const std::string& what,
                      base::TaskPool* pool = nullptr) {
  const std::size_t count = rows.size() / dim;
  const std::vector<Merge> stored =
      centroid_linkage(rows, dim, nullptr, {.most_stored_rows = count, .stop = {}});
  const std::vector<Merge> compact = centroid_linkage(rows, dim, pool, on_centroids(kCut, true));
  ASSERT_EQ(compact.size(), stored.size()) << what;
  for (std::size_t k = 0; k < stored.size(); ++k) {
    ASSERT_EQ(compact[k].left, stored[k].left) << what << ", merge " << k;
    ASSERT_EQ(compact[k].right, stored[k].right) << what << ", merge " << k;
    ASSERT_EQ(compact[k].size, stored[k].size) << what << ", merge " << k;
    ASSERT_NEAR(compact[k].distance, stored[k].distance, 1e-5 * (1 + stored[k].distance))
        << what << ", merge " << k;
  }
  EXPECT_EQ(flat_clusters(compact, kCut), flat_clusters(stored, kCut)) << what;
}

std::vector<float> noisy_unit_rows(std::size_t count, std::size_t dim, std::size_t speakers,
                                   double noise, unsigned seed) {
  Noise random(seed);
  std::vector<float> means(speakers * dim);
  for (float& x : means) x = static_cast<float>(random.normal());
  means = unit_rows(means, dim);
  std::vector<float> rows(count * dim);
  const double each = noise / std::sqrt(static_cast<double>(dim));
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t speaker = random.below(static_cast<std::uint32_t>(speakers));
    for (std::size_t d = 0; d < dim; ++d)
      rows[i * dim + d] = means[speaker * dim + d] + static_cast<float>(each * random.normal());
  }
  return unit_rows(rows, dim);
}

TEST(CompactLinkage, EqualsScipyAlsoWhenDistancesAreEqual) {
  const test::Golden golden(std::filesystem::path(DIARIST_GOLDEN) / "linkage.npz");
  ASSERT_EQ(golden.cases(), 35);
  for (int i = 0; i < golden.cases(); ++i) {
    const std::string number = std::to_string(i);
    const auto rows = golden.get<float>("rows" + number);
    const std::vector<Merge> tree =
        centroid_linkage(rows, golden.dim("rows" + number, 1), nullptr, on_centroids());
    const auto expected = golden.get<double>("tree" + number);
    ASSERT_EQ(tree.size() * 4, expected.size());
    for (std::size_t k = 0; k < tree.size(); ++k) {
      EXPECT_EQ(tree[k].left, expected[4 * k]) << "case " << i << " merge " << k;
      EXPECT_EQ(tree[k].right, expected[4 * k + 1]) << "case " << i << " merge " << k;
      EXPECT_NEAR(tree[k].distance, expected[4 * k + 2], 1e-5) << "case " << i << " merge " << k;
      EXPECT_EQ(tree[k].size, expected[4 * k + 3]);
    }
  }
}

TEST(CompactLinkage, EqualsStoredDistancesOnNoisySpeakers) {
  base::TaskPool pool(3);
  unsigned seed = 1;
  for (const std::size_t dim : {1, 2, 7, 64, 192, 256})
    for (const double noise : {0.02, 0.3, 0.8, 3.0})
      for (const std::size_t count : {2, 3, 40, 700})
        expect_same_tree(noisy_unit_rows(count, dim, 6, noise, ++seed), dim,
                         std::to_string(dim) + " dimensions, noise " + std::to_string(noise) +
                             ", rows " + std::to_string(count),
                         count % 2 == 0 ? &pool : nullptr);
}

TEST(CompactLinkage, EqualsStoredDistancesFullOfTies) {
  Noise random(5);
  for (int round = 0; round < 60; ++round) {
    const std::size_t dim = 1 + random.below(4), count = 2 + random.below(300);
    const std::uint32_t sides = 2 + random.below(6);
    std::vector<float> rows(count * dim);
    for (float& x : rows) x = static_cast<float>(random.below(sides));
    expect_same_tree(rows, dim, "grid " + std::to_string(round));
  }
}

TEST(CompactLinkage, EqualsStoredDistancesOnCopies) {
  // Looped audio: the same few vectors again and again, alone and with others between them.
  Noise random(9);
  for (const std::size_t copies : {2, 5, 40}) {
    const std::vector<float> base = noisy_unit_rows(30, 64, 3, 0.5, 77);
    std::vector<float> rows;
    for (std::size_t i = 0; i < 30 * copies; ++i) {
      const std::size_t from = random.below(30) * 64;
      rows.insert(rows.end(), base.begin() + static_cast<std::ptrdiff_t>(from),
                  base.begin() + static_cast<std::ptrdiff_t>(from + 64));
      if (i % 7 == 0)
        for (std::size_t d = 0; d < 64; ++d) rows[rows.size() - 64 + d] += 1e-7F;
    }
    expect_same_tree(rows, 64, std::to_string(copies) + " copies");
  }
  // Few vectors, very often.
  const std::vector<float> few = noisy_unit_rows(4, 8, 2, 0.5, 78);
  std::vector<float> often;
  for (std::size_t i = 0; i < 1500; ++i) {
    const std::size_t from = random.below(4) * 8;
    often.insert(often.end(), few.begin() + static_cast<std::ptrdiff_t>(from),
                 few.begin() + static_cast<std::ptrdiff_t>(from + 8));
  }
  expect_same_tree(often, 8, "few vectors");
  expect_same_tree(std::vector<float>(300 * 3, 0.5F), 3, "one vector");
  expect_same_tree(std::vector<float>(2500 * 3, 0.5F), 3, "one vector, often");
  expect_same_tree(std::vector<float>(50 * 3, 0.0F), 3, "zeros");
  // Every vector some times, among others that are no copies, without speakers.
  std::vector<float> mixed = noisy_unit_rows(200, 16, 1, 100, 79);
  for (std::size_t i = 0; i < 400; ++i) {
    const std::size_t from = random.below(150) * 16;
    for (std::size_t d = 0; d < 16; ++d) mixed.push_back(mixed[from + d]);
  }
  expect_same_tree(mixed, 16, "copies without speakers");
}

TEST(CompactLinkage, TakesBothZerosForEqual) {
  Noise random(15);
  std::vector<float> rows(400 * 4);
  for (float& x : rows) x = random.below(2) == 0 ? 0.0F : random.below(2) == 0 ? -0.0F : 1e-30F;
  expect_same_tree(rows, 4, "zeros of both signs");
}

TEST(CompactLinkage, FallsBackOnStoredDistancesAtAnyTime) {
  Noise random(19);
  std::vector<float> ties(500 * 3), copies = noisy_unit_rows(300, 48, 1, 100, 17);
  for (float& x : ties) x = static_cast<float>(random.below(5));
  copies.insert(copies.end(), copies.begin(), copies.end());
  for (const auto& [rows, dim, what] :
       {std::tuple{noisy_unit_rows(900, 48, 4, 0.5, 16), std::size_t{48}, "speakers"},
        std::tuple{noisy_unit_rows(900, 48, 1, 100, 17), std::size_t{48}, "no speakers"},
        std::tuple{copies, std::size_t{48}, "copies"}, std::tuple{ties, std::size_t{3}, "ties"},
        std::tuple{std::vector<float>(600 * 3, 0.5F), std::size_t{3}, "one vector"}}) {
    const std::vector<Merge> stored = centroid_linkage(rows, dim, nullptr);
    int given_up = 0;
    for (const double patience : {0.0, 1e-3, 0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 1e6}) {
      const LinkageOptions options = on_centroids_for(patience);
      const auto alone = compact_linkage(rows, dim, options, nullptr);
      given_up += alone ? 0 : 1;
      const std::vector<Merge> tree = centroid_linkage(rows, dim, nullptr, options);
      if (!alone)
        expect_same_merges(tree, stored,
                           what + std::string(", patience ") + std::to_string(patience));
      for (const int threads : {2, 3}) {
        base::TaskPool pool(threads);
        EXPECT_EQ(compact_linkage(rows, dim, options, &pool).has_value(), alone.has_value());
        expect_same_merges(centroid_linkage(rows, dim, &pool, options), tree, what);
      }
    }
    EXPECT_GE(given_up, 1) << what;
    EXPECT_LT(given_up, 9) << what;
  }
}

TEST(CompactLinkage, FallsBackWithoutSpeakersButNotWithThem) {
  const LinkageOptions options = on_centroids_for(3);
  EXPECT_FALSE(compact_linkage(noisy_unit_rows(1200, 128, 1, 100, 23), 128, options, nullptr));
  EXPECT_TRUE(compact_linkage(noisy_unit_rows(1200, 128, 60, 0.02, 23), 128, options, nullptr));
  LinkageOptions fewer = options;
  fewer.most_fallback_rows = 1199;
  EXPECT_TRUE(compact_linkage(noisy_unit_rows(1200, 128, 1, 100, 23), 128, fewer, nullptr));
}

TEST(CompactLinkage, EqualsStoredDistancesOnChainsAndInversions) {
  // A chain: every row is a little farther away than the one before, so one cluster eats the rest.
  std::vector<float> chain;
  double at = 0;
  for (int i = 0; i < 600; ++i) {
    chain.push_back(static_cast<float>(at));
    at += 1 + 0.003 * i;
  }
  expect_same_tree(chain, 1, "chain");
  std::vector<float> even(500);
  for (std::size_t i = 0; i < even.size(); ++i) even[i] = static_cast<float>(i);
  expect_same_tree(even, 1, "even chain");
  // Corners of simplices: all distances are equal, and every merge is an inversion.
  for (const std::size_t corners : {3, 8, 65}) {
    std::vector<float> simplex(corners * corners, 0.0F);
    for (std::size_t i = 0; i < corners; ++i) simplex[i * corners + i] = 1;
    expect_same_tree(simplex, corners, "simplex");
    Noise random(static_cast<unsigned>(corners));
    for (float& x : simplex) x += static_cast<float>(1e-3 * random.normal());
    expect_same_tree(simplex, corners, "shaken simplex");
  }
  // Rings of equal sides.
  std::vector<float> ring;
  for (int i = 0; i < 256; ++i) {
    ring.push_back(static_cast<float>(std::cos(i * 2 * 3.14159265358979 / 256)));
    ring.push_back(static_cast<float>(std::sin(i * 2 * 3.14159265358979 / 256)));
  }
  expect_same_tree(ring, 2, "ring");
}

TEST(CompactLinkage, TakesRowsOfAnyLength) {
  for (const double length : {1e-18, 1e-3, 1e4, 1e17}) {
    std::vector<float> rows = noisy_unit_rows(200, 16, 4, 0.4, 3);
    for (float& x : rows) x = static_cast<float>(x * length);
    expect_same_tree(rows, 16, "length " + std::to_string(length));
  }
}

TEST(CompactLinkage, SameTreeForAnyNumberOfThreads) {
  const std::vector<float> rows = noisy_unit_rows(3000, 64, 5, 0.6, 11);
  const LinkageOptions options = on_centroids();
  const std::vector<Merge> alone = centroid_linkage(rows, 64, nullptr, options);
  for (const int threads : {2, 5}) {
    base::TaskPool pool(threads);
    const std::vector<Merge> tree = centroid_linkage(rows, 64, &pool, options);
    ASSERT_EQ(tree.size(), alone.size());
    for (std::size_t k = 0; k < tree.size(); ++k) {
      ASSERT_EQ(tree[k].left, alone[k].left);
      ASSERT_EQ(tree[k].right, alone[k].right);
      ASSERT_EQ(tree[k].distance, alone[k].distance);
    }
  }
}

// Every distance of two nodes that stood side by side, against updates done one after the other.
TEST(ExactDistances, EqualRepeatedUpdates) {
  constexpr std::size_t kRows = 60, kDim = 12;
  const std::vector<float> rows = noisy_unit_rows(kRows, kDim, 3, 0.7, 21);
  const std::vector<Merge> tree = centroid_linkage(rows, kDim, nullptr);
  ExactDistances distances(rows, kDim);
  for (const Merge& merge : tree) distances.merge(merge.left, merge.right);
  // From the top: everything below is asked for at once.
  for (std::size_t k = tree.size(); k > 0; --k)
    EXPECT_EQ(distances.value(tree[k - 1].left, tree[k - 1].right), tree[k - 1].distance) << k;
}

// Pairs of more cells than one block takes, and chains that are deeper than any stack.
TEST(ExactDistances, EqualRepeatedUpdatesOfLargeNodes) {
  constexpr std::size_t kRows = 1600;
  const std::vector<float> rows = noisy_unit_rows(kRows, 8, 2, 0.3, 4);
  std::vector<float> chain;
  for (std::size_t i = 0; i < kRows; ++i) chain.push_back(static_cast<float>(i * i));
  for (const auto& [each, dim] :
       {std::pair{rows, std::size_t{8}}, std::pair{chain, std::size_t{1}}}) {
    const std::vector<Merge> tree = centroid_linkage(each, dim, nullptr);
    ExactDistances distances(each, dim);
    for (const Merge& merge : tree) distances.merge(merge.left, merge.right);
    for (std::size_t k = tree.size(); k > tree.size() - 20; --k)
      EXPECT_EQ(distances.value(tree[k - 1].left, tree[k - 1].right), tree[k - 1].distance) << k;
  }
}

// What a search relies on: codes, heads and tails never say that vectors are farther apart than
// they are.
TEST(Coder, KeepsItsErrors) {
  for (const std::size_t dim : {5, 130, 192, 256}) {
    const std::vector<float> rows = noisy_unit_rows(300, dim, 4, 0.4, 13);
    const Coder coder(rows, dim, 1.0001);
    EXPECT_EQ(coder.head_width() > 0, dim >= 128);
    const Codes codes = coder.encode_all(rows, nullptr);
    const auto distance = [](const std::int16_t* a, const std::int16_t* b, std::size_t width) {
      double square = 0;
      for (std::size_t i = 0; i < width; ++i) square += std::pow(double{a[i] * 1.0} - b[i], 2);
      return std::sqrt(square);
    };
    for (std::size_t i = 0; i < 300; ++i)
      for (std::size_t j = 0; j < i; ++j) {
        double square = 0;
        for (std::size_t d = 0; d < dim; ++d)
          square += std::pow(double{rows[i * dim + d]} - double{rows[j * dim + d]}, 2);
        const double truth = std::sqrt(square) * coder.scale();
        const double coded = distance(&codes.numbers[i * coder.width()],
                                      &codes.numbers[j * coder.width()], coder.width());
        ASSERT_NEAR(coded, truth, 2 * coder.error());
        if (coder.head_width() == 0) continue;
        const double head = distance(&codes.heads[i * coder.head_width()],
                                     &codes.heads[j * coder.head_width()], coder.head_width()) -
                            2 * coder.head_error();
        const double tail = std::max(0.0, std::abs(codes.tails[i] - codes.tails[j]) - 0.1);
        ASSERT_LE(std::hypot(std::max(0.0, head), tail), truth);
      }
  }
}

TEST(CompactLinkage, SettlesDistancesAtTheCut) {
  const std::vector<float> rows = noisy_unit_rows(400, 32, 5, 0.6, 31);
  const std::vector<Merge> stored = centroid_linkage(rows, 32, nullptr);
  for (std::size_t k = 0; k < stored.size(); k += 17) {
    const double cut = stored[k].distance;
    for (const double each : {std::nextafter(cut, 0.0), cut}) {
      const std::vector<Merge> compact = centroid_linkage(rows, 32, nullptr, on_centroids(each));
      EXPECT_EQ(flat_clusters(compact, each), flat_clusters(stored, each)) << k;
    }
  }
}

}  // namespace
}  // namespace diarist::cluster
