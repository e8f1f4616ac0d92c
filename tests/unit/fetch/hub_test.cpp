// pull_bundle("community-1") against a local hub: choosing files, mirrors in order, tokens.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "base/sha256.hpp"
#include "diarist/error.hpp"
#include "diarist/models.hpp"
#include "local_server.hpp"
#include "model/bundle.hpp"
#include "pipeline/hub.hpp"
#include "support/support.hpp"
#include "unit/bundle/sources.hpp"

namespace diarist::pipeline {
namespace {

namespace fs = std::filesystem;
using test::LocalServer;
using test::ServerAnswer;
using test::ServerRequest;

constexpr const char* kFirst = "avencera/speakrs-models";
constexpr const char* kSecond = "FinDIT-Studio/dia-models";
constexpr const char* kOriginal = "pyannote/speaker-diarization-community-1";

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Repositories by name, files by path.
using Hub = std::map<std::string, std::map<std::string, std::string>>;

// As the hub answers: a tree, files behind a redirect, a token for the original.
ServerAnswer answer(const Hub& hub, const ServerRequest& request) {
  for (const auto& [name, files] : hub) {
    const bool gated = name == kOriginal;
    if (gated && request.path.find(name) != std::string::npos &&
        request.header("authorization") != "Bearer good") {
      return {.status = 401, .body = "gated"};
    }
    if (request.path == "/api/models/" + name + "/tree/main?recursive=1") {
      nlohmann::json tree = nlohmann::json::array();
      tree.push_back({{"type", "directory"}, {"path", "segmentation"}, {"size", 0}});
      for (const auto& [path, content] : files) {
        nlohmann::json entry = {{"type", "file"}, {"path", path}, {"size", content.size()}};
        if (content.size() > 1000) {
          entry["lfs"] = {{"oid", base::sha256_hex(std::as_bytes(std::span(content)))},
                          {"size", content.size()}};
        }
        tree.push_back(entry);
      }
      return {.body = tree.dump()};
    }
    const std::string resolve = "/" + name + "/resolve/main/";
    if (request.path.starts_with(resolve)) {
      return {
          .status = 302,
          .headers = {{"Location", "/cdn/" + name + "/" + request.path.substr(resolve.size())}}};
    }
    const std::string cdn = "/cdn/" + name + "/";
    if (request.path.starts_with(cdn)) {
      const auto file = files.find(request.path.substr(cdn.size()));
      if (file != files.end()) return test::ranged(request, file->second);
    }
  }
  return {.status = 404, .body = "no such thing"};
}

class HubPull : public testing::Test {
 protected:
  HubPull() {
    for (const char* name : {"HF_TOKEN", "DIARIST_HUB_TOKEN", "DIARIST_HUB"}) unsetenv(name);
  }
  FetchOptions options(const LocalServer& server) const {
    return {.models = models_.path(),
            .allow_unknown_weights = true,
            .hub_url = server.url("/"),
            .stall_seconds = 10};
  }
  static const std::string& resnet() {
    static const std::string kText = text_of(model::to_safetensors(test::made_resnet34(1)));
    return kText;
  }
  static const std::string& segmentation() {
    static const std::string kText = text_of(model::to_safetensors(test::made_pyannet(3)));
    return kText;
  }
  // A repository with everything, PLDA as single arrays, and some decoys.
  static std::map<std::string, std::string> complete() {
    std::map<std::string, std::string> files = {
        {"segmentation-3.0.safetensors", segmentation()},
        {"segmentation-3.0-b32.onnx", "fixed batch"},
        {"wespeaker-voxceleb-resnet34.safetensors", resnet()},
        {"wespeaker-voxceleb-resnet34-tail.onnx", "half a network"},
        {"wespeaker-voxceleb-resnet34.min_num_samples.txt", "400\n"},
        {"README.md", "words"}};
    for (const auto& [name, bytes] : test::made_plda(5)) files["plda_" + name + ".npy"] = bytes;
    return files;
  }
  static std::size_t count(const LocalServer& server, const std::string& part) {
    std::size_t found = 0;
    for (const ServerRequest& request : server.requests()) {
      found += request.path.find(part) != std::string::npos;
    }
    return found;
  }

  test::TempFolder models_;
};

TEST_F(HubPull, MirrorGivesEverything) {
  const Hub hub = {{kFirst, complete()}};
  const LocalServer server([&](const ServerRequest& request) { return answer(hub, request); });
  const BundleReport report = pull_bundle("community-1", options(server));
  EXPECT_TRUE(report.ok) << report.problem;
  EXPECT_EQ(report.presets.size(), 2U);
  EXPECT_EQ(report.files.size(), 8U);
  EXPECT_NO_THROW(model::load_bundle(models_.path(), "community-1", true));
  EXPECT_EQ(count(server, ".onnx"), 0U);
  EXPECT_EQ(count(server, "README"), 0U);
  EXPECT_FALSE(fs::exists(models_.path() / ".downloads"));
  const std::size_t before = server.requests().size();
  EXPECT_TRUE(pull_bundle("community-1", options(server)).ok);
  EXPECT_EQ(server.requests().size(), before);  // installed and intact: no network
}

TEST_F(HubPull, SecondMirrorHelps) {
  std::map<std::string, std::string> poor = complete();
  poor.erase("plda_mu.npy");
  std::map<std::string, std::string> rich = complete();
  rich["embedding/pytorch_model.bin"] = "not a torch archive";  // looks best, isn't
  const Hub hub = {{kFirst, poor}, {kSecond, rich}};
  const LocalServer server([&](const ServerRequest& request) { return answer(hub, request); });
  std::vector<std::string> warnings;
  RunControl control;
  control.log = [&](LogLevel level, std::string_view line) {
    if (level == LogLevel::kWarning) warnings.emplace_back(line);
  };
  EXPECT_TRUE(pull_bundle("community-1", options(server), control).ok);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find(kFirst), std::string::npos);
  EXPECT_NE(warnings[0].find("PLDA"), std::string::npos);
}

TEST_F(HubPull, TokenOpensTheOriginal) {
  std::map<std::string, std::string> original = {
      {"segmentation/pytorch_model.safetensors", segmentation()},
      {"embedding/pytorch_model.safetensors", resnet()},
      {"config.yaml", "x"}};
  const test::TempFolder plda;
  test::write_plda(plda.path(), 5);
  for (const char* name : {"plda.npz", "xvec_transform.npz"}) {
    original[std::string("plda/") + name] = base::read_text(plda.path() / name);
  }
  const Hub hub = {{kOriginal, original}, {kFirst, complete()}};
  const LocalServer server([&](const ServerRequest& request) { return answer(hub, request); });
  setenv("HF_TOKEN", "good", 1);
  const BundleReport report = pull_bundle("community-1", options(server));
  EXPECT_EQ(report.files.size(), 4U);
  EXPECT_EQ(count(server, kFirst), 0U);
  // A token without the right falls back to the mirrors, which never see it.
  fs::remove_all(models_.path() / "community-1");
  setenv("DIARIST_HUB_TOKEN", "bad", 1);
  EXPECT_TRUE(pull_bundle("community-1", options(server)).ok);
  for (const ServerRequest& request : server.requests()) {
    if (request.path.find(kFirst) != std::string::npos) {
      EXPECT_EQ(request.header("authorization"), "") << request.path;
    }
  }
  unsetenv("HF_TOKEN");
  unsetenv("DIARIST_HUB_TOKEN");
}

TEST_F(HubPull, EveryFailureIsNamed) {
  Hub hub = {{kFirst, complete()}, {kSecond, {{"README.md", "empty"}}}};
  hub[kFirst]["wespeaker-voxceleb-resnet34.safetensors"] = segmentation();
  const LocalServer server([&](const ServerRequest& request) { return answer(hub, request); });
  try {
    pull_bundle("community-1", options(server));
    ADD_FAILURE() << "pulled";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find(kFirst), std::string::npos) << text;
    EXPECT_NE(text.find(kSecond), std::string::npos) << text;
    EXPECT_NE(text.find("wespeaker-resnet34"), std::string::npos) << text;
    EXPECT_NE(text.find("models import"), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
  EXPECT_TRUE(list_bundles(models_.path()).empty());
}

TEST_F(HubPull, UnknownWeightsNeedPermission) {
  const Hub hub = {{kFirst, complete()}};
  const LocalServer server([&](const ServerRequest& request) { return answer(hub, request); });
  FetchOptions strict = options(server);
  strict.allow_unknown_weights = false;
  try {
    pull_bundle("community-1", strict);
    ADD_FAILURE() << "pulled";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("--allow-unknown-weights"), std::string::npos);
  }
  EXPECT_TRUE(list_bundles(models_.path()).empty());
}

TEST_F(HubPull, StopIsNoReasonForTheNextMirror) {
  const LocalServer server([](const ServerRequest&) {
    return ServerAnswer{.body = "[]", .cut_after = 0, .stall = true};
  });
  std::stop_source stop;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop.request_stop();
  });
  RunControl control;
  control.stop = stop.get_token();
  try {
    pull_bundle("community-1", options(server), control);
    ADD_FAILURE() << "pulled";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled);
  }
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(HubPull, BadNamesAndBadTrees) {
  EXPECT_THROW(pull_bundle("best", {.models = models_.path()}), Error);
  for (const char* text : {"", "{}", "{\"error\": \"x\"}", "[", "\xff"}) {
    EXPECT_THROW(parse_hub_tree(text, "test"), Error) << text;
  }
  EXPECT_TRUE(parse_hub_tree("[]", "test").empty());
  EXPECT_TRUE(parse_hub_tree(R"([1, null, {"type": 3}, {"type": "file"}, {"type": "file",
      "path": 7}, {"type": "directory", "path": "x"}])",
                             "test")
                  .empty());
  const std::vector<HubFile> files = parse_hub_tree(
      R"([{"type": "file", "path": "a.bin", "size": -3, "lfs": {"oid": 5}}])", "test");
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].size, 0U);
  EXPECT_EQ(files[0].sha256, "");
}

// Names as two public mirrors and the original use them.
TEST(HubChoice, PicksWholeNetworksInPublishedPrecision) {
  const auto choose = [](std::initializer_list<const char*> names) {
    std::vector<HubFile> files;
    for (const char* name : names) files.push_back({.path = name, .size = 1000});
    return choose_hub_files(files);
  };
  HubChoice choice =
      choose({"segmentation-3.0-b32.onnx", "segmentation-3.0.onnx",
              "segmentation-3.0.mlmodelc/weights/weight.bin", "wespeaker-fbank.onnx",
              "wespeaker-multimask-tail.onnx", "wespeaker-voxceleb-resnet34-b64.onnx",
              "wespeaker-voxceleb-resnet34-tail.onnx", "wespeaker-voxceleb-resnet34.onnx",
              "wespeaker-voxceleb-resnet34.onnx.data", "plda_mean1.npy", "plda_lda.npy",
              "plda_mean2.npy", "plda_mu.npy", "plda_tr.npy", "plda_psi.npy", "plda_phi.npy"});
  // Whole networks first, then exports of parts that may hold the same weights.
  ASSERT_EQ(choice.segmentation.size(), 2U);
  EXPECT_EQ(choice.segmentation[0].path, "segmentation-3.0.onnx");
  ASSERT_EQ(choice.embedding.size(), 4U);
  EXPECT_EQ(choice.embedding[0].path, "wespeaker-voxceleb-resnet34.onnx");
  EXPECT_EQ(choice.embedding[1].path, "wespeaker-multimask-tail.onnx");
  EXPECT_EQ(choice.plda.size(), 6U);

  choice =
      choose({"wespeaker_resnet34_lm.pt", "wespeaker_resnet34_lm.onnx", "segmentation-3.0.onnx",
              "plda/plda.npz", "plda/xvec_transform.npz", "plda/mu.bin"});
  ASSERT_EQ(choice.embedding.size(), 2U);
  EXPECT_EQ(choice.embedding[0].path, "wespeaker_resnet34_lm.onnx");
  EXPECT_EQ(choice.plda.size(), 2U);

  choice = choose({"embedding/pytorch_model.bin", "segmentation/pytorch_model.bin", "plda/plda.npz",
                   "plda/xvec_transform.npz", "config.yaml"});
  ASSERT_EQ(choice.embedding.size(), 1U);
  EXPECT_EQ(choice.embedding[0].path, "embedding/pytorch_model.bin");
  ASSERT_EQ(choice.segmentation.size(), 1U);
  EXPECT_EQ(choice.segmentation[0].path, "segmentation/pytorch_model.bin");
  EXPECT_EQ(choice.plda[1].path, "plda/xvec_transform.npz");

  EXPECT_TRUE(choose({"plda.npz", "plda_mu.npy"}).plda.empty());
}

TEST(ModelsFolder, ComesFromTheEnvironment) {
  const char* names[] = {"DIARIST_MODELS", "XDG_CACHE_HOME", "HOME"};
  std::map<std::string, std::string> old;
  for (const char* name : names) {
    if (const char* value = std::getenv(name)) old[name] = value;
  }
  setenv("DIARIST_MODELS", "/somewhere", 1);
  setenv("XDG_CACHE_HOME", "/cache", 1);
  setenv("HOME", "/home/me", 1);
  EXPECT_EQ(default_models_folder(), "/somewhere");
  setenv("DIARIST_MODELS", "", 1);
  EXPECT_EQ(default_models_folder(), "/cache/diarist");
  setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(default_models_folder(), "/home/me/.cache/diarist");
  unsetenv("HOME");
  EXPECT_THROW(default_models_folder(), Error);
  for (const char* name : names) {
    if (old.contains(name)) {
      setenv(name, old[name].c_str(), 1);
    } else {
      unsetenv(name);
    }
  }
}

}  // namespace
}  // namespace diarist::pipeline
