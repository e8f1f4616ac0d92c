// Segmenter gives what Diarizer's first stage gives, in every layout of samples.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "diarist/diarizer.hpp"
#include "diarist/segmenter.hpp"
#include "support/border.hpp"

namespace diarist::test {
namespace {

SegmenterOptions segmenter_options() {
  return {.preset = "open-lite", .models = models_folder(), .threads = 2};
}

TEST(SegmenterRun, IsTheFirstStageOfADiarizer) {
  DIARIST_NEED(sample_wav());
  DIARIST_NEED(open_bundle());
  const Segmenter segmenter(segmenter_options());
  const Diarizer diarizer(small_options());
  for (const int step : {1, 2, 5}) {
    RunOptions options = short_run();
    options.keep_stages = true;
    options.step_seconds = step;
    const Diarization wanted = diarizer.run(sample_wav(), options);
    const Segmentation got =
        segmenter.run(sample_wav(), {.step_seconds = step, .audio = options.audio});
    EXPECT_EQ(got.windows, wanted.stages->chunks);
    EXPECT_EQ(got.activity, wanted.stages->activity);
    EXPECT_EQ(got.step_seconds, step);
    EXPECT_EQ(got.duration, 12.0);
    bool speech = false;
    for (int frame = 0; frame < Segmentation::kFrames; ++frame)
      speech = speech || got.speaks(0, frame, 0) || got.speaks(0, frame, 1);
    EXPECT_TRUE(speech);
    EXPECT_DOUBLE_EQ(got.time_of(2, 0) - got.time_of(0, 0), 2.0 * step);
  }
}

TEST(SegmenterRun, LayoutsOfSamplesGiveTheSame) {
  DIARIST_NEED(sample_wav());
  DIARIST_NEED(open_bundle());
  const std::vector<std::int16_t> pcm = sample_pcm16(0, 11);
  const std::size_t frames = pcm.size();
  std::vector<std::int16_t> planar_pcm, stereo_pcm;
  std::vector<float> floats(frames), planar;
  for (std::size_t i = 0; i < frames; ++i) floats[i] = static_cast<float>(pcm[i]) / 32768.0F;
  for (int side = 0; side < 2; ++side) {
    planar_pcm.insert(planar_pcm.end(), pcm.begin(), pcm.end());
    planar.insert(planar.end(), floats.begin(), floats.end());
  }
  for (const std::int16_t sample : pcm) stereo_pcm.insert(stereo_pcm.end(), 2, sample);

  const Segmenter segmenter(segmenter_options());
  const Segmentation wanted = segmenter.run(AudioView{.samples = floats});
  EXPECT_EQ(wanted.windows, 2);
  const AudioView same[] = {
      {.samples = {}, .pcm16 = pcm},
      {.samples = {}, .channels = 2, .pcm16 = stereo_pcm},
      {.samples = planar, .channels = 2, .planar = true},
      {.samples = {}, .channels = 2, .pcm16 = planar_pcm, .planar = true},
  };
  for (const AudioView& view : same) EXPECT_EQ(segmenter.run(view).activity, wanted.activity);
}

TEST(SegmenterRun, RefusesWhatCantBe) {
  DIARIST_NEED(sample_wav());
  DIARIST_NEED(open_bundle());
  const Segmenter segmenter(segmenter_options());
  const auto refused = [&](const SegmentOptions& options) {
    return code_of([&] { (void)segmenter.run(sample_wav(), options); });
  };
  EXPECT_EQ(refused({.step_seconds = 4}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refused({.audio = {.split_channels = true}}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of([&] { (void)segmenter.run("/no/such/file"); }), ErrorCode::kNotFound);
  EXPECT_EQ(code_of([] { (void)Segmenter({.preset = "nonsense"}); }), ErrorCode::kInvalidArgument);
  SegmenterOptions two = segmenter_options();
  two.device = "cuda:0,1";
  EXPECT_EQ(code_of([&] { (void)Segmenter(two); }), ErrorCode::kInvalidArgument);
  const float sample = 0;
  const std::int16_t pcm = 0;
  EXPECT_EQ(code_of([&] {
              (void)segmenter.run(AudioView{.samples = {&sample, 1}, .pcm16 = {&pcm, 1}});
            }),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(segmenter.run(AudioView{}).windows, 0);
}

}  // namespace
}  // namespace diarist::test
