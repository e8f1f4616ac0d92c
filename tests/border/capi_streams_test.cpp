// Streams through the C interface.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "diarist/diarist.h"
#include "diarist/diarizer.hpp"
#include "diarist/formats.hpp"
#include "support/border.hpp"

namespace diarist::test {
namespace {

std::string take_rttm(diarist_result* result) {
  char* text = nullptr;
  EXPECT_EQ(diarist_result_to_text(result, "rttm", &text, nullptr), DIARIST_OK);
  const std::string copy(text);
  diarist_text_free(text);
  EXPECT_EQ(diarist_result_destroy(result), DIARIST_OK);
  return copy;
}

class CapiStreams : public ::testing::Test {
 protected:
  void SetUp() override {
    DIARIST_NEED(sample_wav());
    DIARIST_NEED(open_bundle());
    handles_before_ = diarist_open_handles();
    const std::string models = models_folder().string();
    diarist_options options;
    ASSERT_EQ(diarist_options_init(&options, sizeof options), DIARIST_OK);
    options.preset = "open-lite";
    options.models = models.c_str();
    options.threads = 2;
    ASSERT_EQ(diarist_diarizer_create(&options, &diarizer_), DIARIST_OK) << diarist_last_error();
    ASSERT_EQ(diarist_run_options_init(&run_, sizeof run_), DIARIST_OK);
    ASSERT_EQ(diarist_audio_init(&audio_, sizeof audio_), DIARIST_OK);
    samples_ = sample_pcm16(6, 18);
    audio_.pcm16 = samples_.data();
    audio_.frames = samples_.size();
  }
  void TearDown() override {
    EXPECT_EQ(diarist_diarizer_destroy(diarizer_), DIARIST_OK);
    EXPECT_EQ(diarist_open_handles(), handles_before_);
  }
  std::string wanted() const {
    const Diarizer diarizer(small_options());
    return to_rttm(diarizer.run(AudioView{.samples = {}, .pcm16 = samples_}));
  }
  diarist_stream* stream(const diarist_run_options* run = nullptr) const {
    diarist_stream* made = nullptr;
    EXPECT_EQ(diarist_stream_create(diarizer_, 16000, 1, run, &made), DIARIST_OK)
        << diarist_last_error();
    return made;
  }

  size_t handles_before_ = 0;
  diarist_diarizer* diarizer_ = nullptr;
  diarist_run_options run_ = {};
  diarist_audio audio_ = {};
  std::vector<std::int16_t> samples_;
};

TEST_F(CapiStreams, GiveTheBytesOfCpp) {
  const std::string all = wanted();
  diarist_stream* const live = stream();
  diarist_audio piece = audio_;
  for (std::size_t at = 0; at < samples_.size(); at += 4800) {
    piece.pcm16 = samples_.data() + at;
    piece.frames = std::min<std::size_t>(4800, samples_.size() - at);
    ASSERT_EQ(diarist_stream_push(live, &piece), DIARIST_OK) << diarist_last_error();
  }
  diarist_result* result = nullptr;
  ASSERT_EQ(diarist_stream_snapshot(live, &result), DIARIST_OK) << diarist_last_error();
  EXPECT_EQ(take_rttm(result), all);
  double heard = 0, seen = 0;
  EXPECT_EQ(diarist_stream_progress(live, &heard, &seen), DIARIST_OK);
  EXPECT_EQ(heard, 12);
  EXPECT_LE(seen, 12);
  ASSERT_EQ(diarist_stream_finish(live, &result), DIARIST_OK) << diarist_last_error();
  EXPECT_EQ(take_rttm(result), all);
  EXPECT_EQ(diarist_stream_push(live, &audio_), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_stream_snapshot(live, &result), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_stream_finish(live, &result), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(result, nullptr);
  EXPECT_EQ(diarist_stream_destroy(live), DIARIST_OK);
  EXPECT_EQ(diarist_stream_destroy(live), DIARIST_INVALID_ARGUMENT);
}

TEST_F(CapiStreams, NonsenseIsRefused) {
  diarist_stream* made = nullptr;
  EXPECT_EQ(diarist_stream_create(diarizer_, 0, 1, nullptr, &made), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_stream_create(diarizer_, 16000, 0, nullptr, &made), DIARIST_INVALID_ARGUMENT);
  run_.split_channels = 1;
  EXPECT_EQ(diarist_stream_create(diarizer_, 16000, 2, &run_, &made), DIARIST_UNSUPPORTED);
  EXPECT_EQ(made, nullptr);
  diarist_stream* const live = stream();
  audio_.sample_rate = 8000;
  EXPECT_EQ(diarist_stream_push(live, &audio_), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_stream_push(live, nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_stream_snapshot(live, nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_stream_destroy(live), DIARIST_OK);
}

TEST_F(CapiStreams, OutlivesItsDiarizerAndCanBeStopped) {
  const std::string all = wanted();
  diarist_stop* stop = nullptr;
  ASSERT_EQ(diarist_stop_create(&stop), DIARIST_OK);
  run_.stop = stop;
  diarist_stream* const stopped = stream(&run_);
  diarist_stream* const live = stream();
  EXPECT_EQ(diarist_diarizer_destroy(diarizer_), DIARIST_OK);
  diarizer_ = nullptr;
  EXPECT_EQ(diarist_stream_push(stopped, &audio_), DIARIST_OK);
  EXPECT_EQ(diarist_stop_request(stop), DIARIST_OK);
  diarist_result* result = nullptr;
  EXPECT_EQ(diarist_stream_finish(stopped, &result), DIARIST_CANCELLED);
  EXPECT_EQ(diarist_stream_push(live, &audio_), DIARIST_OK);
  EXPECT_EQ(diarist_stream_finish(live, &result), DIARIST_OK) << diarist_last_error();
  EXPECT_EQ(take_rttm(result), all);
  EXPECT_EQ(diarist_stream_destroy(stopped), DIARIST_OK);
  EXPECT_EQ(diarist_stream_destroy(live), DIARIST_OK);
  EXPECT_EQ(diarist_stop_destroy(stop), DIARIST_OK);
}

}  // namespace
}  // namespace diarist::test
