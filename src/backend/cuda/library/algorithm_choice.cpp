#include "backend/cuda/library/algorithm_choice.hpp"

#include <fmt/format.h>

namespace diarist::backend::cuda {

std::string algorithm_name(int algorithm) {
  constexpr const char* kNames[cudnn::kAlgorithmCount] = {
      "implicit_gemm", "implicit_precomp_gemm", "gemm", "direct", "fft", "fft_tiling",
      "winograd",      "winograd_nonfused"};
  if (algorithm < 0 || algorithm >= cudnn::kAlgorithmCount)
    return fmt::format("algorithm {}", algorithm);
  return kNames[algorithm];
}

std::string math_name(int math) {
  constexpr const char* kNames[] = {"default math", "tensor-core math", "converting math",
                                    "FMA math"};
  if (math < 0 || math > cudnn::kFmaMath) return fmt::format("math type {}", math);
  return kNames[math];
}

cudnn::MathType math_of(Mode mode) noexcept {
  switch (mode) {
    case Mode::kExact:
      return cudnn::kFmaMath;
    case Mode::kTf32:
      return cudnn::kDefaultMath;
    case Mode::kFast:
      break;
  }
  return cudnn::kTensorOpMath;
}

std::string why_not_algorithm(const LibraryCandidate& candidate, Mode mode, bool relu,
                              std::size_t workspace_limit) {
  if (candidate.status != cudnn::kSuccess)
    return fmt::format("not offered for this shape (status {})", candidate.status);
  if (!candidate.deterministic) return "not deterministic";
  // Transforms round elsewhere than products do; their errors are another order.
  if (candidate.algorithm >= cudnn::kFft) return "transforms the maps";
  const bool tensor_cores =
      candidate.math == cudnn::kTensorOpMath || candidate.math == cudnn::kConvertingMath;
  if (mode == Mode::kExact && tensor_cores) return "tensor cores are not exact";
  if (mode != Mode::kExact && candidate.math == cudnn::kFmaMath) return "no tensor cores";
  if (!relu && candidate.algorithm != cudnn::kImplicitPrecompGemm)
    return "has no epilogue without ReLU";
  if (candidate.workspace_bytes > workspace_limit)
    return fmt::format("workspace of {} bytes, {} allowed", candidate.workspace_bytes,
                       workspace_limit);
  return "";
}

std::string problems_text(std::span<const LibraryCandidate> candidates) {
  std::string text;
  for (const LibraryCandidate& candidate : candidates) {
    if (candidate.problem.empty()) continue;
    text += fmt::format("{}{} with {} ({})", text.empty() ? "" : ", ",
                        algorithm_name(candidate.algorithm), math_name(candidate.math),
                        candidate.problem);
  }
  return text.empty() ? "it ranks no algorithm" : text;
}

}  // namespace diarist::backend::cuda
