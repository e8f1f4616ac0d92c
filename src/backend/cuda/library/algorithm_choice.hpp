#pragma once
// Which of the library's algorithms may run a convolution: a pure function of what the library says
// about them, never of a measurement.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "backend/cuda/choice/choice.hpp"
#include "backend/cuda/library/cudnn_api.hpp"

namespace diarist::backend::cuda {

/// Largest workspace that a convolution may ask for.
constexpr std::size_t kLibraryWorkspaceLimit = std::size_t{256} << 20;

/// One entry of the library's ranking, best first, for one shape.
struct LibraryCandidate {
  cudnn::Algorithm algorithm = cudnn::kImplicitGemm;
  cudnn::Status status = cudnn::kSuccess;
  std::size_t workspace_bytes = 0;
  bool deterministic = false;
  int math = cudnn::kDefaultMath;  // that the library would use
  std::string problem;             // why it is not taken; empty: it may be
  bool chosen = false;
};

/// "implicit_precomp_gemm". Numbers beyond the known ones are shown as such.
std::string algorithm_name(int algorithm);
std::string math_name(int math);

/// The math type that a mode's convolutions are run with, whatever the ranking assumed: exact must
/// not use tensor cores, tf32 may, fast must have them.
cudnn::MathType math_of(Mode mode) noexcept;

/// Why an algorithm is not acceptable; empty when it is.
/// \param relu the identity (no ReLU) exists for implicit_precomp_gemm only.
std::string why_not_algorithm(const LibraryCandidate& candidate, Mode mode, bool relu,
                              std::size_t workspace_limit = kLibraryWorkspaceLimit);

/// "implicit_gemm (workspace of ...), gemm (...)" of all that have a problem.
std::string problems_text(std::span<const LibraryCandidate> candidates);

}  // namespace diarist::backend::cuda
