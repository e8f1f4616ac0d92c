// Enrolled voices from C: what is refused, and one library through all functions.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "diarist/diarist.h"
#include "diarist/voices.hpp"
#include "support/border.hpp"

namespace diarist::test {
namespace {

// Destroys what a test made.
struct Kept {
  ~Kept() {
    diarist_result_destroy(result);
    diarist_result_destroy(named);
    diarist_diarizer_destroy(diarizer);
    diarist_embedder_destroy(embedder);
    diarist_voices_destroy(voices);
    diarist_voices_destroy(loaded);
  }
  diarist_diarizer* diarizer = nullptr;
  diarist_result* result = nullptr;
  diarist_result* named = nullptr;
  diarist_embedder* embedder = nullptr;
  diarist_voices* voices = nullptr;
  diarist_voices* loaded = nullptr;
};

TEST(CapiVoices, WrongHandlesAndNullAreRefused) {
  diarist_stop* stop = nullptr;
  ASSERT_EQ(diarist_stop_create(&stop), DIARIST_OK);
  for (diarist_voices* wrong :
       {static_cast<diarist_voices*>(nullptr), reinterpret_cast<diarist_voices*>(stop)}) {
    const diarist_voice* list = nullptr;
    size_t count = 5;
    const float numbers[3] = {1, 2, 3};
    diarist_result* named = nullptr;
    EXPECT_EQ(diarist_voices_save(wrong, "x"), DIARIST_INVALID_ARGUMENT);
    EXPECT_EQ(diarist_voices_add_speaker(wrong, "A", nullptr, 0), DIARIST_INVALID_ARGUMENT);
    EXPECT_EQ(diarist_voices_add_embedding(wrong, "A", nullptr, numbers, 3, 1),
              DIARIST_INVALID_ARGUMENT);
    EXPECT_EQ(diarist_voices_remove(wrong, "A"), DIARIST_INVALID_ARGUMENT);
    EXPECT_EQ(diarist_voices_rename(wrong, "A", "B"), DIARIST_INVALID_ARGUMENT);
    EXPECT_EQ(diarist_voices_list(wrong, &list, &count), DIARIST_INVALID_ARGUMENT);
    EXPECT_EQ(count, 0U);
    EXPECT_EQ(diarist_result_name_speakers(nullptr, wrong, nullptr, &named),
              DIARIST_INVALID_ARGUMENT);
    EXPECT_EQ(named, nullptr);
  }
  EXPECT_EQ(diarist_voices_create(nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_voices_load(nullptr, nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_voices_destroy(nullptr), DIARIST_OK);
  EXPECT_EQ(diarist_voices_destroy(reinterpret_cast<diarist_voices*>(stop)),
            DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_result_voices(nullptr, nullptr, nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_result_name_speakers(nullptr, nullptr, nullptr, nullptr),
            DIARIST_INVALID_ARGUMENT);

  diarist_voices* voices = nullptr;
  EXPECT_EQ(diarist_voices_load(nullptr, &voices), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_voices_load("/nowhere.voices", &voices), DIARIST_NOT_FOUND);
  EXPECT_EQ(voices, nullptr);
  ASSERT_EQ(diarist_voices_create(&voices), DIARIST_OK);
  EXPECT_EQ(diarist_voices_save(voices, nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_voices_remove(voices, nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_voices_remove(voices, "A"), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_voices_rename(voices, "A", nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_voices_list(voices, nullptr, nullptr), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_voices_destroy(voices), DIARIST_OK);
  EXPECT_EQ(diarist_voices_remove(voices, "A"), DIARIST_INVALID_ARGUMENT);
  EXPECT_NE(std::string(diarist_last_error()).find("was destroyed"), std::string::npos);
  EXPECT_EQ(diarist_stop_destroy(stop), DIARIST_OK);
}

TEST(CapiVoices, OptionsAreThoseOfCpp) {
  diarist_voice_options options;
  ASSERT_EQ(diarist_voice_options_init(&options, sizeof options), DIARIST_OK);
  const VoiceOptions defaults;
  EXPECT_LT(options.threshold, -1);
  EXPECT_EQ(options.margin, defaults.margin);
  EXPECT_EQ(options.min_seconds, defaults.min_seconds);
  EXPECT_EQ(DIARIST_VOICE_NO_VECTOR, static_cast<int>(VoiceDecision::kNoVector));
  EXPECT_EQ(DIARIST_VOICE_TAKEN, static_cast<int>(VoiceDecision::kTaken));
}

class CapiVoicesRun : public testing::Test {
 protected:
  void SetUp() override {
    DIARIST_NEED(open_bundle());
    DIARIST_NEED(sample_wav());
    diarist_options options;
    ASSERT_EQ(diarist_options_init(&options, sizeof options), DIARIST_OK);
    const std::string models = models_folder().string();
    options.preset = "open-lite";
    options.models = models.c_str();
    ASSERT_EQ(diarist_diarizer_create(&options, &made_.diarizer), DIARIST_OK)
        << diarist_last_error();
    diarist_run_options run;
    ASSERT_EQ(diarist_run_options_init(&run, sizeof run), DIARIST_OK);
    run.from = 6;
    run.to = 18;
    ASSERT_EQ(diarist_diarizer_run_file(made_.diarizer, sample_wav().c_str(), &run, &made_.result),
              DIARIST_OK);
    ASSERT_EQ(diarist_voices_create(&made_.voices), DIARIST_OK);
  }

  std::vector<std::string> names() const {
    const diarist_voice* list = nullptr;
    size_t count = 0;
    EXPECT_EQ(diarist_voices_list(made_.voices, &list, &count), DIARIST_OK);
    std::vector<std::string> found;
    for (size_t i = 0; i < count; ++i) found.emplace_back(list[i].name);
    return found;
  }

  TempFolder folder_;
  Kept made_;
};

TEST_F(CapiVoicesRun, EnrolSaveLoadName) {
  using Names = std::vector<std::string>;
  ASSERT_EQ(diarist_voices_add_speaker(made_.voices, "Anna", made_.result, 1), DIARIST_OK)
      << diarist_last_error();
  EXPECT_EQ(diarist_voices_add_speaker(made_.voices, "Ben", made_.result, 99),
            DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(diarist_voices_add_speaker(made_.voices, "two\nlines", made_.result, 0),
            DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(names(), Names{"Anna"});
  ASSERT_EQ(diarist_voices_rename(made_.voices, "Anna", "Berta"), DIARIST_OK);
  EXPECT_EQ(names(), Names{"Berta"});
  const std::string file = (folder_.path() / "team.voices").string();
  ASSERT_EQ(diarist_voices_save(made_.voices, file.c_str()), DIARIST_OK);
  ASSERT_EQ(diarist_voices_load(file.c_str(), &made_.loaded), DIARIST_OK);

  ASSERT_EQ(diarist_result_name_speakers(made_.result, made_.loaded, nullptr, &made_.named),
            DIARIST_OK)
      << diarist_last_error();
  const diarist_speaker* speakers = nullptr;
  size_t count = 0;
  ASSERT_EQ(diarist_result_speakers(made_.named, &speakers, &count), DIARIST_OK);
  ASSERT_EQ(count, 2U);
  EXPECT_STREQ(speakers[0].name, "SPEAKER_00");
  EXPECT_STREQ(speakers[1].name, "Berta");
  const diarist_speaker_voice* found = nullptr;
  ASSERT_EQ(diarist_result_voices(made_.named, &found, &count), DIARIST_OK);
  ASSERT_EQ(count, 2U);
  EXPECT_EQ(found[1].decision, DIARIST_VOICE_NAMED);
  EXPECT_STREQ(found[1].speaker, "SPEAKER_01");
  EXPECT_STREQ(found[1].best, "Berta");
  EXPECT_NEAR(found[1].score, 1, 1e-6);
  EXPECT_EQ(found[1].next, nullptr);
  EXPECT_EQ(found[0].decision, DIARIST_VOICE_LOW_SCORE);
  ASSERT_EQ(diarist_result_voices(made_.result, &found, &count), DIARIST_OK);
  EXPECT_EQ(count, 0U);

  diarist_voice_options options;
  ASSERT_EQ(diarist_voice_options_init(&options, sizeof options), DIARIST_OK);
  diarist_result* refused = nullptr;
  for (const double threshold : {1.5, std::numeric_limits<double>::quiet_NaN()}) {
    options.threshold = threshold;
    EXPECT_EQ(diarist_result_name_speakers(made_.result, made_.loaded, &options, &refused),
              DIARIST_INVALID_ARGUMENT);
    EXPECT_EQ(refused, nullptr);
  }
  ASSERT_EQ(diarist_voices_remove(made_.loaded, "Berta"), DIARIST_OK);
  EXPECT_EQ(names(), Names{"Berta"});  // libraries are apart
}

TEST_F(CapiVoicesRun, VectorsOfAnEmbedder) {
  diarist_embedder_options options;
  ASSERT_EQ(diarist_embedder_options_init(&options, sizeof options), DIARIST_OK);
  const std::string models = models_folder().string();
  options.preset = "open";
  options.models = models.c_str();
  ASSERT_EQ(diarist_embedder_create(&options, &made_.embedder), DIARIST_OK);
  std::vector<float> vector(192);
  const diarist_span span = {7, 9};
  ASSERT_EQ(diarist_embedder_embed_file(made_.embedder, sample_wav().c_str(), &span, 1,
                                        vector.data(), vector.size(), nullptr),
            DIARIST_OK);
  const auto add = [&](const char* name, const float* numbers, size_t dim, double seconds) {
    return diarist_voices_add_embedding(made_.voices, name, made_.embedder, numbers, dim, seconds);
  };
  EXPECT_EQ(add("Anna", vector.data(), vector.size(), 2), DIARIST_OK);
  EXPECT_EQ(add("Anna", vector.data(), 191, 2), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(add("Anna", nullptr, 192, 2), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(add(nullptr, vector.data(), vector.size(), 2), DIARIST_INVALID_ARGUMENT);
  EXPECT_EQ(add("Anna", vector.data(), vector.size(), -2), DIARIST_INVALID_ARGUMENT);
  vector[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(add("Anna", vector.data(), vector.size(), 2), DIARIST_INVALID_ARGUMENT);
  vector.assign(192, 0.0F);
  EXPECT_EQ(add("Anna", vector.data(), vector.size(), 2), DIARIST_INVALID_ARGUMENT);
  const diarist_voice* list = nullptr;
  size_t count = 0;
  ASSERT_EQ(diarist_voices_list(made_.voices, &list, &count), DIARIST_OK);
  ASSERT_EQ(count, 1U);
  EXPECT_EQ(list[0].sample_count, 1U);
  EXPECT_EQ(list[0].seconds, 2);
}

TEST_F(CapiVoicesRun, ThreadsShareALibrary) {
  ASSERT_EQ(diarist_voices_add_speaker(made_.voices, "Anna", made_.result, 1), DIARIST_OK);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::string name = "voice " + std::to_string(t);
      for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(diarist_voices_add_speaker(made_.voices, name.c_str(), made_.result, 0),
                  DIARIST_OK);
        diarist_result* named = nullptr;
        EXPECT_EQ(diarist_result_name_speakers(made_.result, made_.voices, nullptr, &named),
                  DIARIST_OK);
        EXPECT_EQ(diarist_result_destroy(named), DIARIST_OK);
        EXPECT_EQ(diarist_voices_remove(made_.voices, name.c_str()), DIARIST_OK);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(names(), std::vector<std::string>{"Anna"});
}

}  // namespace
}  // namespace diarist::test
