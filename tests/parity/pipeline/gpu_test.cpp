// The whole pipeline on GPUs: the same RTTM as on the processor, alone and in company, on one GPU
// and on several, in much memory and in little.

#include <algorithm>
#include <cstdlib>
#include <map>
#include <ostream>
#include <random>

#include "backend/registry.hpp"
#include "diarist/diarizer.hpp"
#include "recordings.hpp"
#include "support/standin_bundle.hpp"

namespace diarist {
namespace {

int gpus() {
  int count = 0;
  for (const std::string& name : backend::device_names()) count += name.starts_with("cuda:");
  return count;
}

#define DIARIST_NEED_GPUS(count)                                 \
  do {                                                           \
    if (gpus() >= (count)) break;                                \
    const char* required = std::getenv("DIARIST_REQUIRE_GPU");   \
    if ((count) == 1 && required != nullptr && *required == '1') \
      FAIL() << "DIARIST_REQUIRE_GPU=1, but no GPU";             \
    GTEST_SKIP() << "needs " << (count) << " NVIDIA GPU(s)";     \
  } while (false)

struct Case {
  std::string preset;
  Precision precision;
};

std::ostream& operator<<(std::ostream& out, const Case& each) {
  return out << each.preset << ", " << precision_name(each.precision);
}

DiarizerOptions engine_of(const Case& each, const std::string& device) {
  DiarizerOptions options{.preset = each.preset, .device = device, .precision = each.precision};
  const bool standin = each.preset == "community-1";
  options.models = standin ? test::standin_models() : test::models_folder();
  options.allow_unknown_weights = standin;
  return options;
}

/// Recordings that are there: the sample, captured clips, conversations.
std::vector<std::filesystem::path> recordings() {
  std::vector<std::filesystem::path> files;
  for (const char* name : {"sample", "02", "04", "05", "dev1", "dev3", "trn00"})
    if (std::filesystem::exists(test::recording(name))) files.push_back(test::recording(name));
  return files;
}

std::string text_of(const Diarization& result) { return to_rttm(result) + to_rttm(result, true); }

/// RTTM of every file, or what went wrong.
std::vector<std::string> run_all(const Diarizer& diarizer,
                                 const std::vector<std::filesystem::path>& files,
                                 RunReport* report = nullptr) {
  std::vector<std::string> texts;
  const RunReport made = diarizer.run_files(files, {}, {}, [&](const FileOutcome& outcome) {
    EXPECT_EQ(outcome.index, texts.size());
    texts.push_back(outcome.result ? text_of(*outcome.result) : outcome.error->what());
    return true;
  });
  if (report != nullptr) *report = made;
  return texts;
}

class GpuPipeline : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    DIARIST_NEED_GPUS(1);
    DIARIST_NEED(test::models_folder() / "open");
    DIARIST_NEED(test::recording("sample"));
    if (GetParam().preset == "community-1") DIARIST_NEED(test::standin_weights());
  }
};

TEST_P(GpuPipeline, EqualsTheProcessor) {
  const std::vector<std::filesystem::path> files = recordings();
  const std::vector<std::string> wanted =
      run_all(Diarizer(engine_of({GetParam().preset, Precision::kExact}, "cpu")), files);
  RunReport report;
  const std::vector<std::string> got =
      run_all(Diarizer(engine_of(GetParam(), "cuda:0")), files, &report);
  for (std::size_t i = 0; i < files.size(); ++i) EXPECT_EQ(got[i], wanted[i]) << files[i];
  ASSERT_EQ(report.devices.size(), 1U);
  EXPECT_EQ(report.devices[0].name, "cuda:0");
  EXPECT_GT(report.devices[0].busy, 0);
  EXPECT_GT(report.devices[0].memory_bytes, 0U);
  EXPECT_GT(report.stages.segmentation, 0);
  EXPECT_GT(report.audio_seconds, 29);
}

TEST_P(GpuPipeline, CompanyAndOrderDoNotMatter) {
  const Diarizer diarizer(engine_of(GetParam(), "cuda:0"));
  std::vector<std::filesystem::path> files;
  for (int i = 0; i < 4; ++i)
    for (const std::filesystem::path& file : recordings()) files.push_back(file);
  std::shuffle(files.begin(), files.end(), std::mt19937(7));
  std::map<std::string, std::string> alone;
  for (const std::filesystem::path& file : recordings())
    alone[file.string()] = text_of(diarizer.run(file));
  std::vector<std::filesystem::path> with_bad = files;
  with_bad.insert(with_bad.begin() + 2, "/no/such/file.wav");
  const std::vector<std::string> got = run_all(diarizer, with_bad);
  ASSERT_EQ(got.size(), with_bad.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (i == 2) {
      EXPECT_NE(got[i].find("no such file"), std::string::npos) << got[i];
    } else {
      EXPECT_EQ(got[i], alone[with_bad[i].string()]) << i << " " << with_bad[i];
    }
  }
}

TEST_P(GpuPipeline, LittleMemoryMakesSmallBatches) {
  const std::filesystem::path file = test::recording("sample");
  DiarizerOptions options = engine_of(GetParam(), "cuda:0");
  const std::string wanted = text_of(Diarizer(options).run(file));
  options.max_gpu_memory = std::size_t{1200} << 20;
  {
    const Diarizer small(options);
    RunReport report;
    EXPECT_EQ(run_all(small, {file, file}, &report)[1], wanted);
    EXPECT_LE(report.devices[0].memory_bytes, options.max_gpu_memory);
  }
  options.batch = 3;
  EXPECT_EQ(text_of(Diarizer(options).run(file)), wanted);
  options.batch = 0;
  options.max_gpu_memory = std::size_t{20} << 20;
  try {
    const Diarizer none(options);
    FAIL() << "20 MB were enough";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory) << error.what();
    EXPECT_NE(std::string(error.what()).find("cuda:0"), std::string::npos) << error.what();
  }
  options.max_gpu_memory = 0;
  EXPECT_EQ(text_of(Diarizer(options).run(file)), wanted) << "afterwards";
}

TEST_P(GpuPipeline, SeveralGpusShareTheFiles) {
  DIARIST_NEED_GPUS(2);
  const Diarizer one(engine_of(GetParam(), "cuda:1"));
  std::vector<std::filesystem::path> files;
  for (int i = 0; i < 5; ++i)
    for (const std::filesystem::path& file : recordings()) files.push_back(file);
  const std::vector<std::string> wanted = run_all(one, files);
  for (const char* device : {"cuda", "cuda:0,1", "cuda:1,0"}) {
    const Diarizer all(engine_of(GetParam(), device));
    RunReport report;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(run_all(all, files, &report), wanted) << device;
    ASSERT_GE(report.devices.size(), 2U);
    for (const DeviceReport& each : report.devices) EXPECT_GT(each.busy, 0) << each.name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Presets, GpuPipeline,
    testing::Values(Case{"open", Precision::kExact}, Case{"open", Precision::kFast},
                    Case{"open-lite", Precision::kFast}, Case{"community-1", Precision::kExact},
                    Case{"community-1", Precision::kFast}),
    [](const auto& test) {
      std::string name = test.param.preset + "_" + precision_name(test.param.precision);
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(GpuDevices, ListsAreReadAndRefused) {
  EXPECT_EQ(backend::expand_devices("cpu"), (std::vector<std::string>{"cpu"}));
  EXPECT_EQ(backend::expand_devices("cuda:3"), (std::vector<std::string>{"cuda:3"}));
  EXPECT_EQ(backend::expand_devices("cuda:2,0"), (std::vector<std::string>{"cuda:2", "cuda:0"}));
  for (const char* wrong : {"cuda:0,0", "cuda:0,", "cuda:,1"})
    EXPECT_THROW(backend::expand_devices(wrong), Error) << wrong;
}

}  // namespace
}  // namespace diarist
