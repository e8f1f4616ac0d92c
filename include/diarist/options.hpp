#pragma once
/// \file
/// Options of a Diarizer and of one run.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "diarist/audio.hpp"

namespace diarist {

struct StageResults;

/// kExact: results at FP32 accuracy. kFast: reduced precision in the speaker embedding, whose
/// vectors stay within a cosine of 0.9999; segmentation is exact in every mode. On a CPU bf16
/// products, by processors that have an instruction for them (BuildInfo::cpu_bf16_supported);
/// elsewhere kUnsupported. The `reference` device computes the same in both.
/// kTf32: a vendor library's TF32 products (cosine 0.999), for comparison; GPUs only.
enum class Precision { kExact, kFast, kTf32 };

/// "exact", "fast" or "tf32".
constexpr const char* precision_name(Precision precision) noexcept {
  return precision == Precision::kExact ? "exact" : precision == Precision::kFast ? "fast" : "tf32";
}

/// Requested number of speakers. An unset member means "not given"; zero or a negative number is
/// an error. `num` together with `min` or `max` must agree with them.
/// By default the numbers are a contract: never more speakers than asked for; a minimum that the
/// recording can't fill is reported as a warning.
struct SpeakerHints {
  std::optional<int> num;
  std::optional<int> min;
  std::optional<int> max;
};

/// What a Diarizer is made of.
struct DiarizerOptions {
  /// "open", "open-lite", "community-1", "pyannote-3.1", or empty for the best installed one.
  std::string preset;
  /// Folder that holds the model bundles; empty: $DIARIST_MODELS, then $XDG_CACHE_HOME/diarist.
  std::filesystem::path models;
  /// "cpu", "reference" (the slow double-precision oracle), "cuda:0", "cuda:0,1", or "cuda" for all
  /// GPUs of the machine. Several GPUs share the files of run_files().
  std::string device = "cpu";
  Precision precision = Precision::kExact;
  int threads = 0;  ///< worker threads; 0: all processors this process may use
  int batch = 0;    ///< windows per batch; 0: chosen by the backend. Never changes a result
  /// Bytes that may be taken of each GPU's memory; 0: nine tenths of what is free. Batches are made
  /// smaller until they fit.
  std::size_t max_gpu_memory = 0;
  /// Force a CPU instruction set by name ("AVX2"), and behind a plus the instruction for bf16
  /// products of fast mode ("AVX3+AVX512_BF16"); empty: $DIARIST_CPU_TARGET, else the best.
  std::string target;
  bool allow_unknown_weights = false;  ///< accept weights whose fingerprint is not known
};

/// Options of one run.
struct RunOptions {
  SpeakerHints speakers;
  /// Print exactly what the reference pipeline prints (spec/pipeline.md, last section). Forces
  /// exact precision.
  bool reference = false;
  /// Seconds between windows: 1, 2 or 5. 1 is the reference; larger is faster and less accurate.
  int step_seconds = 1;
  bool keep_stages = false;    ///< return segmentations, embeddings, clusters and counts as well
  bool keep_waveform = false;  ///< return Diarization::waveform: two bytes per 10 ms
  /// For benchmarks. The networks run as usual; then these activity and embeddings (windows one
  /// second apart), repeated to the recording's length and each vector moved by 2 % so that no two
  /// are equal, are clustered in place of what the networks said. Test weights would put everything
  /// into one cluster.
  std::shared_ptr<const StageResults> replay = {};
  AudioOptions audio = {};  ///< which part of the recording, and how it is read
};

}  // namespace diarist
