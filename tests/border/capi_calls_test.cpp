// Calls from C that are wrong: null, handles that are none, handles of another kind, use after
// destroy. Needs no models.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>

#include "diarist/diarist.h"
#include "diarist/error.hpp"

namespace diarist::test {
namespace {

diarist_stop* new_stop() {
  diarist_stop* stop = nullptr;
  EXPECT_EQ(diarist_stop_create(&stop), DIARIST_OK);
  EXPECT_NE(stop, nullptr);
  return stop;
}

int ignore(size_t, diarist_result*, diarist_status, const char*, void*) { return 0; }

template <typename Handle>
Handle* cast(diarist_stop* stop) {
  return reinterpret_cast<Handle*>(stop);
}

// Every function that takes a handle, on one that is not right.
void expect_refused(diarist_diarizer* diarizer, diarist_result* result, diarist_embedder* embedder,
                    diarist_stream* stream, const char* why) {
  diarist_result* made = nullptr;
  const diarist_turn* turns = nullptr;
  const diarist_speaker* speakers = nullptr;
  const char* const* warnings = nullptr;
  const char* text = nullptr;
  char* written = nullptr;
  size_t count = 5;
  double seconds = 0;
  float numbers[192] = {};
  diarist_stages stages = {};
  stages.struct_size = sizeof stages;
  diarist_shaping shaping;
  ASSERT_EQ(diarist_shaping_init(&shaping, sizeof shaping), DIARIST_OK);
  diarist_audio audio;
  ASSERT_EQ(diarist_audio_init(&audio, sizeof audio), DIARIST_OK);
  const char* paths[] = {"a.wav"};

  const auto refused = [&](diarist_status status, const char* call) {
    EXPECT_EQ(status, DIARIST_INVALID_ARGUMENT) << call;
    EXPECT_NE(std::string(diarist_last_error()).find(why), std::string::npos)
        << call << ": " << diarist_last_error();
    EXPECT_EQ(diarist_last_status(), DIARIST_INVALID_ARGUMENT);
  };
  refused(diarist_diarizer_preset(diarizer, &text), "preset");
  refused(diarist_diarizer_run_file(diarizer, "a.wav", nullptr, &made), "run_file");
  refused(diarist_diarizer_run_audio(diarizer, &audio, nullptr, &made), "run_audio");
  refused(diarist_diarizer_run_files(diarizer, paths, 1, nullptr, ignore), "run_files");
  refused(diarist_result_turns(result, &turns, &count), "turns");
  EXPECT_EQ(count, 0U);
  refused(diarist_result_exclusive_turns(result, &turns, &count), "exclusive_turns");
  refused(diarist_result_speakers(result, &speakers, &count), "speakers");
  refused(diarist_result_warnings(result, &warnings, &count), "warnings");
  refused(diarist_result_uri(result, &text), "uri");
  refused(diarist_result_duration(result, &seconds), "duration");
  refused(diarist_result_stages(result, &stages), "stages");
  refused(diarist_result_to_text(result, "rttm", &written, &count), "to_text");
  refused(diarist_result_shape(result, &shaping, &made), "shape");
  refused(diarist_embedder_dim(embedder, &count), "dim");
  refused(diarist_embedder_embed_file(embedder, "a.wav", nullptr, 0, numbers, 192, nullptr),
          "embed_file");
  refused(diarist_embedder_embed_audio(embedder, &audio, nullptr, 0, numbers, 192, nullptr),
          "embed_audio");
  diarist_stream* live = nullptr;
  refused(diarist_stream_create(diarizer, 16000, 1, nullptr, &live), "stream_create");
  refused(diarist_stream_push(stream, &audio), "stream_push");
  refused(diarist_stream_snapshot(stream, &made), "stream_snapshot");
  refused(diarist_stream_finish(stream, &made), "stream_finish");
  double heard = 5;
  refused(diarist_stream_progress(stream, &heard, &seconds), "stream_progress");
  EXPECT_EQ(heard, 0);
  EXPECT_EQ(live, nullptr);
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(written, nullptr);
}

TEST(CapiCalls, NullIsRefusedEverywhere) {
  expect_refused(nullptr, nullptr, nullptr, nullptr, "is null");
  EXPECT_EQ(diarist_diarizer_create(nullptr, nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_embedder_create(nullptr, nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_stop_create(nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_stop_request(nullptr), DIARIST_INVALID_ARGUMENT);
  // What was never made may be destroyed.
  EXPECT_EQ(diarist_diarizer_destroy(nullptr), DIARIST_OK);
  EXPECT_EQ(diarist_result_destroy(nullptr), DIARIST_OK);
  EXPECT_EQ(diarist_embedder_destroy(nullptr), DIARIST_OK);
  EXPECT_EQ(diarist_stop_destroy(nullptr), DIARIST_OK);
  EXPECT_EQ(diarist_stream_destroy(nullptr), DIARIST_OK);
  diarist_text_free(nullptr);
}

TEST(CapiCalls, NullOutputsAreRefused) {
  EXPECT_EQ(diarist_result_turns(nullptr, nullptr, nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_result_exclusive_turns(nullptr, nullptr, nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_result_speakers(nullptr, nullptr, nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_result_warnings(nullptr, nullptr, nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_result_uri(nullptr, nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_result_duration(nullptr, nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_result_stages(nullptr, nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_result_to_text(nullptr, nullptr, nullptr, nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_result_shape(nullptr, nullptr, nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_diarizer_preset(nullptr, nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_diarizer_run_file(nullptr, nullptr, nullptr, nullptr),
            DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_diarizer_run_audio(nullptr, nullptr, nullptr, nullptr),
            DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_diarizer_run_files(nullptr, nullptr, 3, nullptr, nullptr),
            DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_stream_create(nullptr, 0, 0, nullptr, nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_stream_push(nullptr, nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_stream_snapshot(nullptr, nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_stream_finish(nullptr, nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_stream_progress(nullptr, nullptr, nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_embedder_dim(nullptr, nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_embedder_embed_file(nullptr, nullptr, nullptr, 0, nullptr, 0, nullptr),
            DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_embedder_embed_audio(nullptr, nullptr, nullptr, 0, nullptr, 0, nullptr),
            DIARIST_INVALID_ARGUMENT);
}

TEST(CapiCalls, AHandleOfAnotherKindIsRefused) {
  diarist_stop* const stop = new_stop();
  expect_refused(cast<diarist_diarizer>(stop), cast<diarist_result>(stop),
                 cast<diarist_embedder>(stop), cast<diarist_stream>(stop),
                 "a handle of another kind: a stop");
  EXPECT_EQ(diarist_result_destroy(cast<diarist_result>(stop)), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_stop_request(stop), DIARIST_OK);
  EXPECT_EQ(diarist_stop_destroy(stop), DIARIST_OK);
}

TEST(CapiCalls, UseAfterDestroyIsRefusedForEver) {
  diarist_stop* const stop = new_stop();
  ASSERT_EQ(diarist_stop_destroy(stop), DIARIST_OK);
  EXPECT_EQ(diarist_stop_destroy(stop), DIARIST_INVALID_ARGUMENT);
  EXPECT_NE(std::string(diarist_last_error()).find("was destroyed"), std::string::npos);
  // No later handle has its number.
  for (int i = 0; i < 1000; ++i) {
    diarist_stop* const other = new_stop();
    EXPECT_NE(other, stop);
    EXPECT_EQ(diarist_stop_request(stop), DIARIST_INVALID_ARGUMENT);
    ASSERT_EQ(diarist_stop_destroy(other), DIARIST_OK);
  }
  expect_refused(cast<diarist_diarizer>(stop), cast<diarist_result>(stop),
                 cast<diarist_embedder>(stop), cast<diarist_stream>(stop), "was destroyed");
}

TEST(CapiCalls, NumbersThatWereNeverHandlesAreRefused) {
  int local = 0;
  auto* const somewhere = reinterpret_cast<diarist_stop*>(&local);
  EXPECT_EQ(diarist_stop_request(somewhere), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_stop_destroy(somewhere), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_stop_request(reinterpret_cast<diarist_stop*>(~std::uintptr_t{0})),
            DIARIST_INVALID_ARGUMENT);
}

TEST(CapiCalls, OpenHandlesAreCounted) {
  const size_t before = diarist_open_handles();
  diarist_stop* const stop = new_stop();
  EXPECT_EQ(diarist_open_handles(), before + 1);
  ASSERT_EQ(diarist_stop_destroy(stop), DIARIST_OK);
  EXPECT_EQ(diarist_open_handles(), before);
}

TEST(CapiCalls, ErrorsBelongToTheirThread) {
  EXPECT_EQ(diarist_stop_request(nullptr), DIARIST_INVALID_ARGUMENT);
  const std::string mine = diarist_last_error();
  std::thread([] {
    EXPECT_EQ(diarist_last_status(), DIARIST_OK);
    EXPECT_STREQ(diarist_last_error(), "");
    diarist_diarizer* diarizer = nullptr;
    diarist_options options;
    diarist_options_init(&options, sizeof options);
    options.device = "abacus";
    EXPECT_NE(diarist_diarizer_create(&options, &diarizer), DIARIST_OK);
  }).join();
  EXPECT_EQ(mine, diarist_last_error());
  // What works does not wipe it out.
  diarist_stop* const stop = new_stop();
  EXPECT_EQ(mine, diarist_last_error());
  ASSERT_EQ(diarist_stop_destroy(stop), DIARIST_OK);
}

TEST(CapiCalls, CodesAreThoseOfCpp) {
  for (int code = 1; code <= DIARIST_INTERNAL; ++code)
    EXPECT_STREQ(diarist_status_name(static_cast<diarist_status>(code)),
                 error_code_name(static_cast<ErrorCode>(code)));
  EXPECT_EQ(DIARIST_INVALID_ARGUMENT, static_cast<int>(ErrorCode::kInvalidArgument));
  EXPECT_EQ(DIARIST_NOT_FOUND, static_cast<int>(ErrorCode::kNotFound));
  EXPECT_EQ(DIARIST_BAD_FILE, static_cast<int>(ErrorCode::kBadFile));
  EXPECT_EQ(DIARIST_BAD_MODEL, static_cast<int>(ErrorCode::kBadModel));
  EXPECT_EQ(DIARIST_UNSUPPORTED, static_cast<int>(ErrorCode::kUnsupported));
  EXPECT_EQ(DIARIST_OUT_OF_MEMORY, static_cast<int>(ErrorCode::kOutOfMemory));
  EXPECT_EQ(DIARIST_DEVICE_LOST, static_cast<int>(ErrorCode::kDeviceLost));
  EXPECT_EQ(DIARIST_CANCELLED, static_cast<int>(ErrorCode::kCancelled));
  EXPECT_EQ(DIARIST_INTERNAL, static_cast<int>(ErrorCode::kInternal));
  EXPECT_STREQ(diarist_status_name(DIARIST_OK), "ok");
}

TEST(CapiCalls, OptionsThatCantBeAreRefused) {
  diarist_options options;
  ASSERT_EQ(diarist_options_init(&options, sizeof options), DIARIST_OK);
  diarist_diarizer* diarizer = nullptr;
  options.precision = 77;
  EXPECT_EQ(diarist_diarizer_create(&options, &diarizer), DIARIST_INVALID_ARGUMENT);
  EXPECT_NE(std::string(diarist_last_error()).find("precision is 77"), std::string::npos);
  options.precision = DIARIST_PRECISION_DEFAULT;
  options.models = "/no/such/folder";
  options.preset = "open";
  EXPECT_EQ(diarist_diarizer_create(&options, &diarizer), DIARIST_BAD_MODEL)
      << diarist_last_error();
  EXPECT_EQ(diarizer, nullptr);
  diarist_embedder_options of_embedder;
  ASSERT_EQ(diarist_embedder_options_init(&of_embedder, sizeof of_embedder), DIARIST_OK);
  of_embedder.weights = "/no/such/file";
  diarist_embedder* embedder = nullptr;
  EXPECT_EQ(diarist_embedder_create(&of_embedder, &embedder), DIARIST_BAD_MODEL);
}

}  // namespace
}  // namespace diarist::test
