#pragma once
// A block made ready for the CPU: packed weights, chosen kernel, and how to run it for one item.
//
// Layouts in memory: rows are [time][columns]. A map [channels, frequency, time] lies as
// [frequency][time + 2][channels] with a column of zeros before and after the time axis, so that
// convolutions need no special case at the ends. Everything else is in C order.

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include "backend/backend.hpp"
#include "backend/cpu/kernels/bf16.hpp"
#include "base/run_control.hpp"
#include "model/graph.hpp"

namespace diarist::backend::cpu {

/// One value of one item.
struct Argument {
  void* data = nullptr;
  /// Length of the time axis; for a shared value, rows that exist.
  std::int64_t time = 0;

  float* floats() const noexcept { return static_cast<float*>(data); }
};

struct StepCall {
  std::span<const Argument> inputs;
  Argument output;
  float* scratch = nullptr;  // of this worker, scratch_floats() long, aligned
  /// Long steps look at it every few milliseconds (base::check_stop). Null: nobody stops them.
  const std::stop_token* stop = nullptr;

  void check_stop() const {
    if (stop != nullptr) base::check_stop(*stop);
  }
};

/// Immutable after construction; run() may be called from many threads with their own scratch.
class Step {
 public:
  virtual ~Step() = default;
  /// Computes one item on the calling thread.
  virtual void run(const StepCall& call) const = 0;
  /// Scratch for an item whose longest time axis is `time`.
  virtual std::int64_t scratch_floats(std::int64_t time) const = 0;
  virtual std::string kernel() const = 0;
  virtual std::string reason() const = 0;
};

/// A step that several items share, so that weights are read once for all of them.
class TileStep {
 public:
  virtual ~TileStep() = default;
  virtual int parts() const noexcept = 0;  // independent parts of the work on one tile
  virtual int max_tile() const noexcept = 0;
  /// Computes `part` of all items of a tile; inputs and outputs have one entry per item, and all
  /// items have the same length. Looks at `stop` every few milliseconds.
  virtual void run(int part, std::span<const Argument> inputs, std::span<const Argument> outputs,
                   float* scratch, const std::stop_token& stop) const = 0;
  virtual std::int64_t scratch_floats(std::int64_t time) const = 0;
  virtual std::string kernel() const = 0;
  virtual std::string reason() const = 0;
};

/// Shapes around a node, as a step's constructor sees them.
struct NodeShapes {
  std::span<const model::Value> inputs;
  const model::Value& output;
  std::int64_t target;                // Highway's bit of the instruction set
  const Bf16Kernels* bf16 = nullptr;  // products of `--precision fast`; null: FP32
  /// bf16 numbers of maps and of layers between blocks are split in high and low parts.
  bool split = false;
};

std::unique_ptr<Step> make_step(const model::Block& block, const NodeShapes& shapes);
/// Null for blocks that are run item by item.
std::unique_ptr<TileStep> make_tile_step(const model::Block& block, const NodeShapes& shapes);

/// Floats of a map with its two columns of zeros.
inline std::int64_t map_floats(std::int64_t channels, std::int64_t frequency, std::int64_t time) {
  return channels * frequency * (time + 2);
}

/// Zeroes the columns before and after the time axis.
void clear_map_edges(float* map, std::int64_t channels, std::int64_t frequency, std::int64_t time);
/// From and to the logical order [channels, frequency, time].
void import_map(const float* logical, std::int64_t channels, std::int64_t frequency,
                std::int64_t time, float* map);
void export_map(const float* map, std::int64_t channels, std::int64_t frequency, std::int64_t time,
                float* logical);

}  // namespace diarist::backend::cpu
