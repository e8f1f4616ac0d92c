#pragma once
/// \file
/// From a recording to who spoke when. streaming.hpp is for audio that is still arriving.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "diarist/audio.hpp"
#include "diarist/error.hpp"
#include "diarist/export.hpp"
#include "diarist/options.hpp"
#include "diarist/result.hpp"
#include "diarist/run_control.hpp"

namespace diarist::pipeline {
class StreamHost;
}

namespace diarist {

/// What became of one of many files.
struct FileOutcome {
  std::size_t index = 0;  ///< in the list given
  std::filesystem::path file;
  std::optional<Diarization> result;  ///< or:
  std::optional<Error> error;
};

/// Immutable weights and options on one device or several GPUs. Safe to use from many threads; runs
/// on the same object share its worker threads.
///
///     diarist::Diarizer diarizer({.preset = "open"});
///     for (const diarist::Turn& turn : diarizer.run("meeting.wav").turns) ...
///
/// The same audio gives the same bytes whatever the thread count, batch size or earlier runs.
class DIARIST_API Diarizer {
 public:
  /// Loads and checks the models. \throws Error kBadModel, kNotFound, kInvalidArgument, ...
  explicit Diarizer(const DiarizerOptions& options);
  ~Diarizer();
  Diarizer(Diarizer&&) noexcept;
  Diarizer& operator=(Diarizer&&) noexcept;

  /// Decodes and diarizes one file; the uri is the file name without folder and last extension.
  /// \throws Error kNotFound, kBadFile, kInvalidArgument, kCancelled, ...
  Diarization run(const std::filesystem::path& file, const RunOptions& options = {},
                  const RunControl& control = {}) const;

  /// Diarizes audio in memory. No samples at all give an empty result.
  Diarization run(const AudioView& audio, const RunOptions& options = {},
                  const RunControl& control = {}) const;

  /// Diarizes many files. On GPUs decoding, networks and clustering of different files overlap, and
  /// windows of several files share a batch; the results are those of run(), byte for byte.
  /// \param sink is called on the calling thread, in the order of `files`; false ends the run.
  /// A file that fails has an error as its outcome and stops nothing. \throws Error kCancelled.
  RunReport run_files(std::span<const std::filesystem::path> files, const RunOptions& options,
                      const RunControl& control,
                      const std::function<bool(FileOutcome)>& sink) const;

  /// Name of the preset in use.
  const std::string& preset() const noexcept;

 private:
  friend class Stream;
  std::shared_ptr<pipeline::StreamHost> stream_host(const RunOptions& options) const;

  class Impl;
  std::shared_ptr<Impl> impl_;  // streams have a share
};

/// Inputs of cluster_stages(): what the networks would have given.
struct NetworkOutputs {
  int chunks = 0;                          ///< C >= 1
  int embedding_dim = 0;                   ///< D
  std::span<const std::uint8_t> activity;  ///< [C, 589], bit s = local speaker s speaks
  std::span<const float> embeddings;       ///< [C, 3, D]
  double duration = 0;                     ///< seconds; 0: unknown, turns are not clamped
};

/// Runs everything after the networks. The preset decides the clustering; "community-1" reads the
/// PLDA of the bundle in `options.models`. The presets "open" and "open-lite" leave out the turn
/// check, which needs the audio.
DIARIST_API Diarization cluster_stages(const NetworkOutputs& input, const DiarizerOptions& options,
                                       const RunOptions& run_options = {});

}  // namespace diarist
