// The whole community-1 pipeline against runs of the real package with the stand-in embedding
// weights (shared/data/oracle): segmentation, embeddings, and the RTTM of every setting.

#include <cmath>
#include <cstdio>

#include "diarist/diarizer.hpp"
#include "recordings.hpp"
#include "support/standin_bundle.hpp"

namespace diarist {
namespace {

constexpr int kFrames = 589;
constexpr int kDim = 256;

// numpy.packbits of [C, 589, 3] in C order -> activity bits.
std::vector<std::uint8_t> unpack(const std::filesystem::path& file) {
  const auto arrays = base::read_npz(file);
  const std::vector<std::uint8_t> bits = arrays.at("bits").as<std::uint8_t>(file.string());
  const std::vector<std::int64_t> shape = arrays.at("shape").as<std::int64_t>(file.string());
  std::vector<std::uint8_t> activity(static_cast<std::size_t>(shape[0] * kFrames));
  for (std::size_t i = 0; i < activity.size() * 3; ++i)
    if ((bits[i / 8] >> (7 - i % 8)) & 1)
      activity[i / 3] = static_cast<std::uint8_t>(activity[i / 3] | (1U << (i % 3)));
  return activity;
}

double cosine(const float* a, const float* b) {
  double dot = 0, aa = 0, bb = 0;
  for (int i = 0; i < kDim; ++i) {
    dot += double{a[i]} * double{b[i]};
    aa += double{a[i]} * double{a[i]};
    bb += double{b[i]} * double{b[i]};
  }
  return dot / std::sqrt(aa * bb);
}

SpeakerHints hints_of(const std::string& setting) {
  SpeakerHints hints;
  const std::string kind = setting.substr(0, 3);
  if (kind == "num") hints.num = std::stoi(setting.substr(3));
  if (kind == "min") hints.min = std::stoi(setting.substr(3));
  if (kind == "max") hints.max = std::stoi(setting.substr(3));
  return hints;
}

class Oracle : public testing::TestWithParam<std::string> {};

TEST_P(Oracle, EqualsTheReferenceRun) {
  const std::filesystem::path folder = test::data("oracle/" + GetParam());
  DIARIST_NEED(folder);
  DIARIST_NEED(test::recording(GetParam()));
  DIARIST_NEED(test::standin_weights());
  const DiarizerOptions engine{
      .preset = "community-1", .models = test::standin_models(), .allow_unknown_weights = true};
  const Diarizer diarizer(engine);
  RunOptions options{.reference = true, .keep_stages = true};
  const Diarization result = diarizer.run(test::recording(GetParam()), options);

  const std::vector<std::uint8_t> activity = unpack(folder / "segmentations.npz");
  const int cells = test::differing_cells(result.stages->activity, activity);
  EXPECT_GE(cells, 0);
  EXPECT_LE(cells, 1);

  const auto arrays = base::read_npz(folder / "embeddings.npz");
  const std::vector<float> embeddings = arrays.at("embeddings").as<float>("embeddings");
  ASSERT_EQ(result.stages->embeddings.size(), embeddings.size());
  double worst = 1;
  for (std::size_t row = 0; row < embeddings.size(); row += kDim)
    worst =
        std::min(worst, cosine(result.stages->embeddings.data() + row, embeddings.data() + row));
  std::printf("[          ] %s: %d differing cells, worst cosine 1 - %.1e\n", GetParam().c_str(),
              cells, 1 - worst);
  EXPECT_GE(worst, 0.99999);

  const NetworkOutputs stages{.chunks = result.stages->chunks,
                              .embedding_dim = kDim,
                              .activity = result.stages->activity,
                              .embeddings = result.stages->embeddings};
  for (const char* setting : {"auto", "num1", "num2", "num3", "num5", "min3", "max1"}) {
    options.speakers = hints_of(setting);
    Diarization turns = cluster_stages(stages, engine, options);
    turns.uri = GetParam() == "sample" ? "sample" : "clip_16k";
    const std::string name = (folder / setting).string();
    EXPECT_EQ(to_rttm(turns), test::text_of(name + ".rttm")) << setting;
    EXPECT_EQ(to_rttm(turns, true), test::text_of(name + ".exclusive.rttm")) << setting;
  }
  EXPECT_EQ(to_rttm(result), test::text_of((folder / "auto.rttm").string()));
}

INSTANTIATE_TEST_SUITE_P(Recordings, Oracle, testing::Values("02", "04", "05", "sample"));

}  // namespace
}  // namespace diarist
