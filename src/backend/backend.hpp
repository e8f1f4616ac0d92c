#pragma once
// The whole abstraction over hardware. A backend compiles a graph once into a Program and runs it
// many times; nothing above this file knows which backend it talks to.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "diarist/error.hpp"
#include "diarist/options.hpp"
#include "diarist/run_control.hpp"
#include "model/graph.hpp"

namespace diarist::base {
class TaskPool;
}

namespace diarist::backend {

/// A kernel that was chosen for a node, and why. Shown by `diarist info` and in reports.
struct Choice {
  std::string node;
  std::string kernel;
  std::string reason;
};

/// A piece of one backend's memory; owned by the caller, must not outlive the backend.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual std::size_t bytes() const noexcept = 0;
  /// Address for the host, or null when the memory is on a device: then use Queue.
  virtual void* host() noexcept = 0;
  /// Address for the backend's own code: a device pointer on a device, else that of host().
  virtual void* address() noexcept { return host(); }
};

/// A point in a queue's work, and the time when it was reached. Made by the queue it is used with.
class Mark {
 public:
  virtual ~Mark() = default;
};

/// Work in order. Used by one thread at a time; must not outlive the backend. Uploads, downloads
/// and runs return at once where the device works by itself.
class Queue {
 public:
  virtual ~Queue() = default;
  /// Copies to a buffer. `source` may be reused after the call returns.
  virtual void upload(Buffer& target, std::size_t offset, std::span<const std::byte> source) = 0;
  /// Copies 16-bit samples to a buffer of f32, each divided by 32768. \param first element.
  virtual void upload_pcm16(Buffer& target, std::size_t first,
                            std::span<const std::int16_t> source) = 0;
  /// Copies from a buffer. `target` is complete only after wait(), or wait_for() a later mark.
  virtual void download(const Buffer& source, std::size_t offset, std::span<std::byte> target) = 0;
  virtual std::unique_ptr<Mark> make_mark() = 0;
  /// Sets a mark behind everything queued so far. A mark can be set again and again.
  virtual void set(Mark& mark) = 0;
  /// Returns when a mark that was set is reached. \throws Error kDeviceLost.
  virtual void wait_for(Mark& mark) = 0;
  /// Between two marks that were reached.
  virtual double seconds_between(const Mark& from, const Mark& to) = 0;
  /// Returns when everything queued before is done. \throws Error kDeviceLost, kCancelled.
  virtual void wait() = 0;
};

/// Where a graph input or output lies. Offsets and strides count elements of the value's type.
/// Item i starts at offset + i*item_stride; windows of a tape are items whose stride is smaller
/// than their size. Ragged values: with item_stride 0 the items lie back to back, otherwise they
/// start at multiples of the stride as well (a front end run over overlapping stretches of one
/// tape). A shared value has one array at `offset`, `rows` long.
struct View {
  Buffer* buffer = nullptr;
  std::int64_t offset = 0;
  std::int64_t item_stride = 0;
  std::int64_t rows = 0;  // shared values only: rows that exist, for bounds checks
  /// Inputs of a fixed shape only: item i starts at offset + positions[i]*item_stride. Empty: at
  /// offset + i*item_stride. Read before run() returns.
  std::span<const std::int32_t> positions = {};
};

/// Arguments of one run. inputs and outputs stand in the order of the graph's lists.
struct Run {
  int items = 0;  // 1 .. CompileOptions::max_items
  std::vector<View> inputs;
  std::vector<View> outputs;
  /// Length of the ragged axis of every item (graphs with a ragged input only).
  std::span<const std::int32_t> lengths;
  std::stop_token stop;  // looked at every few milliseconds on a CPU
  /// One u32 per item, or no buffer. A program that computes in half precision writes 0, or another
  /// number for an item whose values left its range and which needs recompute(). Other programs
  /// leave it alone.
  View flags;
};

/// A compiled graph: weights in kernel layout, chosen kernels, workspace. One thread at a time.
/// run() allocates nothing and chooses nothing, and an item's result does not depend on the other
/// items, their number or their order.
class Program {
 public:
  virtual ~Program() = default;
  virtual void run(Queue& queue, const Run& run) = 0;
  /// Waits for the queue and makes good what the last run could not: a backend that computes in
  /// half precision runs the items whose numbers left its range again without it. Whoever reads
  /// outputs calls it after every run. \return true when outputs were written once more, so that
  /// copies made before are stale. \throws Error, e.g. when the second run fails as well.
  virtual bool settle(Queue& queue, const Run& /*run*/) {
    queue.wait();
    return false;
  }
  /// Runs some items of an earlier run again without half precision; inputs must still be there.
  /// Complete when it returns. \throws Error when they are not finite in FP32 either.
  virtual void recompute(Queue& /*queue*/, const Run& /*run*/, std::span<const int> /*items*/) {
    throw Error(ErrorCode::kInternal, "this program has nothing to compute again");
  }
  virtual std::span<const Choice> choices() const noexcept = 0;
  virtual std::size_t workspace_bytes() const noexcept = 0;
  /// Distinct plans behind the choices: layers of one shape share one where a backend has plans.
  virtual int plans() const noexcept { return static_cast<int>(choices().size()); }
};

struct CompileOptions {
  int max_items = 1;
  std::int64_t max_length = 0;  // longest ragged axis of an item (graphs with a ragged input)
  Precision precision = Precision::kExact;
  bool kernel_only = false;         // no vendor library: a layer without an own kernel is an error
  bool record = true;               // a device may record a batch's work once and replay it
  std::filesystem::path tune_file;  // measured choices; empty: none
  /// What a user should know once per program; may be called by run() and settle().
  std::function<void(LogLevel, std::string_view)> log;
};

class Backend {
 public:
  virtual ~Backend() = default;
  /// "cpu", "reference", "cuda:0".
  virtual std::string name() const = 0;
  /// What runs the kernels: "AVX3 (Highway)", "double loops", a GPU's name.
  virtual std::string kernels() const = 0;
  /// Worker threads of a CPU backend, 1 elsewhere.
  virtual int threads() const noexcept = 0;
  /// The worker threads of a CPU backend, for work that is no network's; null elsewhere.
  virtual base::TaskPool* pool() noexcept { return nullptr; }
  /// Windows per batch that suit this backend's largest network.
  virtual int preferred_items() const noexcept = 0;
  /// Windows per batch of a whole session, where a device has work for more.
  virtual int preferred_windows() const noexcept { return preferred_items(); }
  /// Bytes held on the device; 0 on hosts.
  virtual std::size_t memory_held() const noexcept { return 0; }
  /// \throws Error kOutOfMemory.
  virtual std::unique_ptr<Buffer> allocate(std::size_t bytes) = 0;
  virtual std::unique_ptr<Queue> make_queue() = 0;
  /// Memory of the caller on this backend's device, which must outlive the buffer. Not owned.
  /// \throws Error kInvalidArgument (memory of another device), kUnsupported.
  virtual std::unique_ptr<Buffer> wrap(void* /*data*/, std::size_t /*bytes*/) {
    throw Error(ErrorCode::kUnsupported, name() + ": the caller's memory can't be used here");
  }
  /// A queue on the caller's stream (a cudaStream_t; null: the default stream), which must outlive
  /// it. \throws Error kUnsupported where there are no streams.
  virtual std::unique_ptr<Queue> make_queue_on(void* /*stream*/) {
    throw Error(ErrorCode::kUnsupported,
                name() + ": there are no streams here; leave the stream out");
  }
  /// Checks, packs weights, chooses kernels, allocates. Everything that can fail fails here.
  virtual std::unique_ptr<Program> compile(const model::Graph& graph,
                                           const CompileOptions& options) = 0;
};

}  // namespace diarist::backend
