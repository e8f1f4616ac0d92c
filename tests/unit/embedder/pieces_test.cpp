// Cutting spans into pieces, and the rows and mask frames of a piece.

#include <gtest/gtest.h>

#include <limits>

#include "../base/expect_error.hpp"
#include "pipeline/speech_pieces.hpp"

namespace diarist::pipeline {
namespace {

using test::expect_error;

constexpr std::int64_t kMinute = 60 * 16000;

TEST(SpeechPieces, AtMostTenSecondsAndEqual) {
  const std::vector<TimeSpan> spans = {{1.0, 11.0}, {0.5, 25.5}, {3.0, 13.001}};
  const std::vector<Piece> pieces = cut_spans(spans, kMinute).pieces;
  ASSERT_EQ(pieces.size(), 6U);
  EXPECT_EQ(pieces[0].first, 16000);
  EXPECT_EQ(pieces[0].samples, 160000);
  std::int64_t next = 8000;
  for (std::size_t i = 1; i <= 3; ++i) {
    EXPECT_EQ(pieces[i].span, 1U);
    EXPECT_EQ(pieces[i].first, next);
    EXPECT_NEAR(static_cast<double>(pieces[i].samples), 400000 / 3.0, 1);
    next += pieces[i].samples;
  }
  EXPECT_EQ(next, 8000 + 400000);
  EXPECT_EQ(pieces[4].samples + pieces[5].samples, 160016);
  EXPECT_EQ(pieces[5].span, 2U);
}

TEST(SpeechPieces, WithoutSpansTheWholeRecording) {
  const std::vector<Piece> pieces = cut_spans({}, kMinute).pieces;
  ASSERT_EQ(pieces.size(), 6U);
  EXPECT_EQ(pieces[5].first + pieces[5].samples, kMinute);
  EXPECT_EQ(cut_spans({}, 4000).pieces.size(), 1U);
}

TEST(SpeechPieces, AQuarterOfASecondIsTheLeast) {
  const std::vector<TimeSpan> enough = {{1.0, 1.25}};
  EXPECT_EQ(cut_spans(enough, kMinute).pieces.at(0).samples, 4000);
  const std::vector<TimeSpan> spans = {{1.0, 2.0}, {1.0, 1.249}};
  for (const char* part : {"span 2 (1.000 s to 1.249 s)", "0.249 s", "0.25 s", "join it"})
    expect_error(ErrorCode::kInvalidArgument, part, [&] { cut_spans(spans, kMinute); });
  expect_error(ErrorCode::kInvalidArgument, "the recording: 0.250 s", [] { cut_spans({}, 3999); });
  expect_error(ErrorCode::kInvalidArgument, "the recording: 0.000 s", [] { cut_spans({}, 0); });
}

TEST(SpeechPieces, EndsBehindTheRecordingAreCutAndReported) {
  const std::vector<TimeSpan> spans = {{58.0, 60.004}, {58.0, 61.0}};
  const CutSpans cut = cut_spans(spans, kMinute);
  EXPECT_EQ(cut.pieces.at(0).samples, 32000);
  EXPECT_EQ(cut.pieces.at(1).samples, 32000);
  ASSERT_EQ(cut.warnings.size(), 1U);
  EXPECT_NE(cut.warnings[0].find("span 2"), std::string::npos) << cut.warnings[0];
  const std::vector<TimeSpan> rest = {{59.9, 61.0}};
  expect_error(ErrorCode::kInvalidArgument, "0.100 s", [&] { cut_spans(rest, kMinute); });
}

TEST(SpeechPieces, ImpossibleTimesAreRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const TimeSpan& span : {TimeSpan{2, 1}, TimeSpan{1, 1}, TimeSpan{-1, 1}, TimeSpan{nan, 1},
                               TimeSpan{0, nan}, TimeSpan{0, infinity}})
    expect_error(ErrorCode::kInvalidArgument, "0 <= start < end", [&] {
      cut_spans({&span, 1}, kMinute);
    });
  const TimeSpan late{60.0, 61.0};
  expect_error(ErrorCode::kInvalidArgument, "begins after the end", [&] {
    cut_spans({&late, 1}, kMinute);
  });
}

TEST(SpeechPieces, RowsAndMaskFrames) {
  EXPECT_EQ(whole_rows(160000), 998);
  EXPECT_EQ(whole_rows(400), 1);
  EXPECT_EQ(whole_rows(399), 0);
  EXPECT_EQ(whole_rows(56000), 348);  // campplus.md (c): 3.5 s
  EXPECT_EQ(mask_frames(998), 589);
  EXPECT_EQ(mask_frames(0), 0);
  for (std::int64_t rows = 1; rows <= 998; ++rows)
    EXPECT_EQ(mask_frames(rows), (rows - 1) * 589 / 998 + 1);
}

TEST(SpeechPieces, TheMeanIsThatOfTheFirstRows) {
  std::vector<float> rows(3 * 80);
  for (std::size_t b = 0; b < 80; ++b) {
    rows[b] = static_cast<float>(b);
    rows[80 + b] = static_cast<float>(b) + 2;
    rows[160 + b] = -16;
  }
  remove_mean(rows, 2);
  for (std::size_t b = 0; b < 80; ++b) {
    EXPECT_EQ(rows[b], -1.0F);
    EXPECT_EQ(rows[80 + b], 1.0F);
    EXPECT_EQ(rows[160 + b], -17.0F - static_cast<float>(b));
  }
}

}  // namespace
}  // namespace diarist::pipeline
