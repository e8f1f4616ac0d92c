#pragma once
// One device of a Diarizer: its backend and the sessions that nobody uses at the moment.

#include <memory>
#include <mutex>
#include <stop_token>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "backend/registry.hpp"
#include "model/bundle.hpp"
#include "pipeline/piece_embedder.hpp"
#include "pipeline/session.hpp"

namespace diarist::pipeline {

/// Safe to use from many threads. Must not outlive bundle and preset.
class DeviceWorker {
 public:
  /// \param batch windows per batch; 0: what suits the device and fits its memory.
  DeviceWorker(const backend::BackendOptions& device, const model::Bundle& bundle,
               const model::Preset& preset, int batch);

  /// A session for such options, an idle one if there is one. On a device a new one takes the place
  /// of idle ones of other options. \throws Error kOutOfMemory when not even a batch of one window
  /// fits, or not the one asked for.
  std::unique_ptr<Session> take(int step_seconds, Precision precision);
  /// A session that failed in the middle is not given back.
  void give_back(std::unique_ptr<Session> session);
  /// Vectors for the turn check; made when first needed on hosts, with the first session elsewhere.
  PieceEmbedder& pieces(Precision precision);

  backend::Backend& backend() noexcept { return *backend_; }
  bool in_host_memory() const noexcept { return in_host_memory_; }

 private:
  std::unique_ptr<Session> make(int step_seconds, Precision precision);

  const model::Bundle& bundle_;
  const model::Preset& preset_;
  int batch_;     // asked for; 0: none
  bool limited_;  // the user gave a limit of memory
  std::unique_ptr<backend::Backend> backend_;
  bool in_host_memory_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Session>> idle_;
  std::mutex pieces_mutex_;
  std::vector<std::pair<Precision, std::unique_ptr<PieceEmbedder>>> pieces_;
};

}  // namespace diarist::pipeline
