#pragma once
/// \file
/// Figures of the speaker embedding on one device, and the tune file that makes its choices.
/// Everything here concerns the WeSpeaker ResNet34.

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "diarist/export.hpp"
#include "diarist/options.hpp"
#include "diarist/run_control.hpp"

namespace diarist {

/// Kernels that figures may be asked for. kAny: what a user would run. kHopper and kPortable are
/// the two families of own GPU kernels; kFp32: those without half products; kLibrary: the vendor's.
enum class KernelFamily { kAny, kHopper, kPortable, kFp32, kLibrary };
/// "any", "hopper", "portable", "fp32" or "library".
DIARIST_API const char* kernel_family_name(KernelFamily family) noexcept;

/// What is measured, and on what.
struct BenchOptions {
  std::string device = "cpu";  ///< "cpu", "reference", "cuda" or "cuda:N"
  int threads = 0;             ///< worker threads of a CPU; 0: all
  std::string target;          ///< force a CPU instruction set by name; empty: the best
  /// A bundle's folder or a weight file; empty: random weights, scaled so that maps stay in range.
  /// Times don't depend on which, except through the power that the numbers draw.
  std::filesystem::path weights;
  bool allow_unknown_weights = false;
  std::vector<int> batches;           ///< empty: 1, 32 and 128 on a GPU, 1 and 2 elsewhere
  std::vector<Precision> precisions;  ///< empty: fast and exact on a GPU, exact elsewhere
  KernelFamily family = KernelFamily::kAny;
  bool kernel_only = false;         ///< no vendor library
  std::filesystem::path tune_file;  ///< measured choices; empty: none
  double seconds = 2;               ///< of load behind each figure; 0: one run
  bool check = true;                ///< compare two chunks with the reference backend (slow)
};

/// Milliseconds over the runs of one measurement.
struct TimeSummary {
  double median_ms = 0;
  double min_ms = 0;
};

/// Clock and power while a figure was measured; 0 where the device doesn't tell.
struct DeviceState {
  double clock_mhz = 0;  ///< of the multiprocessors
  double power_watts = 0;
};

/// One batch size in one precision. h2d: features and masks to the device; d2h: embeddings back.
struct BenchRow {
  int batch = 0;
  Precision precision = Precision::kExact;
  bool records = false;  ///< the device can record a batch's work
  bool graph = false;    ///< and did
  TimeSummary h2d, compute, d2h;
  double chunks_per_second = 0;     ///< of compute, back to back for `seconds`
  double seconds = 0;               ///< that the load lasted
  DeviceState state;                ///< at the end of the load
  std::size_t device_bytes = 0;     ///< that the process holds on a GPU
  std::size_t buffer_bytes = 0;     ///< inputs and outputs of a batch
  std::size_t workspace_bytes = 0;  ///< maps and workspace of the program
  int plans = 0;
  bool checked = false;
  double worst_cosine = 0;  ///< against the double reference, over two chunks with three masks
};

/// What bench_embed() measured.
struct BenchReport {
  std::string device, kernels;
  std::string weights;  ///< "random (He)" or where they come from
  std::vector<BenchRow> rows;
};

/// One launch of a pass: one layer, or several that a fused kernel serves.
struct LayerProfile {
  std::string layers;  ///< "layer1.0.conv1 + layer1.0.conv2"
  std::string kernel;
  double milliseconds = 0;  ///< median over the runs
  double flops = 0;         ///< useful ones: multiplication and addition count two
  double bytes = 0;         ///< that must move at least: maps in and out, weights once
  double floor_ms = 0;      ///< what the device's peaks allow
  bool memory_bound = false;

  double share(double total_ms) const { return total_ms > 0 ? milliseconds / total_ms : 0; }
  double teraflops() const { return milliseconds > 0 ? flops / milliseconds / 1e9 : 0; }
  double gigabytes_per_second() const { return milliseconds > 0 ? bytes / milliseconds / 1e6 : 0; }
  /// How many times its floor a launch takes; 0 where no floor is known.
  double times_floor() const { return floor_ms > 0 ? milliseconds / floor_ms : 0; }
};

/// What profile_embed() measured, for one batch size and precision.
struct ProfileReport {
  std::string device;
  int batch = 0;
  Precision precision = Precision::kExact;
  DeviceState state;
  double flops_peak = 0;  ///< per second, that the floors assume
  double bytes_peak = 0;
  std::vector<LayerProfile> rows;
  DIARIST_API double total_ms() const;
  DIARIST_API double floor_ms() const;
};

/// A candidate for one of the eleven shapes (or for a group that a fused kernel serves).
struct AlgorithmRow {
  std::string shape;
  std::string kernel;  ///< own kernel with its variant, or the library's algorithm
  double milliseconds = 0;
  std::size_t workspace_bytes = 0;
  bool chosen = false;  ///< what a program would run
  std::string problem;  ///< why it could not be timed; empty: it was
};

/// What fusing bias, residual and ReLU into a convolution saves.
struct FusionRow {
  std::string shape;
  double fused_ms = 0;
  double plain_ms = 0;  ///< convolution, then a pass for the rest
};

/// Latency, throughput, memory and accuracy for every batch size, precision and (where the device
/// records) with and without the recorded graph.
/// \throws Error kInvalidArgument, kUnsupported, kBadModel, kOutOfMemory, kCancelled.
DIARIST_API BenchReport bench_embed(const BenchOptions& options, const RunControl& control = {});

/// Times of every launch, one report per batch size and precision.
/// \throws Error kUnsupported where the device has no clock for single launches (CPUs).
DIARIST_API std::vector<ProfileReport> profile_embed(const BenchOptions& options,
                                                     const RunControl& control = {});

/// Every library algorithm and own candidate for the distinct shapes, in the last of the batches
/// and the first of the precisions. \throws Error kUnsupported on devices that have no candidates.
DIARIST_API std::vector<AlgorithmRow> embed_algorithms(const BenchOptions& options,
                                                       const RunControl& control = {});

/// The four stride-1 shapes, fused against plain, batch and precision as above. \throws Error
/// kUnsupported.
DIARIST_API std::vector<FusionRow> embed_fusion(const BenchOptions& options,
                                                const RunControl& control = {});

/// Measures every candidate on this device and writes a tune file (atomically): for EmbedderOptions
/// and BenchOptions `tune_file`. \return one line per choice. \throws Error kUnsupported.
DIARIST_API std::vector<std::string> tune_embed(const BenchOptions& options,
                                                const std::filesystem::path& out,
                                                const RunControl& control = {});

/// Reads a tune file as a program would. \return one line per choice.
/// \throws Error kBadFile (damaged), kInvalidArgument (made for another device, driver or kernel
/// set), each with the reason.
DIARIST_API std::vector<std::string> check_tune_file(const BenchOptions& options,
                                                     const std::filesystem::path& file);

}  // namespace diarist
