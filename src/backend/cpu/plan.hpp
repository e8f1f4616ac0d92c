#pragma once
// Where the values of a graph live while it runs, and in which phases its nodes run.

#include <cstdint>
#include <vector>

#include "model/graph.hpp"

namespace diarist::backend::cpu {

/// Where a value lies.
enum class Home {
  kNone,    // nobody needs it
  kShared,  // one array for all items, in the caller's buffer
  kInput,   // in the caller's input buffer, used where it is
  kOutput,  // in the caller's output buffer, computed there
  kWorker,  // in the workspace of the worker that computes the item
  kItem,    // in a place of its own for every item, because it crosses phases
};

struct Place {
  Home home = Home::kNone;
  int view = -1;            // kShared, kInput, kOutput: position in the graph's list
  std::int64_t offset = 0;  // kWorker, kItem: floats from the start of the worker's or item's part
};

/// Nodes that run one after the other for one item, or a single node that runs for tiles of items.
struct Phase {
  bool tiles = false;
  std::vector<int> nodes;
};

struct Plan {
  std::vector<Phase> phases;
  std::vector<Place> places;       // by value
  std::int64_t worker_floats = 0;  // workspace of one worker, without scratch
  std::int64_t item_floats = 0;    // workspace of one item
};

/// True for a value whose time axis every item brings along.
bool is_ragged(const model::Value& value);
/// True for [channels, frequency, time] floats, which lie channels last with zero edges inside.
bool is_map(const model::Value& value);

/// Floats of a value in the CPU's layout when its time axis is `time` long (ragged ones only).
std::int64_t value_floats(const model::Value& value, std::int64_t time);

/// \param lengths of the ragged axes at their longest, as ragged_lengths() gives them.
Plan make_plan(const model::Graph& graph, const std::vector<std::int64_t>& lengths);

}  // namespace diarist::backend::cpu
