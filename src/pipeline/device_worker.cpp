#include "pipeline/device_worker.hpp"

#include <algorithm>
#include <future>

#include "base/error.hpp"

namespace diarist::pipeline {

DeviceWorker::DeviceWorker(const backend::BackendOptions& device, const model::Bundle& bundle,
                           const model::Preset& preset, int batch)
    : bundle_(bundle),
      preset_(preset),
      batch_(batch),
      limited_(device.max_memory > 0),
      backend_(backend::make_backend(device)),
      in_host_memory_(backend_->allocate(1)->host() != nullptr) {}

std::unique_ptr<Session> DeviceWorker::take(int step_seconds, Precision precision) {
  {
    const std::lock_guard lock(mutex_);
    for (auto it = idle_.begin(); it != idle_.end(); ++it) {
      const SessionOptions& options = (*it)->options();
      if (options.step_seconds != step_seconds || options.precision != precision) continue;
      std::unique_ptr<Session> session = std::move(*it);
      idle_.erase(it);
      return session;
    }
  }
  if (!in_host_memory_) {
    // Sessions of other options would only hold the memory that this one can use.
    const std::lock_guard lock(mutex_);
    idle_.clear();
  }
  if (preset_.embedding_kind != "campplus" || in_host_memory_) return make(step_seconds, precision);
  // What has one size comes first where memory is limited, then batches as large as fit beside it.
  // Elsewhere both are made at the same time.
  auto checker = std::async(limited_ ? std::launch::deferred : std::launch::async, [&] {
    try {
      pieces(precision);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kOutOfMemory) throw;
      base::fail(ErrorCode::kOutOfMemory, "{}: the turn check does not fit: {}", backend_->name(),
                 error.what());
    }
  });
  if (limited_) checker.get();
  std::unique_ptr<Session> session = make(step_seconds, precision);
  if (!limited_) checker.get();
  return session;
}

// Idle sessions of other options give their memory back before batches are made smaller.
std::unique_ptr<Session> DeviceWorker::make(int step_seconds, Precision precision) {
  int windows = batch_ > 0 ? batch_ : backend_->preferred_windows();
  for (;;) {
    try {
      return std::make_unique<Session>(*backend_, bundle_, preset_,
                                       SessionOptions{windows, step_seconds, precision});
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kOutOfMemory) throw;
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        idle_.clear();
      } else if (batch_ > 0 || windows == 1) {
        base::fail(ErrorCode::kOutOfMemory, "{}: batches of {} window(s) do not fit: {}",
                   backend_->name(), windows, error.what());
      } else {
        windows = std::max(1, windows / 2);
      }
    }
  }
}

void DeviceWorker::give_back(std::unique_ptr<Session> session) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(session));
}

PieceEmbedder& DeviceWorker::pieces(Precision precision) {
  const std::lock_guard lock(pieces_mutex_);
  for (auto& [its_precision, embedder] : pieces_)
    if (its_precision == precision) return *embedder;
  pieces_.emplace_back(precision,
                       std::make_unique<PieceEmbedder>(*backend_, bundle_.embedding, precision));
  return *pieces_.back().second;
}

}  // namespace diarist::pipeline
