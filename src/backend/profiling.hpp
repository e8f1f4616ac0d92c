#pragma once
// What `bench` and `tune` ask a device beyond running programs. A backend that can tell also
// inherits from Profiler; others have none, and measuring there ends in kUnsupported.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "diarist/tuning.hpp"

namespace diarist::backend {

/// Peaks that floors are computed from.
struct DevicePeaks {
  double half_flops = 0;   // per second, FP16 tensor products with FP32 sums
  double float_flops = 0;  // FP32 arithmetic
  double tf32_flops = 0;
  double bytes = 0;  // per second, device memory
};

/// What a device tells about itself, whatever runs on it. Used by one thread at a time.
class Meter {
 public:
  virtual ~Meter() = default;
  /// Members that the device does not tell stay 0.
  virtual DeviceState state() const = 0;
  /// Energy drawn since some moment in the past; nothing where the device does not count it.
  virtual std::optional<double> joules() const = 0;
};

/// How long to measure, and when to stop.
struct Measuring {
  double seconds = 2;  // per figure, behind a warm-up
  std::stop_token stop;
};

/// Measurements of one device. Used by one thread at a time; queues and programs are this
/// backend's. All times are taken on the device (events), with data larger than its caches.
class Profiler {
 public:
  virtual ~Profiler() = default;

  /// Bytes of device memory that this process holds now.
  virtual std::size_t device_bytes() = 0;
  virtual DeviceState state() = 0;
  virtual DevicePeaks peaks() = 0;

  /// Times of every launch of `program` (made by this backend from `graph`), in order; costs and
  /// floors filled in. The program is run as it is: fused kernels make one row.
  virtual std::vector<LayerProfile> profile(Program& program, Queue& queue, const Run& run,
                                            const Measuring& measuring) = 0;

  /// Every candidate for the distinct convolutions of a graph at options.max_items.
  virtual std::vector<AlgorithmRow> algorithms(const model::Graph& graph,
                                               const CompileOptions& options,
                                               const Measuring& measuring) = 0;
  virtual std::vector<FusionRow> fusion(const model::Graph& graph, const CompileOptions& options,
                                        const Measuring& measuring) = 0;

  /// Measures the candidates for all batches in a precision and appends its choices to what `tune`
  /// was called for before; write_tune_file() writes them all. \return one line per choice.
  virtual std::vector<std::string> tune(const model::Graph& graph, const CompileOptions& options,
                                        std::span<const int> batches,
                                        const Measuring& measuring) = 0;
  /// Atomic. \throws Error kBadFile.
  virtual void write_tune_file(const std::filesystem::path& file) = 0;
  /// \return one line per choice. \throws Error with the reason when a program would refuse it.
  virtual std::vector<std::string> check_tune_file(const std::filesystem::path& file) = 0;
};

/// The backend's profiler; null when it has none.
inline Profiler* find_profiler(Backend& backend) { return dynamic_cast<Profiler*>(&backend); }

}  // namespace diarist::backend
