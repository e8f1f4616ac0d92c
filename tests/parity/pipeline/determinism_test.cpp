// Same input, same bytes out: whatever the thread count, the batch size, the order of files or what
// ran before.

#include "diarist/diarizer.hpp"
#include "diarist/waveform.hpp"
#include "recordings.hpp"

namespace diarist {
namespace {

std::string everything(const Diarization& result) {
  std::string text = to_rttm(result) + to_rttm(result, true);
  const auto add = [&](const auto& values) {
    text.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0]));
  };
  for (const auto* turns : {&result.turns, &result.exclusive_turns})
    for (const Turn& turn : *turns) text += std::to_string(turn.confidence) + " ";
  add(result.waveform->peak);
  add(result.waveform->power);
  add(result.stages->activity);
  add(result.stages->embeddings);
  add(result.stages->hard_clusters);
  add(result.stages->counts);
  return text;
}

class Determinism : public testing::TestWithParam<std::string> {};

TEST_P(Determinism, ThreadsBatchesAndOrderDoNotMatter) {
  DIARIST_NEED(test::models_folder() / "open");
  DIARIST_NEED(test::recording("sample"));
  const RunOptions options{.keep_stages = true, .keep_waveform = true};
  const auto diarizer = [&](int threads, int batch) {
    return Diarizer({.preset = GetParam(),
                     .models = test::models_folder(),
                     .threads = threads,
                     .batch = batch});
  };
  const Diarizer first = diarizer(1, 0);
  const std::string alone = everything(first.run(test::recording("sample"), options));
  EXPECT_EQ(alone, everything(first.run(test::recording("sample"), options))) << "second run";
  for (const auto& [threads, batch] : {std::pair{2, 0}, {3, 0}, {1, 1}, {2, 5}, {2, 32}})
    EXPECT_EQ(alone, everything(diarizer(threads, batch).run(test::recording("sample"), options)))
        << threads << " threads, batch " << batch;
  if (!std::filesystem::exists(test::recording("trn00"))) return;
  const Diarizer other = diarizer(2, 0);
  other.run(test::recording("trn00"), options);
  EXPECT_EQ(alone, everything(other.run(test::recording("sample"), options))) << "after another";
}

INSTANTIATE_TEST_SUITE_P(Presets, Determinism, testing::Values("open", "open-lite"),
                         [](const auto& test) { return test.param == "open" ? "open" : "lite"; });

}  // namespace
}  // namespace diarist
