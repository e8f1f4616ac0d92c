// Editing a library.

#include <cmath>
#include <limits>

#include "voices_support.hpp"

namespace diarist::test {
namespace {

using Names = std::vector<std::string>;

Names names_of(const VoiceLibrary& library) {
  Names names;
  for (const Voice& voice : library.voices()) names.push_back(voice.name);
  return names;
}

TEST(VoiceLibrary, KeepsVoicesByNameAndSamplesInTheirOrder) {
  VoiceLibrary library;
  EXPECT_FALSE(library.model().has_value());
  library.add("Ben", model_of_dim(2), {{3, 4}, 5, "a"});
  library.add("Anna Schmidt", model_of_dim(2), {{0, -2}, 7.5, "b"});
  library.add("Ben", model_of_dim(2), {{1, 0}, 0, ""});
  EXPECT_EQ(names_of(library), (Names{"Anna Schmidt", "Ben"}));
  ASSERT_NE(library.find("Ben"), nullptr);
  const std::vector<VoiceSample>& samples = library.find("Ben")->samples;
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples[0].embedding, (std::vector<float>{0.6F, 0.8F}));
  EXPECT_EQ(samples[0].seconds, 5);
  EXPECT_EQ(samples[0].source, "a");
  EXPECT_EQ(samples[1].embedding, (std::vector<float>{1, 0}));
  EXPECT_EQ(library.find("ben"), nullptr);
  EXPECT_EQ(library.model()->dim, 2);
}

TEST(VoiceLibrary, RemovesVoicesAndSingleSamples) {
  VoiceLibrary library;
  library.add("A", model_of_dim(1), {{1}, 1, "first"});
  library.add("A", model_of_dim(1), {{1}, 2, "second"});
  library.add("B", model_of_dim(1), {{1}, 3, ""});
  EXPECT_EQ(error_of([&] { library.remove("A", 2); }).code(), ErrorCode::kInvalidArgument);
  library.remove("A", 0);
  EXPECT_EQ(library.find("A")->samples[0].source, "second");
  library.remove("A", 0);
  EXPECT_EQ(library.find("A"), nullptr);
  const Error error = error_of([&] { library.remove("A"); });
  EXPECT_STREQ(error.what(), "there is no voice 'A'; there are: B");
  library.remove("B");
  // Nothing is left that another network could not be compared with.
  library.add("C", model_of_dim(3, 'b'), {{1, 2, 3}, 1, ""});
  EXPECT_EQ(library.model()->dim, 3);
}

TEST(VoiceLibrary, RenamesButNeverOntoAnother) {
  VoiceLibrary library;
  library.add("A", model_of_dim(1), {{1}, 1, "a"});
  library.add("B", model_of_dim(1), {{1}, 2, "b"});
  EXPECT_EQ(error_of([&] { library.rename("A", "B"); }).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_of([&] { library.rename("X", "Y"); }).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(error_of([&] { library.rename("A", "SPEAKER_3"); }).code(),
            ErrorCode::kInvalidArgument);
  library.rename("A", "Z");
  library.rename("B", "B");
  EXPECT_EQ(names_of(library), (Names{"B", "Z"}));
  EXPECT_EQ(library.find("Z")->samples[0].source, "a");
}

TEST(VoiceLibrary, RefusesNamesThatNoOutputCouldCarry) {
  VoiceLibrary library;
  const Names bad = {
      "",         "a\nb",       "a\tb",      std::string("a\0b", 3), " a", "a ", "\x7F",
      "\xFF\xFE", "SPEAKER_00", "SPEAKER_7", std::string(257, 'x')};
  for (const std::string& name : bad) {
    const Error error = error_of([&] { library.add(name, model_of_dim(1), {{1}, 1, ""}); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument) << name;
    EXPECT_NE(std::string(error.what()).find("name"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(library.voices().empty());
  EXPECT_FALSE(library.model().has_value());
  for (const char* name :
       {"SPEAKER_", "SPEAKER_A", "speaker_00", "J\xC3\xBCrgen M\xC3\xBCller", "%"})
    library.add(name, model_of_dim(1), {{1}, 1, ""});
  EXPECT_EQ(library.voices().size(), 5U);
}

TEST(VoiceLibrary, RefusesVectorsThatAreNoVoice) {
  VoiceLibrary library;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinite = std::numeric_limits<float>::infinity();
  const std::vector<std::vector<float>> bad = {{},     {1},      {1, 2, 3},
                                               {0, 0}, {nan, 1}, {1, -infinite}};
  for (const std::vector<float>& vector : bad)
    EXPECT_EQ(error_of([&] {
                library.add("A", model_of_dim(2), {vector, 1, ""});
              }).code(),
              ErrorCode::kInvalidArgument);
  for (const double seconds :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_EQ(error_of([&] {
                library.add("A", model_of_dim(2), {{1, 2}, seconds, ""});
              }).code(),
              ErrorCode::kInvalidArgument);
  for (const VoiceModel& model :
       {VoiceModel{"", std::string(64, 'a'), 2}, VoiceModel{"campplus", "abc", 2},
        VoiceModel{"campplus", std::string(64, 'a'), 0}})
    EXPECT_EQ(error_of([&] {
                library.add("A", model, {{1, 2}, 1, ""});
              }).code(),
              ErrorCode::kInvalidArgument);
  EXPECT_TRUE(library.voices().empty());
  // The largest and the smallest numbers that are a voice.
  library.add("A", model_of_dim(2), {{std::numeric_limits<float>::max(), 0}, 1, ""});
  EXPECT_EQ(library.find("A")->samples[0].embedding, (std::vector<float>{1, 0}));
  library.add("B", model_of_dim(2), {{0, 1e-29F}, 1, ""});
  EXPECT_EQ(library.find("B")->samples[0].embedding, (std::vector<float>{0, 1}));
}

TEST(VoiceLibrary, RefusesVectorsOfAnotherNetworkAndSaysWhich) {
  VoiceLibrary library;
  library.add("A", model_of_dim(2), {{1, 2}, 1, ""});
  for (const VoiceModel& model :
       {model_of_dim(2, 'b'), VoiceModel{"wespeaker-resnet34", std::string(64, 'a'), 2}}) {
    const Error error = error_of([&] { library.add("A", model, {{1, 2}, 1, ""}); });
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find(model.network + " " + model.sha256.substr(0, 12)),
              std::string::npos)
        << error.what();
    const std::vector<float> vector = {1, 2};
    EXPECT_EQ(error_of([&] { library.match(vector, model); }).code(), ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(library.find("A")->samples.size(), 1U);
}

TEST(VoiceLibrary, AVoiceIsFullAtItsLimit) {
  VoiceLibrary library;
  for (std::size_t i = 0; i < VoiceLibrary::kMostSamples; ++i)
    library.add("A", model_of_dim(1), {{1}, 1, ""});
  EXPECT_EQ(error_of([&] {
              library.add("A", model_of_dim(1), {{1}, 1, ""});
            }).code(),
            ErrorCode::kInvalidArgument);
}

TEST(VoiceLibrary, EnrolsSpeakersOfAResult) {
  Diarization result = result_of({{3, 4}, {0, 0}, {}}, {12.5, 1, 2});
  VoiceLibrary library;
  library.add("Anna", result, "SPEAKER_00");
  EXPECT_EQ(library.model(), model_of_dim(2));
  const VoiceSample& sample = library.find("Anna")->samples[0];
  EXPECT_EQ(sample.embedding, (std::vector<float>{0.6F, 0.8F}));
  EXPECT_EQ(sample.seconds, 12.5);
  EXPECT_EQ(sample.source, "meeting SPEAKER_00");
  for (const char* speaker : {"SPEAKER_01", "SPEAKER_02", "SPEAKER_03", ""})
    EXPECT_EQ(error_of([&] { library.add("B", result, speaker); }).code(),
              ErrorCode::kInvalidArgument);
  result.settings.models.clear();  // as read from RTTM
  EXPECT_EQ(error_of([&] { library.add("B", result, "SPEAKER_00"); }).code(),
            ErrorCode::kInvalidArgument);
}

TEST(VoiceLibrary, NamesOfFilesBecomeReadable) {
  VoiceLibrary library;
  library.add("A", model_of_dim(1), {{1}, 1, "caf\xE9 \xC3\xA9"});
  EXPECT_EQ(library.find("A")->samples[0].source, "caf\xEF\xBF\xBD \xC3\xA9");
}

TEST(VoiceModel, OfAnEmbedderIsThatOfItsWeights) {
  EmbedderInfo info;
  info.network = "campplus";
  info.dim = 192;
  info.weights = "some.whl: pytorch_model.bin, sha256:" + std::string(64, 'c') + ", known hash";
  EXPECT_EQ(voice_model(info), (VoiceModel{"campplus", std::string(64, 'c'), 192}));
}

}  // namespace
}  // namespace diarist::test
