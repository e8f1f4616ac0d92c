#include "model/manifest.hpp"

#include <gtest/gtest.h>

#include "diarist/error.hpp"

namespace diarist::model {
namespace {

Manifest example() {
  Manifest manifest;
  manifest.name = "open";
  for (const char* role : {"segmentation", "embedding"}) {
    ManifestFile file;
    file.file = std::string(role) + ".safetensors";
    file.role = role;
    file.kind = role == std::string("segmentation") ? "pyannet" : "campplus";
    file.bytes = 1234;
    file.sha256 = std::string(64, role[0] == 's' ? 'a' : 'b');
    file.licence = "MIT";
    file.source = "somewhere";
    file.source_sha256 = std::string(64, 'c');
    file.trust = "known hash";
    file.tensors = {{"linear.0.weight", {128, 256}}, {"scalar", {}}};
    manifest.files.push_back(file);
  }
  return manifest;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

void expect_refused(const std::string& text, const std::string& words) {
  try {
    parse_manifest(text, "folder/manifest.json");
    ADD_FAILURE() << "accepted: " << text.substr(0, 200);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadModel);
    EXPECT_NE(std::string(error.what()).find("folder/manifest.json"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(Manifest, ComesBackFromItsText) {
  const Manifest manifest = example();
  const Manifest read = parse_manifest(to_json_text(manifest), "test");
  EXPECT_EQ(read.name, "open");
  ASSERT_EQ(read.files.size(), 2U);
  EXPECT_EQ(read.files[1].file, "embedding.safetensors");
  EXPECT_EQ(read.files[1].bytes, 1234U);
  EXPECT_EQ(read.files[1].tensors, manifest.files[1].tensors);
  EXPECT_EQ(read.files[0].sha256, manifest.files[0].sha256);
  EXPECT_EQ(to_json_text(read), to_json_text(manifest));
  EXPECT_EQ(read.with_role("segmentation").size(), 1U);
  EXPECT_TRUE(read.with_role("plda").empty());
}

TEST(Manifest, RefusesWhatIsNoManifest) {
  expect_refused("", "not a JSON object");
  expect_refused("[]", "not a JSON object");
  expect_refused("{", "not a JSON object");
  expect_refused("{}", "format");
  expect_refused(R"({"format": "diarist-bundle"})", "version");
}

TEST(Manifest, RefusesOtherVersions) {
  const std::string text = to_json_text(example());
  expect_refused(replaced(text, "\"format_version\": 1", "\"format_version\": 2"), "version 2");
  expect_refused(replaced(text, "\"format_version\": 1", "\"format_version\": \"1\""), "version");
  expect_refused(replaced(text, "diarist-bundle", "other-bundle"), "not a diarist bundle");
}

TEST(Manifest, RefusesNamesThatLeaveTheFolder) {
  const std::string text = to_json_text(example());
  for (const char* name : {"../x", "/etc/passwd", "a/b", "..", ".hidden", "", "a\\\\b", "a b"}) {
    expect_refused(replaced(text, "embedding.safetensors", name), "plain file name");
  }
}

TEST(Manifest, RefusesWrongTypesAndSizes) {
  const std::string text = to_json_text(example());
  expect_refused(replaced(text, "\"bytes\": 1234", "\"bytes\": -1"), "bad size");
  expect_refused(replaced(text, "\"bytes\": 1234", "\"bytes\": 1e30"), "bad size");
  expect_refused(replaced(text, std::string(64, 'a'), std::string(63, 'a')), "bad sha256");
  expect_refused(replaced(text, std::string(64, 'a'), std::string(64, 'G')), "bad sha256");
  expect_refused(replaced(text, "128", "-128"), "bad shape");
  expect_refused(replaced(text, "128", "18446744073709551615"), "bad shape");
  expect_refused(replaced(text, "\"licence\": \"MIT\"", "\"licence\": 3"), "licence");
  expect_refused(replaced(text, "\"name\": \"open\"", "\"name\": \"../open\""), "bundle name");
}

TEST(Manifest, WantsOneSegmentationAndOneEmbedding) {
  Manifest manifest = example();
  manifest.files.pop_back();
  expect_refused(to_json_text(manifest), "one embedding");
  manifest = example();
  manifest.files.push_back(manifest.files[0]);
  expect_refused(to_json_text(manifest), "listed twice");
  manifest.files.back().file = "other.safetensors";
  expect_refused(to_json_text(manifest), "one segmentation");
  manifest = example();
  manifest.files[0].role = "decoration";
  expect_refused(to_json_text(manifest), "decoration");
}

}  // namespace
}  // namespace diarist::model
