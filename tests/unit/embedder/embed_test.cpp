// Embedder::features and Embedder::embed: from samples to vectors.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "../base/expect_error.hpp"
#include "chunks.hpp"
#include "pipeline/speech_pieces.hpp"
#include "support/odd_audio.hpp"
#include "support/synthetic_embedder.hpp"

namespace diarist::test {
namespace {

double band_mean(const std::vector<float>& rows, std::size_t band, std::size_t count) {
  double sum = 0;
  for (std::size_t t = 0; t < count; ++t) sum += static_cast<double>(rows[t * 80 + band]);
  return sum / static_cast<double>(count);
}

std::vector<float> part(const std::vector<float>& samples, std::int64_t first, std::int64_t count) {
  return {samples.begin() + first, samples.begin() + first + count};
}

/// What embed() must give for one piece, put together from features() and forward().
std::vector<float> by_hand(const Embedder& embedder, const std::vector<float>& piece) {
  const std::vector<float> features = embedder.features({piece}, FeatureMean::kPiece);
  const std::int64_t rows = 1 + (static_cast<std::int64_t>(piece.size()) - 400) / 160;
  std::vector<float> masks(kMaskValues, 0.0F), out(kVectorValues);
  for (std::int64_t t = 0; t < rows; ++t) masks[static_cast<std::size_t>(t * 589 / 998)] = 1.0F;
  embedder.forward(features, masks, out);
  return {out.begin(), out.begin() + 256};
}

TEST(EmbedderFeatures, TheMeanIsRemovedOverTheChunkOrThePiece) {
  const Embedder embedder(synthetic_embedder());
  const std::vector<float> samples = test_signal(32000);
  const std::vector<float> chunk = embedder.features({samples});
  const std::vector<float> piece = embedder.features({samples}, FeatureMean::kPiece);
  ASSERT_EQ(chunk.size(), kFeatureValues);
  ASSERT_EQ(piece.size(), kFeatureValues);
  for (std::size_t b = 0; b < 80; ++b) {
    EXPECT_NEAR(band_mean(chunk, b, 998), 0, 1e-5);
    EXPECT_NEAR(band_mean(piece, b, 198), 0, 1e-5);
    // The last row is digital silence; both differ by the same constant everywhere.
    const double shift = static_cast<double>(chunk[b]) - static_cast<double>(piece[b]);
    EXPECT_NEAR(static_cast<double>(chunk[997 * 80 + b]) - static_cast<double>(piece[997 * 80 + b]),
                shift, 1e-5);
    EXPECT_LT(piece[997 * 80 + b], -1.0F);
    // Rows 198 and 199 still hear the end of the sound; behind them all is alike.
    for (std::size_t t = 200; t < 998; ++t) EXPECT_EQ(piece[t * 80 + b], piece[997 * 80 + b]);
  }
}

TEST(EmbedderFeatures, LengthsOutsideOfAChunkAreRefused) {
  const Embedder embedder(synthetic_embedder());
  const std::vector<float> samples(160001, 0.1F);
  expect_error(ErrorCode::kInvalidArgument, "0.025 s to 10 s",
               [&] { embedder.features({samples}); });
  expect_error(ErrorCode::kInvalidArgument, "give more",
               [&] { embedder.features({std::span(samples).first(399)}); });
  EXPECT_EQ(embedder.features({std::span(samples).first(160000)}).size(), kFeatureValues);
}

TEST(EmbedderEmbed, APieceStandsAtTheStartOfAChunkUnderItsOwnMask) {
  const Embedder embedder(synthetic_embedder());
  const std::vector<float> samples = test_signal(16000 * 14);
  const std::vector<TimeSpan> spans = {{3.0, 5.5}, {1.0, 1.25}, {2.0, 12.0}};
  const std::vector<float> got = embedder.embed(AudioView{samples}, spans);
  ASSERT_EQ(got.size(), spans.size() * 256);
  EXPECT_EQ(part(got, 0, 256), by_hand(embedder, part(samples, 48000, 40000)));
  EXPECT_EQ(part(got, 256, 256), by_hand(embedder, part(samples, 16000, 4000)));
  EXPECT_EQ(part(got, 512, 256), by_hand(embedder, part(samples, 32000, 160000)));
}

TEST(EmbedderEmbed, LongSpansAreAveragesWeightedByRows) {
  const Embedder embedder(synthetic_embedder());
  const std::vector<float> samples = test_signal(16000 * 10 + 327);  // pieces of 80163 and 80164
  const std::vector<float> got = embedder.embed(AudioView{samples});
  ASSERT_EQ(got.size(), 256U);
  const std::vector<float> first = by_hand(embedder, part(samples, 0, 80163));
  const std::vector<float> second = by_hand(embedder, part(samples, 80163, 80164));
  const double rows_first = 1 + (80163 - 400) / 160, rows_second = 1 + (80164 - 400) / 160;
  for (std::size_t i = 0; i < 256; ++i) {
    const double wanted = (rows_first * static_cast<double>(first[i]) +
                           rows_second * static_cast<double>(second[i])) /
                          (rows_first + rows_second);
    EXPECT_NEAR(static_cast<double>(got[i]), wanted, 1e-6 * (1 + std::abs(wanted)));
  }
}

TEST(EmbedderEmbed, ASpanDoesNotDependOnItsNeighbours) {
  for (const char* kind : {"wespeaker-resnet34", "campplus"}) {
    EmbedderOptions options = synthetic_embedder(kind);
    const std::vector<float> samples = test_signal(16000 * 6);
    const std::vector<TimeSpan> spans = {{0.5, 1.5}, {2.0, 5.0}, {0.5, 1.5}};
    options.batch = 2;
    const Embedder embedder(options);
    const std::vector<float> all = embedder.embed(AudioView{samples}, spans);
    const auto dim = static_cast<std::int64_t>(embedder.dim());
    EXPECT_EQ(part(all, 0, dim), part(all, 2 * dim, dim)) << kind;
    const std::vector<float> alone = embedder.embed(AudioView{samples}, {&spans[1], 1});
    EXPECT_EQ(alone, part(all, dim, dim)) << kind;
    // A piece of CAM++ sees nothing of the audio around it.
    if (dim == 192) {
      EXPECT_EQ(embedder.embed(AudioView{part(samples, 32000, 48000)}), alone);
    }
  }
}

TEST(EmbedderEmbed, WarningsProgressAndErrorsReachTheCaller) {
  const Embedder embedder(synthetic_embedder("campplus"));
  std::vector<float> samples = test_signal(32000);
  samples[100] = std::numeric_limits<float>::quiet_NaN();
  std::vector<std::string> warnings;
  double done = 0, total = 0;
  RunControl control;
  control.log = [&](LogLevel level, std::string_view text) {
    if (level == LogLevel::kWarning) warnings.emplace_back(text);
  };
  control.progress = [&](const Progress& progress) {
    done = progress.done_seconds;
    total = progress.total_seconds;
  };
  const std::vector<TimeSpan> spans = {{0.0, 1.0}, {1.0, 9.0}};
  const std::vector<float> got = embedder.embed(AudioView{samples}, spans, control);
  for (const float x : got) EXPECT_TRUE(std::isfinite(x));
  ASSERT_EQ(warnings.size(), 2U);
  EXPECT_NE(warnings[0].find("1 samples were NaN"), std::string::npos) << warnings[0];
  EXPECT_NE(warnings[1].find("span 2"), std::string::npos) << warnings[1];
  EXPECT_EQ(done, 2.0);
  EXPECT_EQ(total, 2.0);
  const std::vector<TimeSpan> brief = {{0.0, 0.2}};
  expect_error(ErrorCode::kInvalidArgument, "span 1",
               [&] { embedder.embed(AudioView{samples}, brief); });
  expect_error(ErrorCode::kNotFound, "nowhere.wav",
               [&] { embedder.embed(std::filesystem::path("nowhere.wav")); });
}

}  // namespace
}  // namespace diarist::test
