#pragma once
// The tuner without its stopwatch: which candidates there are for a trunk, and what is made of
// their times. Timing one candidate is the device's part.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "backend/cuda/choice/choice.hpp"
#include "backend/cuda/choice/tune_file.hpp"
#include "diarist/tuning.hpp"

namespace diarist::backend::cuda {

/// One launch to be timed: a single convolution, or a group that a fused kernel serves.
struct Candidate {
  std::vector<int> layers;  // indices, in order; the last of a block, the first of a pair launches
  KernelId kernel = KernelId::kConvMma;
  int variant = 0;
  Mode mode = Mode::kFast;
  int items = 1;
};

struct CandidateTime {
  double milliseconds = 0;
  std::size_t workspace_bytes = 0;
  std::string problem;  // why it can't run; empty: it was timed
};

/// Times one candidate, on data larger than the caches, until the figure is steady.
using TimeCandidate = std::function<CandidateTime(const Candidate&)>;

/// Every candidate for the distinct convolutions of a trunk and for the groups that can be fused on
/// this device. One layer stands for all of its shape. In exact mode without the library, whose
/// FP32 maps the other kernels don't read.
std::vector<Candidate> candidates(const DeviceFacts& device, std::span<const ConvLayer> layers,
                                  Mode mode, int items, bool kernel_only);

/// Shape, kernel and variant in words.
std::string candidate_shape(std::span<const ConvLayer> layers, const Candidate& candidate);

/// Times all candidates for one batch; `chosen` marks what choose_trunk() takes with `tuned`.
std::vector<AlgorithmRow> time_candidates(const DeviceFacts& device,
                                          std::span<const ConvLayer> layers,
                                          const ChoiceOptions& options, const TimeCandidate& time);

/// Chooses by time. The kernel of a shape is the quickest one at the largest batch, and the same
/// for all batches, since results must not depend on the batch; only its variant is chosen for
/// each. A group is fused when that is quicker than its members alone; its members' entries carry
/// the time of the group. On a tie the earlier candidate stays. \param batches one or more, each
/// positive. \throws Error kUnsupported when nothing could be timed for a shape, naming it and the
/// last problem.
std::vector<TuneEntry> tune_trunk(const DeviceFacts& device, std::span<const ConvLayer> layers,
                                  Mode mode, std::span<const int> batches, bool kernel_only,
                                  const TimeCandidate& time);

/// Tuning of one device, mode by mode, up to the file.
class TuneSession {
 public:
  /// \param driver version; empty when the driver does not tell.
  TuneSession(const DeviceFacts& device, const std::string& driver);

  const TuneIdentity& identity() const noexcept { return file_.identity; }
  /// tune_trunk() for one mode; replaces what was measured for it before. \return entry_text() of
  /// the new entries.
  std::vector<std::string> tune(std::span<const ConvLayer> layers, Mode mode,
                                std::span<const int> batches, bool kernel_only,
                                const TimeCandidate& time);
  /// Atomic. \throws Error kInvalidArgument when nothing was measured, kBadFile.
  void write(const std::filesystem::path& target) const;
  /// \return entry_text() of all entries. \throws Error like load_tune_file().
  std::vector<std::string> check(const std::filesystem::path& file) const;

 private:
  DeviceFacts device_;
  TuneFile file_;
};

}  // namespace diarist::backend::cuda
