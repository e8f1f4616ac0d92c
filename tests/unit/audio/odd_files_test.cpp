// Every file of make_odd_audio() is read, or refused with the right code.

#include <cmath>

#include "support/odd_audio.hpp"
#include "support/support.hpp"
#include "unit/audio/read_all.hpp"

namespace diarist::test {
namespace {

TEST(OddFiles, AreReadOrRefused) {
  const TempFolder folder;
  const std::vector<OddFile> files = make_odd_audio(folder.path());
  EXPECT_GE(files.size(), 18U);
  for (const OddFile& file : files) {
    SCOPED_TRACE(file.path.filename());
    if (file.outcome == OddOutcome::kBadFile || file.outcome == OddOutcome::kNotFound) {
      const ErrorCode code =
          file.outcome == OddOutcome::kBadFile ? ErrorCode::kBadFile : ErrorCode::kNotFound;
      const std::string text = error_text(code, [&] { (void)audio::open_file(file.path); });
      EXPECT_NE(text.find(file.path.string()), std::string::npos) << text;
      continue;
    }
    for (const bool reference : {false, true}) {
      const auto source = audio::open_file(file.path, {.reference = reference});
      EXPECT_EQ(source->expected_samples(), file.samples);
      const std::vector<float> samples = read_all(*source);
      EXPECT_EQ(static_cast<std::int64_t>(samples.size()), file.samples);
      std::int64_t not_finite = 0;
      for (const float x : samples) not_finite += std::isfinite(x) ? 0 : 1;
      EXPECT_EQ(not_finite, file.not_finite);
      EXPECT_EQ(source->warnings().size(), file.outcome == OddOutcome::kFineWithWarning ? 1U : 0U);
    }
  }
}

TEST(OddFiles, SameSoundAtEveryRate) {
  const TempFolder folder;
  (void)make_odd_audio(folder.path());
  const std::vector<float> wanted = test_signal(176000);
  for (const char* name : {"44100_hz.wav", "48000_hz.wav"}) {
    const std::vector<float> read = read_file(folder.path() / name);
    ASSERT_EQ(read.size(), wanted.size());
    double error = 0;
    for (std::size_t i = 1000; i + 1000 < read.size(); ++i) {
      error += std::pow(static_cast<double>(read[i]) - wanted[i], 2);
    }
    // Only the noise, 0.01 * uniform of width 1 (rms 0.0029), differs between the rates.
    EXPECT_LT(std::sqrt(error / static_cast<double>(read.size())), 0.0045) << name;
  }
}

}  // namespace
}  // namespace diarist::test
