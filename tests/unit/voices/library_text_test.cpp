// The file of a library.

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "support/support.hpp"
#include "voices_support.hpp"

namespace diarist::test {
namespace {

std::string with(std::string text, const std::string& old, const std::string& replacement) {
  const std::size_t place = text.find(old);
  EXPECT_NE(place, std::string::npos) << old;
  return text.replace(place, old.size(), replacement);
}

VoiceLibrary small_library() {
  VoiceLibrary library;
  library.add("Anna \"A\" \\ <b>", model_of_dim(2), {{3, -4}, 12.25, "meeting\n1"});
  library.add("Ben", model_of_dim(2), {{1, 0}, 0, ""});
  return library;
}

TEST(VoiceLibraryText, ReadsLikeThis) {
  EXPECT_EQ(small_library().to_text(), R"({
"format": "diarist.voices",
"version": 1,
"model": {"network": "campplus", "sha256": ")" +
                                           std::string(64, 'a') + R"(", "dim": 2},
"voices": [
  {"name": "Anna \"A\" \\ <b>", "samples": [
    {"seconds": 12.25, "source": "meeting\n1", "embedding": [0.600000024,-0.800000012]}
  ]},
  {"name": "Ben", "samples": [
    {"seconds": 0, "source": "", "embedding": [1,0]}
  ]}
]
}
)");
}

TEST(VoiceLibraryText, WithoutVoicesIsAFileToo) {
  const std::string text = VoiceLibrary().to_text();
  EXPECT_EQ(text, "{\n\"format\": \"diarist.voices\",\n\"version\": 1,\n\"voices\": []\n}\n");
  EXPECT_FALSE(VoiceLibrary::parse(text, "x").model().has_value());
}

TEST(VoiceLibraryText, VectorsComeBackBitByBit) {
  std::mt19937 random(3);
  constexpr int kDim = 512;
  VoiceLibrary library;
  for (int i = 0; i < 20; ++i) {
    std::vector<float> vector(kDim);
    for (float& value : vector) {
      // Any sign, any digits, exponents of a wide range.
      const std::uint32_t bits = (static_cast<std::uint32_t>(random()) & 0x807FFFFFU) |
                                 ((60U + static_cast<std::uint32_t>(random()) % 67U) << 23U);
      std::memcpy(&value, &bits, sizeof value);
    }
    vector[0] = -0.0F;
    library.add("v" + std::to_string(i), model_of_dim(kDim), {vector, 0.1 * i, "s"});
  }
  const std::string text = library.to_text();
  const VoiceLibrary back = VoiceLibrary::parse(text, "x");
  EXPECT_EQ(back.to_text(), text);
  ASSERT_EQ(back.voices().size(), library.voices().size());
  for (std::size_t i = 0; i < back.voices().size(); ++i) {
    const VoiceSample& before = library.voices()[i].samples[0];
    const VoiceSample& after = back.voices()[i].samples[0];
    ASSERT_EQ(after.embedding.size(), before.embedding.size());
    EXPECT_EQ(std::memcmp(after.embedding.data(), before.embedding.data(),
                          before.embedding.size() * sizeof(float)),
              0);
    EXPECT_EQ(after.seconds, before.seconds);
  }
}

TEST(VoiceLibraryText, DoesNotDependOnTheOrderOfAdding) {
  VoiceLibrary other;
  other.add("Ben", model_of_dim(2), {{1, 0}, 0, ""});
  other.add("Anna \"A\" \\ <b>", model_of_dim(2), {{3, -4}, 12.25, "meeting\n1"});
  EXPECT_EQ(other.to_text(), small_library().to_text());
}

TEST(VoiceLibraryText, SaysWhatIsWrongAndWhere) {
  const std::string good = small_library().to_text();
  struct Case {
    std::string text;
    std::string words;  // of the message
  };
  const std::vector<Case> cases = {
      {"", "line 1"},
      {good.substr(0, good.size() / 2), "no valid JSON"},
      {"[]", "\"format\""},
      {R"({"format": "diarist.diarization"})", "\"format\""},
      {with(good, "\"version\": 1", "\"version\": 2"), "version is 2"},
      {with(good, "\"version\": 1", "\"version\": -1"), "version"},
      {with(good, "\"campplus\"", "7"), "model.network"},
      {with(good, std::string(64, 'a'), "zz"), "sha256"},
      {with(good, "\"dim\": 2", "\"dim\": 3"), "voices[0].samples[0]"},
      {with(good, "\"dim\": 2", "\"dim\": 0"), "model"},
      {with(good, "\"dim\": 2", "\"dim\": 2.5"), "model.dim"},
      {with(good, "\"Ben\"", "\"\""), "voices[1]"},
      {with(good, "\"Ben\"", "\"SPEAKER_01\""), "SPEAKER_01"},
      {with(good, "\"Ben\"", "\"a\\u000ab\""), "voices[1]"},
      {with(good, "\"Ben\"", R"("Anna \"A\" \\ <b>")"), "another voice"},
      {with(good, "\"seconds\": 0", "\"seconds\": -1"), "voices[1].samples[0]"},
      {with(good, "\"seconds\": 0", "\"seconds\": \"0\""), "voices[1].samples[0].seconds"},
      {with(good, "[1,0]", "[1]"), "voices[1].samples[0]"},
      {with(good, "[1,0]", "[0,0]"), "zero"},
      {with(good, "[1,0]", "[1e39,0]"), "infinite"},
      {with(good, "[1,0]", "[1e999,0]"), "no valid JSON"},
      {with(good, "[1,0]", "[1,null]"), "voices[1].samples[0].embedding"},
      {with(good, "[1,0]", "7"), "voices[1].samples[0].embedding"},
      {with(good, "\"source\": \"\", ", ""), "has no \"source\""},
      {with(good, "\"samples\": [", "\"samples\": [],\"x\": ["), "voices[0].samples"},
      {std::string(100000, '['), "no valid JSON"},
  };
  for (const Case& item : cases) {
    const Error error = error_of([&] { VoiceLibrary::parse(item.text, "team.voices"); });
    EXPECT_EQ(error.code(), ErrorCode::kBadFile) << error.what();
    const std::string what = error.what();
    EXPECT_TRUE(what.starts_with("team.voices: ")) << what;
    EXPECT_NE(what.find(item.words), std::string::npos) << what << " lacks " << item.words;
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
  }
}

TEST(VoiceLibraryText, FilesAreWrittenForTheirOwnerAndKeepTheirPermissions) {
  namespace fs = std::filesystem;
  const TempFolder folder;
  const fs::path file = folder.path() / "team.voices";
  EXPECT_EQ(error_of([&] { VoiceLibrary::load(file); }).code(), ErrorCode::kNotFound);
  small_library().save(file);
  EXPECT_EQ(fs::status(file).permissions() & (fs::perms::group_all | fs::perms::others_all),
            fs::perms::none);
  EXPECT_EQ(VoiceLibrary::load(file).to_text(), small_library().to_text());
  fs::permissions(file, fs::perms::group_read, fs::perm_options::add);
  small_library().save(file);
  EXPECT_NE(fs::status(file).permissions() & fs::perms::group_read, fs::perms::none);
  EXPECT_EQ(error_of([&] { small_library().save(folder.path() / "no" / "x"); }).code(),
            ErrorCode::kBadFile);
}

}  // namespace
}  // namespace diarist::test
