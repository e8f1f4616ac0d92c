// The rules by which an algorithm of the library is taken, and the order of packed weights.

#include "backend/cuda/library/algorithm_choice.hpp"

#include <gtest/gtest.h>

#include "backend/cuda/library/library_weights.hpp"
#include "diarist/error.hpp"

namespace diarist::backend::cuda {
namespace {

LibraryCandidate good(int math) {
  LibraryCandidate candidate;
  candidate.algorithm = cudnn::kImplicitPrecompGemm;
  candidate.deterministic = true;
  candidate.math = math;
  return candidate;
}

TEST(LibraryAlgorithm, MathTypeDecidesByMode) {
  for (const int math :
       {cudnn::kDefaultMath, cudnn::kTensorOpMath, cudnn::kConvertingMath, cudnn::kFmaMath}) {
    const bool tensor_cores = math == cudnn::kTensorOpMath || math == cudnn::kConvertingMath;
    const bool fma = math == cudnn::kFmaMath;
    EXPECT_EQ(why_not_algorithm(good(math), Mode::kExact, true).empty(), !tensor_cores) << math;
    EXPECT_EQ(why_not_algorithm(good(math), Mode::kFast, true).empty(), !fma) << math;
    EXPECT_EQ(why_not_algorithm(good(math), Mode::kTf32, true).empty(), !fma) << math;
  }
  EXPECT_EQ(math_of(Mode::kExact), cudnn::kFmaMath);
  EXPECT_EQ(math_of(Mode::kFast), cudnn::kTensorOpMath);
  EXPECT_EQ(math_of(Mode::kTf32), cudnn::kDefaultMath);
}

TEST(LibraryAlgorithm, IdentityHasOneAlgorithm) {
  LibraryCandidate candidate = good(cudnn::kTensorOpMath);
  EXPECT_EQ(why_not_algorithm(candidate, Mode::kFast, false), "");
  candidate.algorithm = cudnn::kImplicitGemm;
  EXPECT_EQ(why_not_algorithm(candidate, Mode::kFast, true), "");
  EXPECT_NE(why_not_algorithm(candidate, Mode::kFast, false), "");
}

TEST(LibraryAlgorithm, EveryRefusalHasItsReason) {
  std::vector<LibraryCandidate> candidates(5, good(cudnn::kFmaMath));
  candidates[0].status = 3000;
  candidates[1].deterministic = false;
  candidates[2].workspace_bytes = kLibraryWorkspaceLimit + 1;
  candidates[3].algorithm = cudnn::kWinograd;
  candidates[4].workspace_bytes = kLibraryWorkspaceLimit;
  for (LibraryCandidate& candidate : candidates)
    candidate.problem = why_not_algorithm(candidate, Mode::kExact, true);
  EXPECT_EQ(problems_text(candidates),
            "implicit_precomp_gemm with FMA math (not offered for this shape (status 3000)), "
            "implicit_precomp_gemm with FMA math (not deterministic), "
            "implicit_precomp_gemm with FMA math (workspace of 268435457 bytes, 268435456 "
            "allowed), winograd with FMA math (transforms the maps)");
  EXPECT_EQ(candidates[4].problem, "");
  EXPECT_EQ(problems_text({}), "it ranks no algorithm");
}

TEST(LibraryWeights, ChannelsComeLast) {
  std::vector<float> weight(2 * 3 * 9);
  for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<float>(i);
  const std::vector<float> packed = pack_library_weights(weight, 2, 3, 9);
  for (int o = 0; o < 2; ++o)
    for (int c = 0; c < 3; ++c)
      for (int tap = 0; tap < 9; ++tap)
        EXPECT_EQ(packed[static_cast<std::size_t>((o * 9 + tap) * 3 + c)],
                  static_cast<float>((o * 3 + c) * 9 + tap));
}

TEST(LibraryWeights, HalvesAreRoundedToNearest) {
  const std::vector<float> values = {0.0F, 1.0F, -2.0F, 65504.0F, 0.1F, 1.00048828125F};
  const std::vector<std::uint16_t> wanted = {0x0000, 0x3C00, 0xC000, 0x7BFF, 0x2E66, 0x3C00};
  EXPECT_EQ(to_library_halves(values, "weights"), wanted);
  try {
    to_library_halves(std::vector<float>{7e4F}, "layer1.0.conv1");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("layer1.0.conv1: 70000"), std::string::npos);
  }
}

}  // namespace
}  // namespace diarist::backend::cuda
