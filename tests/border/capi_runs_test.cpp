// Runs through the C interface: results by pointer, callbacks, stopping, threads.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "diarist/diarist.h"
#include "diarist/diarizer.hpp"
#include "diarist/embedder.hpp"
#include "diarist/formats.hpp"
#include "support/border.hpp"

namespace diarist::test {
namespace {

class CapiRuns : public ::testing::Test {
 protected:
  void SetUp() override {
    DIARIST_NEED(sample_wav());
    DIARIST_NEED(open_bundle());
    handles_before_ = diarist_open_handles();
    models_ = models_folder().string();
    file_ = sample_wav().string();
    ASSERT_EQ(diarist_options_init(&options_, sizeof options_), DIARIST_OK);
    options_.preset = "open-lite";
    options_.models = models_.c_str();
    options_.threads = 2;
    ASSERT_EQ(diarist_run_options_init(&run_, sizeof run_), DIARIST_OK);
    run_.from = 6;
    run_.to = 18;
    ASSERT_EQ(diarist_diarizer_create(&options_, &diarizer_), DIARIST_OK) << diarist_last_error();
  }
  void TearDown() override {
    EXPECT_EQ(diarist_diarizer_destroy(diarizer_), DIARIST_OK);
    EXPECT_EQ(diarist_open_handles(), handles_before_);
  }

  // RTTM of a run, or the name of its failure.
  std::string rttm(const diarist_run_options* run) const {
    diarist_result* result = nullptr;
    const diarist_status status = diarist_diarizer_run_file(diarizer_, file_.c_str(), run, &result);
    if (status != DIARIST_OK) {
      EXPECT_EQ(result, nullptr);
      return diarist_status_name(status);
    }
    return take_rttm(result);
  }

  static std::string take_rttm(diarist_result* result) {
    char* text = nullptr;
    size_t length = 0;
    EXPECT_EQ(diarist_result_to_text(result, "rttm", &text, &length), DIARIST_OK);
    EXPECT_EQ(std::strlen(text), length);
    const std::string copy(text, length);
    diarist_text_free(text);
    EXPECT_EQ(diarist_result_destroy(result), DIARIST_OK);
    return copy;
  }

  size_t handles_before_ = 0;
  std::string models_, file_;
  diarist_options options_ = {};
  diarist_run_options run_ = {};
  diarist_diarizer* diarizer_ = nullptr;
};

TEST_F(CapiRuns, ResultsAreThoseOfCpp) {
  const Diarizer diarizer(small_options());
  RunOptions wanted_options = short_run();
  wanted_options.keep_stages = true;
  const Diarization wanted = diarizer.run(sample_wav(), wanted_options);
  ASSERT_FALSE(wanted.turns.empty());

  run_.keep_stages = 1;
  diarist_result* result = nullptr;
  ASSERT_EQ(diarist_diarizer_run_file(diarizer_, file_.c_str(), &run_, &result), DIARIST_OK)
      << diarist_last_error();
  const diarist_turn* turns = nullptr;
  size_t count = 0;
  ASSERT_EQ(diarist_result_turns(result, &turns, &count), DIARIST_OK);
  ASSERT_EQ(count, wanted.turns.size());
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(turns[i].start, wanted.turns[i].start);
    EXPECT_EQ(turns[i].end, wanted.turns[i].end);
    EXPECT_EQ(turns[i].speaker, wanted.turns[i].speaker);
    EXPECT_EQ(turns[i].confidence, wanted.turns[i].confidence);
  }
  ASSERT_EQ(diarist_result_exclusive_turns(result, &turns, &count), DIARIST_OK);
  EXPECT_EQ(count, wanted.exclusive_turns.size());
  const diarist_speaker* speakers = nullptr;
  ASSERT_EQ(diarist_result_speakers(result, &speakers, &count), DIARIST_OK);
  ASSERT_EQ(count, wanted.speakers.size());
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(speakers[i].name, wanted.speakers[i].name);
    EXPECT_EQ(speakers[i].speech_seconds, wanted.speakers[i].speech_seconds);
    EXPECT_EQ(std::vector<float>(speakers[i].embedding,
                                 speakers[i].embedding + speakers[i].embedding_dim),
              wanted.speakers[i].embedding);
  }
  const char* const* warnings = nullptr;
  ASSERT_EQ(diarist_result_warnings(result, &warnings, &count), DIARIST_OK);
  EXPECT_EQ(count, wanted.warnings.size());
  const char* uri = nullptr;
  ASSERT_EQ(diarist_result_uri(result, &uri), DIARIST_OK);
  EXPECT_STREQ(uri, "sample");
  double duration = 0;
  ASSERT_EQ(diarist_result_duration(result, &duration), DIARIST_OK);
  EXPECT_EQ(duration, 18.0);

  diarist_stages stages;
  stages.struct_size = sizeof stages;
  ASSERT_EQ(diarist_result_stages(result, &stages), DIARIST_OK);
  ASSERT_EQ(stages.windows, static_cast<size_t>(wanted.stages->chunks));
  EXPECT_EQ(std::vector<uint8_t>(stages.activity, stages.activity + stages.windows * 589),
            wanted.stages->activity);
  EXPECT_EQ(std::memcmp(stages.embeddings, wanted.stages->embeddings.data(),
                        wanted.stages->embeddings.size() * sizeof(float)),
            0);
  EXPECT_EQ(stages.embedding_dim, 192U);
  EXPECT_EQ(std::vector<int32_t>(stages.hard_clusters, stages.hard_clusters + stages.windows * 3),
            wanted.stages->hard_clusters);
  EXPECT_EQ(std::vector<uint8_t>(stages.counts, stages.counts + stages.frames),
            wanted.stages->counts);

  // Texts by name, those of C++.
  for (const char* name : {"rttm", "csv", "srt", "textgrid"}) {
    char* text = nullptr;
    ASSERT_EQ(diarist_result_to_text(result, name, &text, nullptr), DIARIST_OK);
    EXPECT_EQ(text, to_text(wanted, format_of_name(name).value()));
    diarist_text_free(text);
  }
  char* text = nullptr;
  EXPECT_EQ(diarist_result_to_text(result, "xml", &text, nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_NE(std::string(diarist_last_error()).find("rttm, json"), std::string::npos);
  EXPECT_EQ(diarist_result_destroy(result), DIARIST_OK);
}

TEST_F(CapiRuns, StagesMustBeAskedFor) {
  diarist_result* result = nullptr;
  run_.to = 7;
  ASSERT_EQ(diarist_diarizer_run_file(diarizer_, file_.c_str(), &run_, &result), DIARIST_OK);
  diarist_stages stages;
  stages.struct_size = sizeof stages;
  EXPECT_EQ(diarist_result_stages(result, &stages), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(stages.activity, nullptr);
  EXPECT_NE(std::string(diarist_last_error()).find("keep_stages"), std::string::npos);
  EXPECT_EQ(diarist_result_destroy(result), DIARIST_OK);
}

TEST_F(CapiRuns, ShapingNamesAndJoins) {
  diarist_result* result = nullptr;
  ASSERT_EQ(diarist_diarizer_run_file(diarizer_, file_.c_str(), &run_, &result), DIARIST_OK);
  diarist_shaping shaping;
  ASSERT_EQ(diarist_shaping_init(&shaping, sizeof shaping), DIARIST_OK);
  const char* names[] = {"Anna"};
  shaping.names = names;
  shaping.name_count = 1;
  diarist_result* shaped = nullptr;
  ASSERT_EQ(diarist_result_shape(result, &shaping, &shaped), DIARIST_OK) << diarist_last_error();
  const diarist_speaker* speakers = nullptr;
  size_t count = 0;
  ASSERT_EQ(diarist_result_speakers(shaped, &speakers, &count), DIARIST_OK);
  EXPECT_STREQ(speakers[0].name, "Anna");
  names[0] = nullptr;
  diarist_result* none = nullptr;
  EXPECT_EQ(diarist_result_shape(result, &shaping, &none), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(diarist_result_destroy(shaped), DIARIST_OK);
  EXPECT_EQ(diarist_result_destroy(result), DIARIST_OK);
}

TEST_F(CapiRuns, SamplesAsFloatsInSixteenBitsAndPlanar) {
  const std::vector<int16_t> pcm = sample_pcm16(6, 18);
  const size_t frames = pcm.size();
  std::vector<float> floats(frames), planar(2 * frames);
  for (size_t i = 0; i < frames; ++i)
    floats[i] = planar[i] = planar[frames + i] = static_cast<float>(pcm[i]) / 32768.0F;

  diarist_audio audio;
  ASSERT_EQ(diarist_audio_init(&audio, sizeof audio), DIARIST_OK);
  audio.frames = frames;
  std::vector<std::string> texts;
  for (int layout = 0; layout < 3; ++layout) {
    audio.samples = layout == 0 ? floats.data() : layout == 2 ? planar.data() : nullptr;
    audio.pcm16 = layout == 1 ? pcm.data() : nullptr;
    audio.channels = layout == 2 ? 2 : 1;
    audio.planar = layout == 2 ? 1 : 0;
    diarist_result* result = nullptr;
    ASSERT_EQ(diarist_diarizer_run_audio(diarizer_, &audio, nullptr, &result), DIARIST_OK)
        << diarist_last_error();
    texts.push_back(take_rttm(result));
  }
  EXPECT_NE(texts[0], "");
  EXPECT_EQ(texts[1], texts[0]);
  EXPECT_EQ(texts[2], texts[0]);
}

TEST_F(CapiRuns, AudioThatCantBeIsRefused) {
  const float samples[8] = {};
  const int16_t pcm[8] = {};
  diarist_result* result = nullptr;
  const auto status_of = [&](auto change) {
    diarist_audio audio;
    EXPECT_EQ(diarist_audio_init(&audio, sizeof audio), DIARIST_OK);
    audio.samples = samples;
    audio.frames = 8;
    change(audio);
    return diarist_diarizer_run_audio(diarizer_, &audio, nullptr, &result);
  };
  EXPECT_EQ(status_of([](auto& audio) { audio.samples = nullptr; }), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&](auto& audio) { audio.pcm16 = pcm; }), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([](auto& audio) { audio.channels = 0; }), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([](auto& audio) { audio.channels = -1; }), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([](auto& audio) { audio.frames = ~size_t{0}; }), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([](auto& audio) { audio.sample_rate = 0; }), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([](auto& audio) { audio.struct_size = 3; }), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_diarizer_run_audio(diarizer_, nullptr, nullptr, &result),
            DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(result, nullptr);
  // None at all is silence.
  ASSERT_EQ(status_of([](auto& audio) {
              audio.samples = nullptr;
              audio.frames = 0;
            }),
            DIARIST_OK);
  EXPECT_EQ(take_rttm(result), "");
}

TEST_F(CapiRuns, RunOptionsThatCantBeAreRefused) {
  const auto refused = [&](auto change) {
    diarist_run_options run = run_;
    change(run);
    return rttm(&run) == "invalid_argument";
  };
  EXPECT_TRUE(refused([](auto& run) { run.step_seconds = 3; }));
  EXPECT_TRUE(refused([](auto& run) { run.num_speakers = -1; }));
  EXPECT_TRUE(refused([](auto& run) { run.min_speakers = 4, run.max_speakers = 2; }));
  EXPECT_TRUE(refused([](auto& run) { run.from = std::nan(""); }));
  EXPECT_TRUE(refused([](auto& run) { run.to = 3; }));
  EXPECT_TRUE(refused([](auto& run) { run.raw_format = "s16"; }));
  EXPECT_TRUE(refused([&](auto& run) { run.stop = reinterpret_cast<diarist_stop*>(diarizer_); }));
  EXPECT_TRUE(refused([](auto& run) { run.struct_size = 1; }));
  diarist_result* result = nullptr;
  EXPECT_EQ(diarist_diarizer_run_file(diarizer_, "/no/such/file.wav", &run_, &result),
            DIARIST_NOT_FOUND);
  EXPECT_EQ(diarist_diarizer_run_file(diarizer_, "/proc/self/status", &run_, &result),
            DIARIST_BAD_FILE);
  EXPECT_EQ(diarist_diarizer_run_file(diarizer_, nullptr, &run_, &result),
            DIARIST_INVALID_ARGUMENT);
}

struct Seen {
  int calls = 0;
  int stop_at = -1;
  const char* stop_stage = nullptr;
  std::string last_stage;
};

int watch(const diarist_progress* progress, void* user) {
  auto& seen = *static_cast<Seen*>(user);
  EXPECT_EQ(progress->struct_size, sizeof(diarist_progress));
  EXPECT_GE(progress->done_seconds, 0);
  seen.last_stage = progress->stage;
  const bool here = seen.stop_stage == nullptr || seen.last_stage == seen.stop_stage;
  return ++seen.calls >= seen.stop_at && seen.stop_at > 0 && here ? 1 : 0;
}

TEST_F(CapiRuns, ACallbackThatWantsToStopStops) {
  const std::string wanted = rttm(&run_);
  for (const char* stage : {"networks", "clustering"}) {
    Seen seen{.stop_at = 1, .stop_stage = stage};
    run_.progress = watch;
    run_.user = &seen;
    EXPECT_EQ(rttm(&run_), "cancelled");
    EXPECT_EQ(diarist_last_status(), DIARIST_CANCELLED);
    EXPECT_EQ(seen.last_stage, stage);
  }
  // The diarizer is as good as before.
  Seen seen;
  run_.user = &seen;
  EXPECT_EQ(rttm(&run_), wanted);
  EXPECT_GE(seen.calls, 2);
  EXPECT_EQ(seen.last_stage, "clustering");
}

TEST_F(CapiRuns, AStopHandleStopsRunsOfAnyThread) {
  diarist_stop* stop = nullptr;
  ASSERT_EQ(diarist_stop_create(&stop), DIARIST_OK);
  run_.stop = stop;
  const std::string wanted = rttm(&run_);
  EXPECT_NE(wanted, "cancelled");
  ASSERT_EQ(diarist_stop_request(stop), DIARIST_OK);
  EXPECT_EQ(rttm(&run_), "cancelled");
  float numbers[192];
  diarist_embedder_options options;
  ASSERT_EQ(diarist_embedder_options_init(&options, sizeof options), DIARIST_OK);
  options.preset = "open-lite";
  options.models = models_.c_str();
  options.threads = 1;
  diarist_embedder* embedder = nullptr;
  ASSERT_EQ(diarist_embedder_create(&options, &embedder), DIARIST_OK) << diarist_last_error();
  EXPECT_EQ(diarist_embedder_embed_file(embedder, file_.c_str(), nullptr, 0, numbers, 192, stop),
            DIARIST_CANCELLED);
  EXPECT_EQ(diarist_embedder_destroy(embedder), DIARIST_OK);
  ASSERT_EQ(diarist_stop_destroy(stop), DIARIST_OK);
  EXPECT_EQ(rttm(&run_), "invalid_argument");  // the handle is gone
  run_.stop = nullptr;
  EXPECT_EQ(rttm(&run_), wanted);
}

int throw_something(const diarist_progress*, void*) { throw std::runtime_error("a bug of mine"); }

TEST_F(CapiRuns, AnExceptionOfACallbackBecomesACode) {
  run_.progress = throw_something;
  EXPECT_EQ(rttm(&run_), "invalid_argument");
  EXPECT_NE(std::string(diarist_last_error()).find("a bug of mine"), std::string::npos);
  run_.progress = nullptr;
  EXPECT_NE(rttm(&run_), "");
}

void log_line(diarist_log_level level, const char* text, void* user) {
  if (level == DIARIST_LOG_WARNING) static_cast<std::vector<std::string>*>(user)->push_back(text);
}

TEST_F(CapiRuns, WarningsReachTheLog) {
  std::vector<std::string> lines;
  run_.log = log_line;
  run_.user = &lines;
  run_.from = 3600;
  run_.to = 3601;
  EXPECT_EQ(rttm(&run_), "");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("ends before 3600"), std::string::npos);
}

struct Outcomes {
  std::vector<std::string> texts;
  size_t most = 99;
};

int collect(size_t index, diarist_result* result, diarist_status status, const char* error,
            void* user) {
  auto& outcomes = *static_cast<Outcomes*>(user);
  EXPECT_EQ(index, outcomes.texts.size());
  char* text = nullptr;
  if (result != nullptr) {
    EXPECT_EQ(status, DIARIST_OK);
    EXPECT_STREQ(error, "");
    EXPECT_EQ(diarist_result_to_text(result, "rttm", &text, nullptr), DIARIST_OK);
    EXPECT_EQ(diarist_result_destroy(result), DIARIST_OK);
  }
  outcomes.texts.emplace_back(text != nullptr ? text : diarist_status_name(status));
  diarist_text_free(text);
  return outcomes.texts.size() >= outcomes.most ? 1 : 0;
}

TEST_F(CapiRuns, ManyFiles) {
  const std::string wanted = rttm(&run_);
  const char* paths[] = {file_.c_str(), "/no/such/file.wav", file_.c_str()};
  Outcomes outcomes;
  run_.user = &outcomes;
  ASSERT_EQ(diarist_diarizer_run_files(diarizer_, paths, 3, &run_, collect), DIARIST_OK)
      << diarist_last_error();
  EXPECT_EQ(outcomes.texts, (std::vector<std::string>{wanted, "not_found", wanted}));
  outcomes = {.texts = {}, .most = 1};
  ASSERT_EQ(diarist_diarizer_run_files(diarizer_, paths, 3, &run_, collect), DIARIST_OK);
  EXPECT_EQ(outcomes.texts.size(), 1U);
  EXPECT_EQ(diarist_diarizer_run_files(diarizer_, nullptr, 0, &run_, collect), DIARIST_OK);
  EXPECT_EQ(diarist_diarizer_run_files(diarizer_, nullptr, 1, &run_, collect),
            DIARIST_INVALID_ARGUMENT);
  paths[1] = nullptr;
  EXPECT_EQ(diarist_diarizer_run_files(diarizer_, paths, 3, &run_, collect),
            DIARIST_INVALID_ARGUMENT);
}

TEST_F(CapiRuns, ManyThreadsOnOneHandleThatIsDestroyedMeanwhile) {
  const std::string wanted = rttm(&run_);
  diarist_diarizer* shared = nullptr;
  ASSERT_EQ(diarist_diarizer_create(&options_, &shared), DIARIST_OK);
  std::atomic<int> running = 0;
  std::vector<std::string> texts(3);
  std::vector<std::jthread> threads;
  for (std::string& text : texts)
    threads.emplace_back([&] {
      diarist_run_options run = run_;
      run.user = &running;
      run.progress = [](const diarist_progress*, void* user) {
        ++*static_cast<std::atomic<int>*>(user);
        return 0;
      };
      diarist_result* result = nullptr;
      const diarist_status status = diarist_diarizer_run_file(shared, file_.c_str(), &run, &result);
      text = status == DIARIST_OK ? take_rttm(result) : diarist_status_name(status);
    });
  while (running < 3) std::this_thread::yield();  // all of them have it by now, or soon had
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(diarist_diarizer_destroy(shared), DIARIST_OK);
  threads.clear();
  // A thread that came too late had a typed error; those that ran have the whole result.
  for (const std::string& text : texts) EXPECT_TRUE(text == wanted || text == "invalid_argument");
  EXPECT_NE(std::count(texts.begin(), texts.end(), wanted), 0);
  diarist_result* result = nullptr;
  EXPECT_EQ(diarist_diarizer_run_file(shared, file_.c_str(), &run_, &result),
            DIARIST_INVALID_ARGUMENT);
}

TEST_F(CapiRuns, TwoDiarizersSideBySide) {
  const std::string wanted = rttm(&run_);
  diarist_diarizer* other = nullptr;
  options_.preset = "open";
  options_.threads = 1;
  ASSERT_EQ(diarist_diarizer_create(&options_, &other), DIARIST_OK) << diarist_last_error();
  const char* preset = nullptr;
  ASSERT_EQ(diarist_diarizer_preset(other, &preset), DIARIST_OK);
  EXPECT_STREQ(preset, "open");
  ASSERT_EQ(diarist_diarizer_preset(diarizer_, &preset), DIARIST_OK);
  EXPECT_STREQ(preset, "open-lite");
  diarist_result* result = nullptr;
  ASSERT_EQ(diarist_diarizer_run_file(other, file_.c_str(), &run_, &result), DIARIST_OK);
  EXPECT_EQ(diarist_diarizer_destroy(other), DIARIST_OK);
  EXPECT_EQ(rttm(&run_), wanted);
  EXPECT_NE(take_rttm(result), "");  // a result outlives its diarizer
}

TEST_F(CapiRuns, Embeddings) {
  diarist_embedder_options options;
  ASSERT_EQ(diarist_embedder_options_init(&options, sizeof options), DIARIST_OK);
  options.preset = "open";
  options.models = models_.c_str();
  diarist_embedder* embedder = nullptr;
  ASSERT_EQ(diarist_embedder_create(&options, &embedder), DIARIST_OK) << diarist_last_error();
  size_t dim = 0;
  ASSERT_EQ(diarist_embedder_dim(embedder, &dim), DIARIST_OK);
  ASSERT_EQ(dim, 192U);
  const diarist_span spans[] = {{6.5, 9.0}, {10.0, 13.0}};
  std::vector<float> rows(2 * dim, 7.0F);
  ASSERT_EQ(diarist_embedder_embed_file(embedder, file_.c_str(), spans, 2, rows.data(), rows.size(),
                                        nullptr),
            DIARIST_OK)
      << diarist_last_error();
  const TimeSpan same[] = {{6.5, 9.0}, {10.0, 13.0}};
  EXPECT_EQ(rows,
            Embedder({.preset = "open", .models = models_folder()}).embed(sample_wav(), same));
  // Room for another number of rows, and spans that can't be.
  const std::vector<float> before = rows;
  for (const size_t capacity : {size_t{0}, dim, 2 * dim - 1, 3 * dim})
    EXPECT_EQ(diarist_embedder_embed_file(embedder, file_.c_str(), spans, 2, rows.data(), capacity,
                                          nullptr),
              DIARIST_INVALID_ARGUMENT);
  EXPECT_NE(std::string(diarist_last_error()).find("2 rows of 192"), std::string::npos);
  const diarist_span wrong[] = {{3.0, 2.0}};
  EXPECT_EQ(
      diarist_embedder_embed_file(embedder, file_.c_str(), wrong, 1, rows.data(), dim, nullptr),
      DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(
      diarist_embedder_embed_file(embedder, file_.c_str(), nullptr, 1, rows.data(), dim, nullptr),
      DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(rows, before);
  EXPECT_EQ(diarist_embedder_destroy(embedder), DIARIST_OK);
}

}  // namespace
}  // namespace diarist::test
