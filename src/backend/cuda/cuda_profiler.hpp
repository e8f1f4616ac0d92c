#pragma once
// Measurements of one GPU: what `bench embed` and `tune` ask for.

#include <memory>
#include <vector>

#include "backend/cuda/choice/device_meter.hpp"
#include "backend/cuda/choice/tune_file.hpp"
#include "backend/cuda/choice/tuner.hpp"
#include "backend/cuda/embedding_model.hpp"
#include "backend/profiling.hpp"

namespace diarist::backend::cuda {

/// Used by one thread at a time.
class CudaProfiler {
 public:
  explicit CudaProfiler(int device);

  DeviceState state() const;
  DevicePeaks peaks() const { return known_peaks_; }
  const TuneIdentity& identity() const noexcept { return session_->identity(); }
  const DeviceFacts& facts() const noexcept { return facts_; }

  std::vector<LayerProfile> profile(Program& program, Queue& queue, const Run& run,
                                    const Measuring& measuring) const;
  std::vector<AlgorithmRow> algorithms(const model::Graph& graph, const CompileOptions& options,
                                       const Measuring& measuring) const;
  /// Fused and plain through the library, which has both.
  std::vector<FusionRow> fusion(const model::Graph& graph, const CompileOptions& options,
                                const Measuring& measuring) const;
  std::vector<std::string> tune(const model::Graph& graph, const CompileOptions& options,
                                std::span<const int> batches, const Measuring& measuring);
  void write(const std::filesystem::path& file) const;

 private:
  /// Compiles the trunk with one candidate forced and times its launch alone.
  CandidateTime time(const model::Graph& graph, const std::vector<ConvLayer>& layers,
                     const Candidate& candidate, const Measuring& measuring) const;

  /// The library's own ranking for every distinct shape, timed.
  void add_library_rows(const model::Graph& graph, const CompileOptions& options,
                        const Measuring& measuring, std::vector<AlgorithmRow>& rows) const;

  int device_;
  DeviceFacts facts_;
  DevicePeaks known_peaks_;
  std::unique_ptr<DeviceMeter> meter_;
  std::unique_ptr<TuneSession> session_;
};

Mode mode_of(Precision precision);

}  // namespace diarist::backend::cuda
